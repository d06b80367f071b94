import ParleyJSON
import ParleyKit
import ParleyModel

// The outbox stores a message before it is sent, so that it is sent exactly once, even if the network, the server or
// this program fails.

extension Command {
  static let outbox = Command.client(
    "outbox", usage: "[--json]", summary: "list unsent operations",
    description: "Lists unsent operations, oldest first.",
    settings: [.json], run: OutboxCommand.list)

  static let outboxRetry = Command.client(
    "outbox retry", usage: "NAME [--json]", operands: ["NAME"], summary: "retry a failed operation",
    description: "Retries a failed operation, given by its name or a unique prefix of it.", settings: [.json],
    run: OutboxCommand.retry)

  static let outboxCancel = Command.client(
    "outbox cancel", usage: "NAME [--json]", operands: ["NAME"], summary: "discard an unsent operation",
    description: "Discards an unsent operation, given by its name or a unique prefix of it.", settings: [.json],
    run: OutboxCommand.cancel)
}

enum OutboxCommand {
  @Sendable static func list(_ settings: Settings) async throws -> Outcome {
    guard let parley = try CLISession(settings).parley else { return Outcome(.success, "") }
    let operations = await parley.outbox.list()
    if settings.isOn(.json) { return ClientOutput.lines(operations.map(ClientOutput.raw)) }
    return Outcome(.success, operations.map(line).joined(separator: "\n"))
  }

  @Sendable static func retry(_ settings: Settings) async throws -> Outcome {
    let (parley, name) = try await operation(settings)
    try await parley.outbox.retry(name)
    return try await send(name, parley, settings)
  }

  @Sendable static func cancel(_ settings: Settings) async throws -> Outcome {
    let (parley, name) = try await operation(settings)
    try await parley.outbox.cancel(name)
    return ClientOutput.result(.object { json in json.field("cancelled", name) }, settings, "cancelled \(name)")
  }

  static func post(
    _ draft: Draft, in conversation: ID<Conversation>, _ parley: Parley, _ settings: Settings
  ) async throws -> Outcome {
    let operation = try await parley.outbox.send(draft, in: conversation)
    return try await send(operation.id, parley, settings)
  }

  /// Sends the outbox and returns the outcome of one operation.
  private static func send(
    _ name: OutboxOperation.Name, _ parley: Parley, _ settings: Settings
  ) async throws -> Outcome {
    let round = try await parley.outbox.sendWaiting()
    CLISession.log(round, except: name)
    if let sent = round.sent.first(where: { $0.operation.id == name }) {
      guard let message = sent.message else { return Outcome(.success, "sent \(name)") }
      guard settings.isOn(.json) else { return Outcome(.success, message.description) }
      return ClientOutput.lines([try await parley.client.send(.getMessage(message)).representation])
    }
    if let fault = round.failed.first(where: { $0.id == name })?.failure {
      // The exit status reports the failure, so the outbox need not keep the operation.
      try await parley.outbox.cancel(name)
      throw fault
    }
    let reason = round.stopped?.userMessage ?? "An earlier operation must be sent first."
    if let stopped = round.stopped, stopped.isSignedOut {
      return Outcome(.failure, "\(Outcome(stopped).message) Until then it is queued as \(name).")
    }
    Terminal.log("\(reason) The next command, or parley sync, retries it.")
    guard settings.isOn(.json) else { return Outcome(.success, "queued \(name)") }
    return ClientOutput.lines([.object { json in json.field("queued", name) }])
  }

  /// The operation that the operand names.
  private static func operation(_ settings: Settings) async throws -> (Parley, OutboxOperation.Name) {
    guard let parley = try CLISession(settings).parley else { throw OutboxRefusal.unknownOperation }
    let prefix = settings.operands[0]
    let found = await parley.outbox.list().map(\.id).filter { $0.hasPrefix(prefix) }
    guard let name = found.first else { throw OutboxRefusal.unknownOperation }
    guard found.count == 1 else { throw Settings.UsageError(message: "The prefix \(prefix) is ambiguous.") }
    return (parley, name)
  }

  private static func line(_ operation: OutboxOperation) -> String {
    var parts = [
      operation.id, operation.kind.rawValue, operation.conversation.number == 0 ? "-" : "\(operation.conversation)",
    ]
    parts.append(operation.failure.map { "failed: \($0.userMessage)" } ?? "queued")
    if let draft = operation.draft {
      if !draft.text.isEmpty { parts.append("\u{201c}\(Terminal.plain(draft.text))\u{201d}") }
      parts += draft.files.map { Terminal.plain($0.name) }
    }
    return parts.joined(separator: "  ")
  }
}
