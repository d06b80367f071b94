import Foundation
import Storage

/// A database without content that has all migrations. Tests copy it: applying the migrations takes longer than most of them.
public enum MigratedDatabase {
  private static let content: Result<Data, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parley-migrated-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let data = try DataFolder(folder.path)
    _ = try Schema.migrate(data, migrations: Checkout.migrations, at: 1_800_000_000_000)
    return try Data(contentsOf: URL(filePath: data.database))
  }

  /// Writes the database into a data folder that has none.
  public static func copy(to folder: String) throws {
    let database = URL(filePath: folder).appending(path: "parley.db")
    guard !FileManager.default.fileExists(atPath: database.path) else { return }
    try content.get().write(to: database)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database.path)
  }
}
