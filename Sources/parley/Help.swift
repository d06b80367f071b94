/// What `--help` prints, made from the tables.
enum Help {
  static let overview = """
    parley \(version): a chat and forum server for a community. One program, one data folder.

      parley serve          serve people (parley serve --help lists every setting)
      parley backup FILE    copy everything to one file, from a running server or from a folder at rest
      parley restore FILE   put a backup into a folder that is empty, or in the place of what it holds
      parley verify         prove that the data folder is whole
      parley purge          take what was deleted out of the files now
      parley migrate        bring the database of a stopped server up to date, or say with --status whether it is
      parley health         ask a running server whether it is well
      parley setup          print the link by which the owner of a new place comes in
      parley user           add people, list them, give roles, keep out, help with a lost password
      parley invite         print a link by which others may come in
      parley token NAME     print a token for a program that comes as NAME
      parley tail TOPICS    follow along what happens on a running server
      parley version        print the version

    And for people, at any server:

    \(TalkCommand.overview)
    The exit status is 0 when all is well, 1 when something was found to be wrong, such as a file that is no backup, and 2
    when a command could not be carried out. A place that says no, such as to a name that is taken, is 1. parley COMMAND --help says more.

    """

  static var serve: String {
    var text = """
      parley serve [SETTING ...]

      Serves until it gets SIGTERM; SIGHUP reads certificates again. The line "listening on ADDRESS" on standard output
      says that it is ready. Each setting is a flag, or a variable: --public-url is PARLEY_PUBLIC_URL.

      """
    text += "\nSettings\n" + table(Setting.usual)
    text += "\nLimits on what a peer may cost\n" + table(Setting.limits)
    text += "\nLimits on what one person, or one address, may ask for\n" + table(Setting.rates)
    return text
  }

  static func table(_ settings: [Setting]) -> String {
    let left = settings.map { [$0.flag, $0.value].compactMap { $0 }.joined(separator: " ") }
    let width = left.map(\.count).max() ?? 0
    return zip(left, settings).map { left, setting in
      let padding = String(repeating: " ", count: width - left.count)
      var notes: [String] = []
      if let fallback = setting.fallback { notes.append("default \(fallback)") }
      if setting.isRepeatable { notes.append("repeatable") }
      let note = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
      return "  \(left)\(padding)  \(setting.meaning)\(note)\n"
    }.joined()
  }

  static let migrate = """
    parley migrate [--status] [SETTING ...]

    Applies the migrations that the database lacks, as parley serve does when it starts. The server must not run. With
    --status it changes nothing and may run beside a server: it lists every migration and when it was applied; exit
    status 0 when all are, 1 when some are missing. Of the settings of parley serve it uses --data and --share.

    """

  static let tail = """
    parley tail TOPICS [--json] [--after CURSOR] [--data FOLDER | --profile FILE]

    Shows what happens until it is interrupted: on the server that runs on the data folder, as its owner would see it, or
    where no --data is given and no folder data is here, at the place where somebody is signed in, as they see it. TOPICS
    are joined by commas: me (all that one takes part in), conversation:ID, forum:ID, app:NAME, presence. With --json each
    line is the event as clients get it. With --after it begins with what has happened since then.

    """

  static let health = """
    parley health [--url ADDRESS | SETTING ...]

    Asks a server for /healthz and prints the answer. Exit status 0 when it is well, 1 when it is not or does not answer.
    With the settings of parley serve, as flags or variables, it asks the server that they describe; --url names another:
    http://127.0.0.1:8080, https://chat.example.org, unix:/run/parley/parley.sock.

    """

  static let verify = """
    parley verify [--all] [--data FOLDER]

    Proves the database: its pages and keys, every conversation's chain, every stream of events, the log against what
    there is, the files against their hashes. It only reads, and works beside a running server. Each line says what was
    looked at. It stops at the first check that finds a fault and names the rows; --all goes on with the others.
    Exit status 0 when all is sound, 1 when a fault was found, 2 when it could not look.

    """

  static var purge: String {
    """
    parley purge [--data FOLDER]

    What people delete leaves the files by itself, most of it within ten minutes. This does it now and for certain: what
    has expired goes, the search index is merged, and the database is written anew, during which nobody can write: 1.5 s
    for 100 MB. It needs room for the database twice more. A server that runs does it itself; else the folder is
    taken. Backups keep what they held. Exit status 1: the database is damaged; 2: it could not be done, because somebody
    still reads an older state, for example.

    Settings

    """ + table([.data, .share])
  }

  private static let atPlace = """
    A server that uses the data folder is asked, over the socket in the folder; else the command does it itself. Of the
    settings of parley serve it uses --data and --share, and for links --public-url, else --listen and those of TLS.
    """

  static var user: String {
    """
    parley user add NAME [--role ROLE] --password-stdin
    parley user list [--json]
    parley user role NAME ROLE
    parley user disable NAME
    parley user enable NAME
    parley user reset NAME

    Looks after the people of the place. reset prints a link that sets a new password once, within a day. \(atPlace)
    Roles and states are changed in the name of the place's owner.

    Settings

    """ + table([.role, .passwordStdin, .json])
  }

  static var invite: String {
    """
    parley invite [--role ROLE] [--uses N] [--expires WHEN] [--forum ID]

    Prints a link by which others may come in, made in the name of the place's owner. \(atPlace)

    Settings

    """ + table([.role, .uses, .expires, .forum])
  }

  static var token: String {
    """
    parley token NAME [--scope SCOPE] [--name TEXT] [--expires WHEN]

    Prints a token by which a program comes as NAME. It is told this once; its owner sees it among theirs and may end it.
    \(atPlace)

    Settings

    """ + table([.scope, .name, .expires])
  }

  static let setup = """
    parley setup

    Prints the link by which the first owner of a place comes in, as parley serve does when it starts. The link that was
    printed before is void. Exit status 1 when the place has an owner already. \(atPlace)

    """

  static var backup: String {
    """
    parley backup FILE [--data FOLDER]

    Copies the database and every uploaded file into FILE, one tar archive, while the server goes on. Then it reads FILE
    again and checks it. A server that runs writes FILE itself, so FILE must be where its user may write. Nothing is
    overwritten. Exit status 1: the database is damaged and nothing was written, or files are missing in the data folder.

    Settings

    """ + table([.data])
  }

  static var restore: String {
    """
    parley restore FILE [--data FOLDER] [--replace]

    Verifies FILE, unpacks it beside what is there, checks the database, and only then puts it in its place. A server that
    uses the folder has to be stopped first. Exit status 1: FILE is not a whole backup, and nothing was touched.

    Settings

    """ + table([.data, .replace])
  }
}
