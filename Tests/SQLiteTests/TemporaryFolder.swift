import Foundation
import ParleySQLite
import Testing

/// A temporary folder, deleted with this object.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "parley-sqlite-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var database: String { path + "/test.db" }

  func writer() throws -> Connection { try Connection.writer(database) }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: path + "/" + name, atomically: false, encoding: .utf8)
  }

  func bytes(of name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path + "/" + name))) }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}

extension Connection {
  func int(_ sql: SQL) throws -> Int? { try first(sql) { row in try row.int(0) } }
}

/// Returns the error of `body`, and fails without one.
func failure(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) -> SQLiteError? {
  do {
    try body()
    Issue.record("nothing failed", sourceLocation: location)
    return nil
  } catch {
    return error as? SQLiteError
  }
}
