import Crypto
import SQLite

/// Which history the place has: made with the database, and changed when a backup is restored. A client that knows
/// another one begins anew.
enum Epoch {
  private static let byteCount = 12

  static func read(_ connection: Connection) throws -> String {
    guard let epoch = try connection.first("select value from setting where name = 'epoch'", read: { try $0.text(0) })
    else { throw MissingEpoch() }
    return epoch
  }

  /// The one that is there, or one that is made now.
  static func readOrMake(_ connection: Connection) throws -> String {
    try connection.execute(
      """
      insert into setting (name, value)
      values ('epoch', $1)
      on conflict (name) do nothing
      """, Hex.text(try SecureRandom.bytes(byteCount)))
    return try read(connection)
  }

  /// Another history begins.
  static func change(_ connection: Connection) throws {
    try connection.execute(
      """
      insert into setting (name, value)
      values ('epoch', $1)
      on conflict (name) do update
      set value = excluded.value
      """, Hex.text(try SecureRandom.bytes(byteCount)))
  }

  struct MissingEpoch: Error, CustomStringConvertible {
    let description = "the database has no epoch"
  }
}
