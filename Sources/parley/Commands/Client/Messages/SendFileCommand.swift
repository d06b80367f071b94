import ParleyKit
import ParleyModel

extension Command {
  static let sendFile = Command.client(
    "send-file", usage: "CONVERSATION FILE [--json]", operands: ["CONVERSATION", "FILE"],
    summary: "post a file as a message",
    description: "Uploads a file and posts it as a message. Offline, it is queued; keep the file until it is sent.",
    settings: [.json], operations: ["postMessage", "uploadFile", "createUpload"], run: SendFileCommand.run)
}

enum SendFileCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let parley = try session.openCache()
    let conversation = try await session.conversation(settings.operands[0], parley)
    let path = try FileSystem.absolute(settings.operands[1])
    let name = try FileSystem.source(path).name
    var draft = Draft()
    draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: path, name: name)]
    let progress = await showProgress(parley, name)
    defer { progress?.cancel() }
    return try await OutboxCommand.post(draft, in: conversation, parley, settings)
  }

  /// Draws the upload progress if standard error is a terminal.
  private static func showProgress(_ parley: Parley, _ name: String) async -> Task<Void, Never>? {
    guard let bar = ProgressBar.onTerminal else { return nil }
    let events = await parley.outbox.events()
    return Task {
      for await event in events {
        switch event {
        case .progress(_, _, let sent, let size): bar.show(Progress(Terminal.plain(name), done: sent, of: size))
        case .didSend, .didFail, .cancelled, .signedOut, .stopped: bar.clear()
        }
      }
    }
  }
}
