import ParleyCrypto
import ParleySQLite

/// The identity of the site's history. It is created with the database and changes with each restore. A client with a
/// cursor of another epoch gets a reset.
enum Epoch {
  private static let byteCount = 12

  static func read(_ connection: Connection) throws -> String {
    guard let epoch = try connection.setting("epoch") else { throw MissingEpoch() }
    return epoch
  }

  /// Reads the stored epoch, or creates one.
  static func readOrMake(_ connection: Connection) throws -> String {
    try connection.keepFirstSetting("epoch", Hex.text(try SecureRandom.bytes(byteCount)))
    return try read(connection)
  }

  /// Starts another history.
  static func change(_ connection: Connection) throws {
    try connection.keepSetting("epoch", Hex.text(try SecureRandom.bytes(byteCount)))
  }

  struct MissingEpoch: Error, CustomStringConvertible {
    let description = "the database has no epoch"
  }
}
