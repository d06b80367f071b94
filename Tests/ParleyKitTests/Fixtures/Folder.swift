import Foundation

/// A temporary folder of a test.
struct Folder: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "parley-kit-\(UUID())").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
