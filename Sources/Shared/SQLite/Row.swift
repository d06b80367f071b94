/// The current row of a statement. It is not copyable, so values are read while the statement stays on the row.
///
/// Reading a column as another type than the stored one is an error, never 0 or an empty text. Columns count from 0.
/// `withBytes` lends a text or a blob without a copy.
public struct Row: ~Copyable {
  let statement: StatementHandle

  public func isNull(_ column: Int) -> Bool { statement.isNull(column) }

  public func int(_ column: Int) throws(SQLiteError) -> Int { try statement.int(column) }

  public func double(_ column: Int) throws(SQLiteError) -> Double { try statement.double(column) }

  public func text(_ column: Int) throws(SQLiteError) -> String { try statement.text(column) }

  public func bytes(_ column: Int) throws(SQLiteError) -> [UInt8] { try statement.bytes(column) }

  /// Stored as 0 or 1.
  public func bool(_ column: Int) throws(SQLiteError) -> Bool {
    switch try statement.int(column) {
    case 0: false
    case 1: true
    default: throw unexpected(column)
    }
  }

  public func optionalInt(_ column: Int) throws(SQLiteError) -> Int? {
    isNull(column) ? nil : try statement.int(column)
  }

  public func optionalDouble(_ column: Int) throws(SQLiteError) -> Double? {
    isNull(column) ? nil : try statement.double(column)
  }

  public func optionalText(_ column: Int) throws(SQLiteError) -> String? {
    isNull(column) ? nil : try statement.text(column)
  }

  public func optionalBytes(_ column: Int) throws(SQLiteError) -> [UInt8]? {
    isNull(column) ? nil : try statement.bytes(column)
  }

  @usableFromInline func failure(_ error: any Error) -> SQLiteError {
    error as? SQLiteError ?? SQLiteError(code: .error, message: "reading a row: \(error)", sql: statement.sql)
  }

  /// Error for a value of the right type that is invalid, such as an unknown kind.
  public func unexpected(_ column: Int) -> SQLiteError { statement.unexpected(column) }
}
