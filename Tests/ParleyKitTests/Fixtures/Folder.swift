import Foundation

@testable import ParleyTransport

/// A temporary folder of a test.
struct Folder: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "parley-kit-\(UUID())").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// Runs `body` with the standard device in this folder.
  static func asStandard<Value: Sendable>(
    _ path: String, _ body: @Sendable () async throws -> Value
  ) async throws -> Value {
    try await StandardFolder.$replacement.withValue(path) { try await body() }
  }
}
