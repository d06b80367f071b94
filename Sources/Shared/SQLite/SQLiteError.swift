/// An error of SQLite, or a misuse of this module. For logs, never for responses.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The primary result codes (sqlite.org/rescode.html).
  public enum Code: Int32, Hashable, Sendable {
    case error = 1
    case `internal` = 2
    case permission = 3
    case aborted = 4
    case busy = 5
    case locked = 6
    case outOfMemory = 7
    case readOnly = 8
    case interrupted = 9
    case io = 10
    case corrupt = 11
    case notFound = 12
    case full = 13
    case cannotOpen = 14
    case `protocol` = 15
    case empty = 16
    case schemaChanged = 17
    case tooBig = 18
    case constraint = 19
    /// Also thrown by this module: a column has another type than requested.
    case mismatch = 20
    /// Also thrown by this module: an invalid call.
    case misuse = 21
    case noLargeFiles = 22
    case authorization = 23
    case format = 24
    case range = 25
    case notADatabase = 26
  }

  public enum Constraint: Int32, Hashable, Sendable {
    case check = 275
    case commitHook = 531
    case foreignKey = 787
    case function = 1043
    case notNull = 1299
    case primaryKey = 1555
    case trigger = 1811
    case unique = 2067
    case virtualTable = 2323
    case rowID = 2579
    case pinned = 2835
    case dataType = 3091
  }

  public let code: Code
  /// SQLite's extended code; equal to the primary one if there is none.
  public let extendedCode: Int32
  /// SQLite's message.
  public let message: String
  /// The SQL text, with parameters as `$1`.
  public let sql: String
  /// Whether the error ended the transaction. After a full disk, an I/O error or out of memory SQLite may roll back by
  /// itself (sqlite.org/lang_transaction.html §3), and later statements would commit one by one.
  public let endedTransaction: Bool

  init(code: Code, extendedCode: Int32? = nil, message: String, sql: String = "", endedTransaction: Bool = false) {
    self.code = code
    self.extendedCode = extendedCode ?? code.rawValue
    self.message = message
    self.sql = sql
    self.endedTransaction = endedTransaction
  }

  /// The violated constraint; nil for other errors.
  public var constraint: Constraint? { code == .constraint ? Constraint(rawValue: extendedCode) : nil }

  public var description: String {
    var text = "\(message) (SQLite \(extendedCode))"
    if !sql.isEmpty { text += " in: \(sql)" }
    return text
  }
}
