import Foundation
import ParleyKit
import ParleyTransport
import Testing

/// The daemon in its own process and data folder, with ada as the owner.
final class Daemon {
  let url: String
  /// The owner's credentials.
  private let code: String
  private let process: Process
  private let folder: Folder
  static let password = "wool and needles"

  /// In the folder of the test binary.
  private static let program: URL = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "parley")
  }()

  static func run(_ body: (Daemon) async throws -> Void) async throws {
    let daemon = try Daemon()
    defer { daemon.stop() }
    try await daemon.settle()
    try await body(daemon)
  }

  private init() throws {
    folder = try Folder()
    let (process, output) = try Self.start([
      "serve", "--listen", "127.0.0.1:0", "--data", folder.path, "--log-format", "none", "--rate-sending=1000000",
      "--rate-sending-burst=1000000", "--rate-writing=1000000",
    ])
    self.process = process
    // On a new site the first line is the owner's setup link, and the last one reports that the server is ready.
    // Waiting for the end of the pipe does not work: processes started in the meantime inherit it.
    var text = ""
    while !text.contains("listening on ") || !text.hasSuffix("\n") {
      let piece = output.availableData
      if piece.isEmpty { throw NotStarted(text: text) }
      text += String(decoding: piece, as: UTF8.self)
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let url = words.last, let link = words.first(where: { $0.contains("/setup/") }),
      let code = link.split(separator: "/").last
    else { throw NotStarted(text: text) }
    (self.url, self.code) = (String(url), String(code))
  }

  private struct NotStarted: Error {
    let text: String
  }

  private static func start(_ arguments: [String]) throws -> (Process, FileHandle) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    try process.run()
    return (process, pipe.fileHandleForReading)
  }

  private func settle() async throws {
    _ = try await client().send(.useLink(code, password: Self.password, name: "ada"))
  }

  private func stop() {
    process.terminate()
    process.waitUntilExit()
    folder.remove()
  }

  /// A client without a session.
  func client(_ transport: (any Transport)? = nil) throws -> Client {
    let address = try #require(ServerAddress(url))
    return Client(address, over: try transport ?? NetworkTransport(), retryPolicy: .never)
  }

  /// A device of ada.
  func device(_ transport: (any Transport)? = nil, _ indexing: MessageIndexing = MessageIndexing()) async throws
    -> Parley
  {
    let client = try client(transport)
    let store = KeyValueStore(read: { _ in nil }, write: { _, _ in })
    try await OwnSession(client, store: store, now: { 0 }).signIn("ada", password: Self.password)
    return try Parley(
      client, clock: Outbox.Clock(now: { Int64(Date().timeIntervalSince1970 * 1_000) }), indexing,
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) { MemoryStore() }
  }
}
