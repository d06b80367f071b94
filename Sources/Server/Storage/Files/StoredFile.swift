import ParleyCrypto
import ParleySQLite

/// An uploaded file as the database names it: by SHA-256.
struct StoredFile: Equatable {
  let digest: [UInt8]
  let size: Int

  /// Relative to the data folder, and in a backup.
  var path: String { Self.path(of: Hex.text(digest)) }

  private static func path(of hex: String) -> String {
    "\(BackupName.files)/\(hex.prefix(2))/\(hex.dropFirst(2).prefix(2))/\(hex)"
  }

  /// The digest in a path; nil if the path is not canonical.
  static func digest(inPath path: String) -> String? {
    let hex = String(path.suffix(64))
    guard let digest = Hex.bytes(hex), digest.count == 32, Hex.text(digest) == hex, Self.path(of: hex) == path else {
      return nil
    }
    return hex
  }

  /// Files named by a database, each once, by digest.
  static func all(in connection: Connection) throws -> [StoredFile] {
    try connection.all(
      """
      select digest, max(size)
      from (
        select digest, size from file
        union
        select preview_digest, preview_size from file where preview_digest is not null
      )
      group by digest
      order by digest
      """
    ) { row in StoredFile(digest: try row.bytes(0), size: try row.int(1)) }
  }
}
