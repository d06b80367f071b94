/// The current row of a statement. It is not copyable, so values are read while the statement stays on the row.
///
/// Reading a column as another type than the stored one is an error, never 0 or an empty text. Columns count from 0.
/// `withBytes` lends a text or a blob without a copy.
///
/// A name is looked up once per statement, so a query with many columns reads them by name: `row.text("title")`.
public struct Row: ~Copyable {
  let statement: StatementHandle

  /// Number of columns.
  public var count: Int { statement.columnCount }

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

  public func optionalText(_ column: Int) throws(SQLiteError) -> String? {
    isNull(column) ? nil : try statement.text(column)
  }

  public func optionalBytes(_ column: Int) throws(SQLiteError) -> [UInt8]? {
    isNull(column) ? nil : try statement.bytes(column)
  }

  /// Any value that is not a float or a blob, in one access; nil is null.
  public func intOrText(_ column: Int) throws(SQLiteError) -> IntOrText? { try statement.intOrText(column) }

  /// The position of the only column with this name.
  public func position(_ name: StaticString) throws(SQLiteError) -> Int { try statement.position(name) }

  public func isNull(_ column: StaticString) throws(SQLiteError) -> Bool { isNull(try position(column)) }

  public func int(_ column: StaticString) throws(SQLiteError) -> Int { try int(position(column)) }

  public func text(_ column: StaticString) throws(SQLiteError) -> String { try text(position(column)) }

  public func bytes(_ column: StaticString) throws(SQLiteError) -> [UInt8] { try bytes(position(column)) }

  public func bool(_ column: StaticString) throws(SQLiteError) -> Bool { try bool(position(column)) }

  public func optionalInt(_ column: StaticString) throws(SQLiteError) -> Int? { try optionalInt(position(column)) }

  public func optionalText(_ column: StaticString) throws(SQLiteError) -> String? { try optionalText(position(column)) }

  public func optionalBytes(_ column: StaticString) throws(SQLiteError) -> [UInt8]? {
    try optionalBytes(position(column))
  }

  @usableFromInline func failure(_ error: any Error) -> SQLiteError {
    error as? SQLiteError ?? SQLiteError(code: .error, message: "reading a row: \(error)", sql: statement.sql)
  }

  /// Error for a value of the right type that is invalid, such as an unknown kind.
  public func unexpected(_ column: Int) -> SQLiteError { statement.unexpected(column) }
}

public enum IntOrText: Sendable {
  case int(Int)
  case text(String)
}
