import ParleyKit

/// A command of the program: its name, its help and its implementation.
///
/// `Command.all` is the only list of commands. The dispatcher, the overview and the shell completions derive from it.
/// A command is declared in a file of its own, in an extension of this type.
struct Command: Sendable {
  /// The words after `parley`, such as `post` or `outbox retry`.
  let name: String
  var operands: [String] = []
  /// One line of the overview.
  let summary: String
  /// The settings of a client command, for shell completions.
  var settings: [Setting] = []
  private let help: @Sendable () -> String
  private let body: @Sendable ([String]) async -> Int32

  init(
    _ name: String, operands: [String] = [], summary: String, settings: [Setting] = [],
    help: @autoclosure @escaping @Sendable () -> String, run body: @escaping @Sendable ([String]) async -> Int32
  ) {
    self.name = name
    self.operands = operands
    self.summary = summary
    self.settings = settings
    self.help = help
    self.body = body
  }

  /// Runs the command and returns the exit status of the program.
  func run(_ arguments: [String]) async -> Int32 {
    guard !arguments.contains("--help"), !arguments.contains("-h") else {
      Terminal.print(help())
      return Outcome.Status.success.rawValue
    }
    return await body(arguments)
  }
}

// MARK: The command table

extension Command {
  /// Commands for the operator, on the machine that has the data folder.
  static let operatorCommands: [Command] = [
    serve, backup, restore, verify, purge, migrate, health, setup, user, invite, token, tail, printVersion,
  ]

  /// Commands for users, against any server.
  static let clientCommands: [Command] = [
    login, logout, whoami, listForums, listConversations, read, post, search, sendFile, sync, outbox, outboxRetry,
    outboxCancel, completions,
  ]

  static let all = operatorCommands + clientCommands

  /// The command with the longest name that begins `arguments`, and its own arguments: `outbox retry` wins over
  /// `outbox`.
  static func find(_ arguments: [String]) -> (command: Command, rest: [String])? {
    let found = all.filter { arguments.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    return found.map { ($0, Array(arguments.dropFirst($0.words.count))) }
  }

  /// The command that was probably meant: at most a third of its letters differ.
  static func similar(to name: String) -> String? {
    let name = name.prefix(maxTypedName).lowercased()
    let names = Set(all.compactMap(\.words.first)).sorted()
    let nearest = names.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(1, nearest.name.count / 3) else { return nil }
    return nearest.name
  }

  private static let maxTypedName = 40

  /// The number of letters to insert, delete, replace or swap with the next (restricted Damerau–Levenshtein distance).
  private static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    var rows = [Array(0...other.count)]
    for row in 1..<one.count + 1 {
      var line = [row]
      for column in 1..<other.count + 1 {
        var best = min(rows[row - 1][column], line[column - 1]) + 1
        best = min(best, rows[row - 1][column - 1] + (one[row - 1] == other[column - 1] ? 0 : 1))
        if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
          best = min(best, rows[row - 2][column - 2] + 1)
        }
        line.append(best)
      }
      rows.append(line)
    }
    return rows[one.count][other.count]
  }

  var words: [String] { name.split(separator: " ").map(String.init) }

  private static let printVersion = Command("version", summary: "print the version", help: "parley \(version)\n") { _ in
    Outcome(.success, "parley \(version)").report()
  }
}

// MARK: Commands of a client

extension Command {
  /// Declares a command that acts as a signed-in user.
  static func client(
    _ name: String, usage: String, operands: [String] = [], summary: String, description: String,
    settings: [Setting] = [], run body: @escaping @Sendable (Settings) async throws -> Outcome
  ) -> Command {
    let known = settings + [CLISession.profile]
    return Command(
      name, operands: operands, summary: summary, settings: settings,
      help: "parley \(name) \(usage)\n\n\(description)\n\nSettings\n\n" + Help.table(known)
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

extension Outcome {
  /// A refusal of the server or of the local cache is a failure; without an answer the command could not run.
  init(_ error: any Error) {
    switch error {
    case let error as Settings.UsageError: self.init(.error, error.message)
    case let error as RefusedRequest: self.init(.failure, error.message)
    case let error as ClientFault: self.init(error)
    case let error as CacheFault: self.init(.error, error.userMessage)
    case let error as SyncRefusal: self.init(.failure, error.userMessage)
    case let error as OutboxRefusal: self.init(.failure, error.userMessage)
    default: self.init(.error, "\(error)")
    }
  }

  init(_ fault: ClientFault) {
    if fault.isSignedOut {
      self.init(.failure, "The session has ended. Sign in again with parley login SERVER NAME.")
    } else if case .refused = fault {
      self.init(.failure, fault.userMessage)
    } else {
      self.init(.error, fault.userMessage)
    }
  }
}
