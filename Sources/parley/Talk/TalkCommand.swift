import ParleyKit

/// One command of somebody at a place.
struct TalkCommand: Sendable {
  let name: String
  /// What stands in the help.
  let usage: String
  let meaning: String
  var operands: [String] = []
  var settings: [Setting] = []
  let run: @Sendable (Settings) async throws -> Outcome

  func run(_ arguments: [String]) async -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      Terminal.print(help)
      return Outcome.Status.well.rawValue
    }
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: name, self.settings + [Desk.profile],
        operands: operands)
      return try await run(settings).tell()
    } catch let mistake as Settings.Mistake {
      return Outcome(.impossible, mistake.sentence).tell()
    } catch let fault as ClientFault {
      return Self.outcome(of: fault).tell()
    } catch let fault as CacheFault {
      return Outcome(.impossible, fault.sentence).tell()
    } catch let refusal as SyncRefusal {
      return Outcome(.wrong, refusal.sentence).tell()
    } catch let refusal as OutboxRefusal {
      return Outcome(.wrong, refusal.sentence).tell()
    } catch {
      return Outcome(.impossible, "\(error)").tell()
    }
  }

  /// A place that says no has said something; without an answer nothing could be done.
  static func outcome(of fault: ClientFault) -> Outcome {
    if fault.isSignedOut { return Outcome(.wrong, "The session has ended. parley login SERVER NAME begins another.") }
    if case .refused = fault { return Outcome(.wrong, fault.sentence) }
    return Outcome(.impossible, fault.sentence)
  }

  private var help: String {
    "parley \(name) \(usage)\n\n\(meaning)\n\nSettings\n\n" + Help.table(settings + [Desk.profile])
  }

  static let all: [TalkCommand] = [
    login, logout, whoami, forums, conversations, read, post, search, sendFile, sync, outbox, outboxRetry, outboxCancel,
    completions,
  ]

  /// The command that these begin with, and what is left for it: `outbox retry` is another one than `outbox`.
  static func find(_ arguments: [String]) -> (command: TalkCommand, rest: [String])? {
    let found = all.filter { arguments.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    return found.map { ($0, Array(arguments.dropFirst($0.words.count))) }
  }

  var words: [String] { name.split(separator: " ").map(String.init) }

  static let completions = TalkCommand(
    name: "completions", usage: "SHELL", meaning: "Prints what bash, zsh or fish needs to complete commands.",
    operands: ["SHELL"]
  ) { settings in
    guard let script = Completions.script(for: settings.operands[0]) else {
      throw Settings.Mistake(sentence: "Completions are there for bash, zsh and fish.")
    }
    return Outcome(.well, script)
  }
}

extension TalkCommand {
  /// What the overview says of them.
  static var overview: String {
    let width = all.map { $0.name.count + $0.operandText.count }.max() ?? 0
    return all.map { command in
      let left = command.name + command.operandText
      let sentence = command.meaning.prefix { $0 != "," && $0 != ";" && $0 != ":" && $0 != "." }
      return "  parley \(left)\(String(repeating: " ", count: width - left.count))  \(sentence.lowercased())\n"
    }.joined()
  }

  private var operandText: String { operands.map { " " + $0 }.joined() }
}
