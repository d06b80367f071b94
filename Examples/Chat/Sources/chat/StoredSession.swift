import Foundation
import ParleyKit
import ParleyTransport

/// The user's session and replica, in a folder of the home directory.
struct StoredSession {
  let parley: Parley
  private let secret: URL

  /// Continues the stored session, or signs in.
  init(_ address: ServerAddress, _ name: String, password: () async -> String) async throws {
    let host = address.origin.split(separator: "/").last ?? ""
    let folder = URL.homeDirectory.appending(path: ".parley-chat/\(name)@\(host)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    secret = folder.appending(path: "token")
    let now = { @Sendable in Int64(Date().timeIntervalSince1970 * 1_000) }
    let client = Client(address, over: try NetworkTransport(), token: try? String(contentsOf: secret, encoding: .utf8))
    if client.token == nil {
      let store = KeyValueStore(read: { _ in nil }, write: { _, _ in })
      let session = OwnSession(client, store: store, now: { Int(now()) })
      let token = try await session.signIn(name, password: await password(), device: "chat")
      guard
        FileManager.default.createFile(
          atPath: secret.path, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown) }
    }
    let open = { @Sendable (file: PendingFile) in
      FileSource(name: file.name, bytes: Array(try Data(contentsOf: URL(filePath: file.path))))
    }
    let cache = folder.appending(path: "cache.db").path
    parley = try Parley(client, clock: Outbox.Clock(now: now), open: open) { try DiskStore(cache) }
  }

  /// Removes the token of an ended session: the next start signs in.
  func removeToken() {
    do { try FileManager.default.removeItem(at: secret) } catch { print("* \(error.localizedDescription)") }
  }
}
