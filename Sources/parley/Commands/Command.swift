import ParleyJSON
import ParleyKit

/// A command of the program: its name, its help and its implementation.
///
/// `Command.all` is the only list of commands. The dispatcher, the overview, the manual page and the shell completions
/// derive from it. A command is declared in a file of its own, in an extension of this type.
struct Command: Sendable {
  /// The words after `parley`, such as `post` or `outbox retry`.
  let name: String
  /// Another name, for users of other programs.
  let alias: String?
  let operands: [String]
  /// One line of the overview.
  let summary: String
  /// All settings that the command accepts.
  let settings: [Setting]
  /// The operations of the API that it requests, by `operationId`. The first one names the command.
  let operations: [String]
  private let helpText: @Sendable () -> String
  private let body: @Sendable ([String]) async -> Int32

  init(
    _ name: String, alias: String? = nil, operands: [String] = [], summary: String, settings: [Setting] = [],
    operations: [String] = [], help: @autoclosure @escaping @Sendable () -> String,
    run body: @escaping @Sendable ([String]) async -> Int32
  ) {
    self.name = name
    self.alias = alias
    self.operands = operands
    self.summary = summary
    self.settings = settings
    self.operations = operations
    helpText = help
    self.body = body
  }

  var help: String { helpText() }
  var words: [String] { name.split(separator: " ").map(String.init) }

  /// Runs the command and returns the exit status of the program.
  func run(_ arguments: [String]) async -> Int32 {
    let options = arguments.prefix { $0 != "--" }
    guard !options.contains("--help"), !options.contains("-h") else {
      Terminal.print(help)
      return Outcome.Status.success.rawValue
    }
    return await body(arguments)
  }
}

// MARK: The command table

extension Command {
  /// Commands for the operator, on the machine that has the data folder.
  static let operatorCommands: [Command] = [
    up, upgrade, serve, config, status, doctor, backup, restore, export, `import`, verify, key, purge, destroy, migrate,
    health,
    setup, user, invite, token, bot,
    bots,
    webhooks,
    endpoints,
    commands,
    apps,
    mailIn, dialects, tail, printVersion,
  ]

  /// Commands for users, against any server.
  static let clientCommands: [Command] = [
    login, logout, whoami, listSignIns, listIdentities, unlinkIdentity, listForums, listTopics, listConversations, read,
    search, listNotifications,
    post, reply,
    react, press, invoke, edit, delete, createTopic, directMessage, sendFile, getFile, sync, outbox, outboxRetry,
    outboxCancel,
    api,
  ]

  /// Commands about the program.
  static let programCommands: [Command] = [help, completions, manual]

  /// Commands that the overview omits: parts of another command, and those of the completion scripts.
  static let unlistedCommands: [Command] =
    UserCommand.subcommands + KeyCommand.subcommands + DestroyCommand.subcommands + WebhookCommand.subcommands
    + EndpointCommand.subcommands
    + SlashCommands.subcommands + AppsCommand.subcommands
    + BotCommand.subcommands + [addBot, completeTitles]

  static let listed = operatorCommands + clientCommands + programCommands
  static let all = listed + unlistedCommands

  /// The command with the longest name that begins `arguments`, and its own arguments: `outbox retry` wins over
  /// `outbox`.
  static func find(_ arguments: [String]) -> (command: Command, rest: [String])? {
    let found = all.filter { arguments.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    if let found { return (found, Array(arguments.dropFirst(found.words.count))) }
    guard let aliased = all.first(where: { $0.alias != nil && $0.alias == arguments.first }) else { return nil }
    return find(aliased.words + arguments.dropFirst())
  }

  /// The outcome for arguments that name no command.
  static func unknown(_ arguments: [String]) -> Outcome {
    let typed = arguments.first ?? ""
    let names = Set(listed.compactMap(\.words.first) + listed.compactMap(\.alias)).sorted()
    let similar = Spelling.nearest(to: typed, in: names).map { " Did you mean \"\($0)\"?" } ?? ""
    Terminal.log("\"\(Terminal.plain(typed))\" is not a command.\(similar)")
    return Outcome(.error, "parley help lists all commands.")
  }

  /// The last words of the commands that begin with the words of `name`.
  static func names(below name: String) -> [String] {
    all.filter { $0.name.hasPrefix(name + " ") }.compactMap(\.words.last)
  }

  /// The command `name` without one of its words.
  static func missingWord(after name: String, _ arguments: [String]) -> Outcome {
    let words = names(below: name)
    let similar =
      arguments.first.flatMap { Spelling.nearest(to: $0, in: words) }
      .map { " Did you mean parley \(name) \($0)?" } ?? ""
    return Outcome(
      .error,
      "parley \(name) needs one of \(words.sorted().joined(separator: ", ")).\(similar) See parley \(name) --help.")
  }

  private static let printVersion = Command(
    "version", summary: "print the version", settings: [.json],
    help: "parley version [--json]\n\nPrints the version. --json prints one JSON object.\n"
  ) { arguments in
    guard arguments.contains(Setting.json.flag) else { return Outcome(.success, "parley \(version)").report() }
    var json = JSONWriter()
    json.object { json in json.field("version", version) }
    Terminal.print(String(decoding: json.bytes, as: UTF8.self) + "\n")
    return Outcome.Status.success.rawValue
  }

  private static let help = Command(
    "help", operands: ["[COMMAND]"], summary: "describe a command, or list all commands",
    help: "parley help [COMMAND]\n\nDescribes a command. Without COMMAND it lists all commands.\n"
  ) { arguments in
    guard !arguments.isEmpty else {
      Terminal.print(Help.overview)
      return Outcome.Status.success.rawValue
    }
    guard let (command, _) = find(arguments) else { return unknown(arguments).report() }
    Terminal.print(command.help)
    return Outcome.Status.success.rawValue
  }
}

// MARK: Commands of a client

extension Command {
  /// Declares a command that acts as a signed-in user.
  static func client(
    _ name: String, alias: String? = nil, usage: String, operands: [String] = [], summary: String,
    description: String, settings: [Setting] = [], operations: [String] = [],
    run body: @escaping @Sendable (Settings) async throws -> Outcome
  ) -> Command {
    let known = settings + [CLISession.profile]
    let aliased = alias.map { "\n\nIts other name is \($0)." } ?? ""
    return Command(
      name, alias: alias, operands: operands, summary: summary, settings: known, operations: operations,
      help: "parley \(name)\(usage.isEmpty ? "" : " ")\(usage)\n\n\(description)\(aliased)\n\nSettings\n\n"
        + Help.table(known)
    ) { arguments in
      do {
        return try await body(
          Settings(
            arguments: arguments, environment: Terminal.environment, of: name, known, operands: operands)
        ).report()
      } catch {
        return Outcome(error).report()
      }
    }
  }
}
