/// One migration as compiled in: the file `NNNN_name.sql` with exactly these bytes.
public struct Migration: Hashable, Sendable {
  public let number: Int
  public let name: String
  /// SHA-256 in hexadecimal digits.
  public let hash: String

  public init(number: Int, name: String, hash: String) {
    self.number = number
    self.name = name
    self.hash = hash
  }

  public var file: String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_\(name).sql"
  }
}

/// A migration and the time it was applied, in milliseconds since 1970; nil if pending.
public struct MigrationStatus: Hashable, Sendable {
  public let migration: Migration
  public let appliedAt: Int?
}
