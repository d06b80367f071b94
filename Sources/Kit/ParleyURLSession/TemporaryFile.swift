import Foundation
import ParleyKit

/// The body of an upload, removed with the object.
final class TemporaryFile: Sendable {
  let url: URL

  /// Writes the chunks of a body.
  init(_ length: Int, _ next: @Sendable () async throws -> [UInt8]) async throws(TransportFailure) {
    url = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID().uuidString)")
    do {
      // Private to the user.
      guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
      else {
        throw CocoaError(.fileWriteUnknown)
      }
      let file = try FileHandle(forWritingTo: url)
      defer { try? file.close() }
      var count = 0
      while count < length {
        let chunk = try await next()
        guard !chunk.isEmpty else { throw TransportFailure.sourceFailed("the body is shorter than its length") }
        try file.write(contentsOf: chunk)
        count += chunk.count
      }
    } catch let error as TransportFailure {
      throw error
    } catch {
      throw error is CancellationError ? .cancelled : .sourceFailed("\(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
