/// The texts of `--help`, built from the command and settings tables.
enum Help {
  static let overview = """
    parley \(version): a chat and forum server for a community. One program, one data folder.

    Commands for the operator:

    \(list(Command.operatorCommands))
    Commands for users, against any server:

    \(list(Command.clientCommands))
    Commands about the program:

    \(list(Command.programCommands))
    Exit status: 0 success; 1 the check failed, the server refused the request, or standard output was closed early;
    2 the command could not run: invalid arguments, a system error, no connection.
    parley help COMMAND describes a command.

    """

  private static func list(_ commands: [Command]) -> String {
    let left = commands.map { ([$0.name] + $0.operands).joined(separator: " ") }
    let width = left.map(\.count).max() ?? 0
    return zip(left, commands).map { left, command in
      "  parley \(left)\(String(repeating: " ", count: width - left.count))  \(command.summary)\n"
    }.joined()
  }

  static var serve: String {
    var text = """
      parley serve [SETTING ...]

      Runs the server until SIGTERM. The server is ready when it prints "listening on ADDRESS" on standard output. Each
      setting is a flag, an environment variable or a line of the settings file: --public-url URL is PARLEY_PUBLIC_URL=URL
      and public-url = URL. A flag overrides a variable, and a variable overrides the file. SIGHUP reads the file and the
      certificates again and applies the settings that are marked as reloadable, all limits and all rate limits.

      """
    text += "\nSettings\n" + table(Setting.general, marksReloadable: true)
    text += "\nLimits per connection and request\n" + table(Setting.limits)
    text += "\nRate limits per user or address\n" + table(Setting.rates)
    return text
  }

  static func table(_ settings: [Setting], marksReloadable: Bool = false) -> String {
    let left = settings.map { setting in
      let flag = setting.letter.map { "-\($0), \(setting.flag)" } ?? setting.flag
      return [flag, setting.value].compactMap { $0 }.joined(separator: " ")
    }
    let width = left.map(\.count).max() ?? 0
    return zip(left, settings).map { left, setting in
      let padding = String(repeating: " ", count: width - left.count)
      return "  \(left)\(padding)  \(setting.summary)\(notes(of: setting, marksReloadable: marksReloadable))\n"
    }.joined()
  }

  /// The default and other properties in parentheses.
  static func notes(of setting: Setting, marksReloadable: Bool) -> String {
    var notes: [String] = []
    if let fallback = setting.fallback { notes.append("default \(fallback)") }
    if setting.isRepeatable { notes.append("repeatable") }
    if setting.isReloadable, marksReloadable { notes.append("reloadable") }
    return notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
  }

  static var config: String {
    """
    parley config [SETTING ...]
    parley config --check FILE

    Prints each setting of parley serve with its value and the source of it: a flag, a variable, a line of the
    settings file, or default. Passwords are not printed. It takes all settings of parley serve, as flags, variables or
    lines of the file. A mistake is exit status 2. --check judges a settings file alone, without flags and variables. --json
    prints one JSON object per setting.

    parley help serve describes the settings.

    Settings

    """ + table(ConfigCommand.settings)
  }

  static var upgrade: String {
    """
    parley upgrade FILE [--public-key FILE] [--data FOLDER]
    parley upgrade --back [--yes] | --confirm

    Installs the archive parley-VERSION-linux-ARCH.tar.gz of a newer version over the folder of this program. FILE.minisig must
    be beside it, and is verified with the public key of the installed version. The new program migrates and verifies a copy of
    the database first. Then both programs are exchanged in one step, and the service is restarted. If it does not become ready,
    the previous program and its database run again, unless the database has changed since its migration. Nothing is
    downloaded. The folder of the program may have no files beside those of the archive: keep keys, settings and data elsewhere.

    --back goes back to the previous version within 7 days. If its database was migrated, the database from before the
    migration is put back: the command says how many messages will be missing, and asks. They stay in the data folder, in
    replaced-…/since.jsonl. --confirm deletes the previous version and that database.

    It needs root. After an interruption, repeat the command. A Debian package has scripts that do the same: install it with
    apt; --back and --confirm work for it, too. Exit status 1: the new version did not start, and the message says which one
    runs. 2: nothing was changed, unless the message says so.

    Settings

    """ + table(UpgradeCommand.settings)
  }

  static let migrate = """
    parley migrate [--status | --check | --changes | --undo [--if-unchanged]] [SETTING ...]

    Applies pending database migrations, as parley serve does at start. The server must not run. --status lists all
    migrations and when they were applied, without changes, also while a server runs; exit status 0 if all are applied,
    1 if some are missing, 3 if the database is of a newer version. --check migrates a copy of the database, verifies it and
    deletes it, also while a server of an earlier version runs; exit status 1 if that fails.

    --changes compares the database with its copy from before the last migration, also while a server runs. --undo puts that
    copy back and keeps the messages since then in replaced-…/since.jsonl: it needs the program of the newer version, and
    with --if-unchanged it refuses if anything has changed. All use the settings --data, --config and --share of parley serve.

    """

  static let tail = """
    parley tail TOPICS [--json] [--after CURSOR] [--data FOLDER | --profile FILE]

    Prints events until it is interrupted: from the server of the data folder, with the owner's rights, or, without --data
    and ./data, from the server of the signed-in user. TOPICS is a comma-separated list of me (all your conversations),
    conversation:ID, forum:ID, forum:ID/messages (all conversations of a forum), timeline (the feeds that you follow),
    app:NAME and presence. For the signed-in user, the title of a forum (its room) or of a conversation, its id and @name
    are topics, too. --json prints events as clients receive them. --after first prints the events after a cursor.

    """

  static let health = """
    parley health [--json] [--url ADDRESS | SETTING ...]

    Requests /readyz of a server and prints the response. Exit status 0 if the server accepts changes, 1 if it does not
    (its disk is full, its database is damaged, it is stopping) or does not respond. The settings of parley serve, as flags
    or variables, select the server; --url ADDRESS selects another one: http://127.0.0.1:8080,
    https://chat.example.org, unix:/run/parley/parley.sock. --json prints one JSON object with the status and the message.

    """

  static var dialects: String {
    """
    parley dialects [--json] [SETTING ...]

    Lists the interfaces of other systems that parley serve --dialects enables for their unmodified clients: whether each is
    on, its addresses on this site, and the settings of its clients. It takes these settings of parley serve, as flags,
    variables or lines of the settings file. --json prints one JSON object per interface.

    Settings

    """ + table(DialectsCommand.settings)
  }

  static let status = """
    parley status [--json] [--data FOLDER]

    Shows the state of the running site: users, connections, disk, the last backup, the certificate, mail and push messages
    that wait, and what needs the operator: a disk that fills up, a missing or old backup, a certificate that ends, a mail
    server that does not answer, a server that refuses changes. --json prints one JSON object.
    Exit status 0 if all is well, 1 with warnings, 2 with errors or if no server runs.

    """

  static let mailIn = """
    parley mail-in [--recipient ADDRESS] [--data FOLDER] < MESSAGE

    Takes a mail from a pipe of the mail server, for the addresses of replies and bounces (parley serve --help) with a code
    behind a +. A reply to a notification is posted, with the rights of its author, without quote and signature. A report on a mail
    that was not delivered counts against its address. It runs as the owner of the data folder, while the server runs, and
    prints what became of the mail: posted, held, repeated, refused, bounced or ignored. The code is read from --recipient,
    else from the header of the mail. Exit status 75 asks the mail server to try again: no server runs, or it takes none now.

    """

  static let doctor = """
    parley doctor [--json] [--data FOLDER] [--config FILE]

    Finds mistakes of the machine, the proxy and the settings that a running site works with, but not well: a public name that
    leads elsewhere, a closed port, a certificate that browsers refuse or that ends soon, a proxy that is not trusted, hides
    the clients' addresses or refuses WebSockets or uploads, a clock that is not synchronized, a slow or full disk, a low limit
    of open files, a late backup, a settings file that was not read, a server of another version. Each finding is one line with
    the command or the setting that mends it. It sends a few requests to the addresses of --public-url, and no others. --json
    prints one JSON object per finding. Exit status 0 without findings, 1 with warnings, 2 with errors.

    """

  static let verify = """
    parley verify [--all] [--checkpoint FILE] [--json] [--data FOLDER]

    Checks the database: pages and keys, the chain of every conversation with its hashes, every event stream, the event log
    against the tables, and the hash of every file. --checkpoint also compares the history with what the site has signed:
    FILE has the answer of GET /conversations/ID/checkpoint, or checkpoints.jsonl of an export. It only reads, also while a
    server runs. Each line is one check. It stops at the first check that finds a fault and lists the rows; --all
    continues. --json prints one JSON object with all checks. Exit status 0 if there are no faults, 1 if there are, 2 if it
    could not check.

    """

  static let keyExport = """
    parley key export [--data FOLDER]

    Prints the key with which the site signs checkpoints of its conversations, 64 hexadecimal digits: to be kept apart from
    the backups, which don't contain it. `parley key import` puts it into another data folder.

    """

  static let key = """
    parley key export [--data FOLDER]
    parley key import FILE [--replace] [--data FOLDER]

    The site signs checkpoints of its conversations with the key in site.key of the data folder. No backup contains it:
    `parley key export` prints it, to be kept apart from the backups, and `parley key import` puts it into a data folder
    while no server uses it. With another key, `site_key` of GET /server changes, so --replace confirms it.

    """

  static var purge: String {
    """
    parley purge [--json] [--data FOLDER]

    Deleted content leaves the files by itself, most of it within ten minutes. This command completes it now: it deletes
    expired data and the files of deleted messages, merges the search index and rewrites the database. Writes are blocked
    meanwhile: 1.5 s for 100 MB. It needs free space for two more copies of the database. A running server does it itself;
    otherwise the command locks the folder. Existing backups keep the content; the command lists those in the data folder.
    Exit status 1: the database is damaged; 2: it could not run, for example
    because a reader still uses an older snapshot.

    Settings

    """ + table([.json, .data, .config, .share])
  }

  static var destroy: String {
    """
    parley destroy message ID --reason TEXT [--evidence FILE] [--also-backups]
    parley destroy file ID --reason TEXT [--evidence FILE] [--also-backups]
    parley destroy user NAME --reason TEXT [--evidence FILE] [--also-backups]

    Destroys illegal content at once and for good: a message with its files, all files with the content of a file, or a
    user with all messages and files. Text, earlier texts, the sealed text of a removed message, files, previews and
    copies in reports leave the data folder, and the database is rewritten as by parley purge. The same files can't be
    uploaded again, and a restore of an older backup destroys the content again. Backups and the folders that a restore
    replaced keep it; the command lists those in the data folder and the scheduled ones elsewhere. The audit log keeps the
    id and TEXT: do not quote the content. NAME is a name, @name or an id; the link of a message ends with its id.

    With --evidence the command first writes a new tar archive, readable by its owner only: the messages with earlier and
    sealed texts and copies in reports as JSON Lines, the files with their bytes, and SHA256SUMS. If that fails, nothing is
    destroyed. With --also-backups it makes a new backup after the destruction, tests it, and deletes all other backups and
    replaced folders on this machine.
    \(controlSocket)
    Exit status 1: the content is destroyed, but its bytes are still in the database, for example because a backup reads it;
    or the new backup has failed its test, and the others stay.

    Settings

    """ + table(DestroyCommand.settings + [.data, .config, .share])
  }

  static let controlSocket = """
    The command uses the control socket of the running server, or opens the data folder itself. It uses the settings
    --data, --config and --share of parley serve, and for links --public-url, or else --listen and the TLS settings.
    """

  static var user: String {
    """
    parley user create NAME [--role ROLE] --password-stdin
    parley user list [--json]
    parley user role NAME ROLE [--keep-sessions]
    parley user disable NAME
    parley user enable NAME
    parley user reset NAME [--second-factor]
    parley user identities NAME [--json]
    parley user recover NAME [--keep-identity ID]

    Manages the users of the site. role ends the sessions and tokens of the user, except with --keep-sessions. reset prints a
    password reset link, valid once, for a day. With --second-factor it removes the two-step sign-in and the passkeys instead, for
    a user who lost the authenticator app and the recovery codes.
    recover takes a stolen account from the thief: it removes the password, the two-step sign-in, passkeys, linked accounts and
    the email address, ends all sessions, tokens and connected apps, and prints a password reset link. --keep-identity spares a
    linked account.
    \(controlSocket)
    Changes of roles and states are recorded in the name of the site's owner.

    Settings

    """ + table([.role, .passwordStdin, .keepUserSessions, .secondFactor, .keepIdentity, .json])
  }

  static let up = """
    parley up NAME [SETTING ...]

    Sets up this machine as the site NAME, such as chat.example.org. As root, it checks that NAME leads to this machine and
    that the ports 443 and 80 are free, asks the questions that no flag answers, writes the settings file, enables the units
    of systemd, and prints the link for the first owner, on a terminal with a QR code. With a web server in front, it prints
    the lines for its configuration. A second run with the same answers changes nothing.

    \(table(UpCommand.settings))
    Exit status 2, without any change, for a name that leads elsewhere or a port that is in use.

    """

  static let setup = """
    parley setup

    Prints the setup link for the first owner of a new site, as parley serve does at start. It replaces the previous link.
    Exit status 1 if the site already has an owner. Only on a site without sign-in by password it prints a link that signs
    the first owner in with a new password, once, for a day: the way back when no OpenID provider answers.
    \(controlSocket)

    """

  static var backup: String {
    """
    parley backup FILE|- [--json] [--data FOLDER]

    Copies the database and every uploaded file to FILE, one tar archive, while the server runs. Then it reads FILE again
    and verifies it. A running server writes FILE itself, so its user needs write access there. An existing file is not
    overwritten. With - the archive goes to standard output, as in parley backup - | ssh host 'cat > parley.tar'; it needs
    no disk space here, except for a copy of the database, and nothing reads it again.
    Exit status 1: the database is damaged and nothing was written, or uploaded files are missing.

    Settings

    """ + table([.json, .data, .config])
  }

  static var export: String {
    """
    parley export FILE.zip [--user NAME] [--data FOLDER]

    Writes the content of the site to FILE.zip, also while the server runs: users, forums, conversations, messages with their
    earlier texts, reactions and polls as JSON Lines, uploaded files, a schema of the lines, and pages that a browser opens
    without a server (index.html). No passwords, sessions, tokens, addresses or deleted content. With --user only the data of
    this user: profile, settings, own messages and files, direct and group conversations.
    Exit status 1: the content of files is missing on the server; the rest is exported.

    Settings

    """ + table([ExportCommand.user, .data, .config])
  }

  static var `import`: String {
    """
    parley import PATH --from discord|slack|discourse|parley [--dry-run] [--map FILE] [--open FILE] [--importer NAME]

    Imports a community, also while the server runs. PATH is a folder or file of DiscordChatExporter in JSON, the zip archive of
    an export of Slack, the .tar.gz of a backup of Discourse, or a file of parley export; unpacked folders work, too. Channels
    and categories become forums, threads become topics. All of it is read and checked first: if anything is wrong, nothing is
    changed. A repeated import adds what is new, and continues one that was interrupted. Nothing is fetched from the network.

    Authors become users who can't sign in until they claim their account by an invite. --map names those with an account
    here: lines such as 80351110224678912,ada or ada@example.org,ada. New forums are private to the importer. The report lists
    them as a table: change it, and pass it to --open, now or in a repeated import.
    Exit status 1: the import was interrupted. 2: the export can't be imported, and nothing was changed.

    Settings

    """ + table(ImportCommand.settings)
  }

  static var restore: String {
    """
    parley restore FILE|FOLDER[@TIME]|- [--json] [--data FOLDER] [--replace] [--keep-sessions]

    Verifies the backup, unpacks it beside the existing data, checks the database, and then moves it into place. Stop the
    server of the folder first. FOLDER is one of scheduled backups: its newest one is restored, or the newest whose time
    begins with TIME, in UTC, as in parley restore /mnt/backups@2026-11-20. With - the archive comes from standard input.
    Exit status 1: restored, but the backup was made without some files. 2: refused, and nothing was changed.

    Prints what was undone since the backup, compared with the replaced data, and adds it to the audit log. Later bans,
    silences, roles, passwords, second factors, passkeys, linked accounts and uses of invites stay if the replaced
    database can be read. Ends all sessions and tokens, and unused links of `parley setup` and `parley user reset`, and
    revokes the URLs of all webhooks; with --keep-sessions only of those that ended since the backup. The next start
    erases again what the journal of erasures names. A backup does not have the file site.key of the data folder, which
    `parley key import` puts back, nor the file secrets.key: without it, users with two-step sign-in need a recovery
    code, or the help of `parley user reset`; outgoing webhooks and slash commands need new secrets; devices subscribe to
    push messages again by themselves, and are new ones at the next sign-in; links that unsubscribe and replies to
    earlier mails end.

    Settings

    """ + table([.json, .data, .config, .replace, .keepSessions])
  }
}
