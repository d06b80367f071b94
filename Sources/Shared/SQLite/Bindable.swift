/// Value that can be bound to a parameter. Typed ids conform by binding their raw value:
///
///     extension Message.ID: Bindable {
///       public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
///         try statement.bind(rawValue, at: index)
///       }
///     }
public protocol Bindable {
  func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError)
}

extension Int: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(self, at: index)
  }
}

/// Stored as 0 or 1.
extension Bool: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(self ? 1 : 0, at: index)
  }
}

extension Double: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(self, at: index)
  }
}

extension String: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(self, at: index)
  }
}

extension [UInt8]: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(span, at: index)
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  @inlinable public func bind(to statement: borrowing Statement, at index: Int) throws(SQLiteError) {
    guard let self else { return try statement.bindNull(at: index) }
    try self.bind(to: statement, at: index)
  }
}
