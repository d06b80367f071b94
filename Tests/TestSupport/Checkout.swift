import Foundation

/// The files of the checkout that the tests were built from.
public enum Checkout {
  /// The folder that has `Package.swift`.
  public static let root: URL = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path.count > 1, !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  public static let migrations = root.appending(path: "Migrations/sqlite").path

  public static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The cases of a file that the tests of other languages also run.
  public static func cases<Case: Decodable>(_ name: String) throws -> [Case] {
    let file = root.appending(path: "Tests/Contract/\(name)")
    return try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
  }
}
