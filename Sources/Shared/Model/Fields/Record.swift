/// Value whose fields are declared once, in `visitFields`: all that a PATCH may change, or all of a constant record.
///
/// A visitor does one thing with every field: it writes JSON, lists columns, reads a row, applies a patch. The function
/// is generic and inlinable, so the compiler turns each pair of record and visitor into straight code, as written by
/// hand; a table of closures and key paths was five times slower.
///
///     public mutating func visitFields<Visitor: FieldVisitor<Forum>>(
///       _ visitor: inout Visitor
///     ) throws(Visitor.Failure) {
///       try visitor.field("title", &title, \.title)
///       try visitor.field("slow_seconds", &slowSeconds, \.slowSeconds, in: Self.slowness)
///     }
public protocol Record: Sendable, Hashable {
  /// Record with default values, for visitors of names and types.
  static var blank: Self { get }

  /// Passes each field to a visitor: `FieldVisitor.field` has the parameters.
  mutating func visitFields<Visitor: FieldVisitor<Self>>(_ visitor: inout Visitor) throws(Visitor.Failure)
}

/// One operation on all fields of a record, such as encoding; `Record.visitFields` calls it for each field.
public protocol FieldVisitor<Visited> {
  /// The record with the fields.
  associatedtype Visited: Record
  /// The error of the operation; `Never` if it can't fail.
  associatedtype Failure: Error

  /// - Parameters:
  ///   - name: the JSON member, and the column unless `column` is set.
  ///   - path: the key path of `value`, by which patches name the field.
  ///   - bounds: the range of a number in a request.
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) throws(Failure)
}

extension FieldVisitor {
  /// Visits a field with the same name in JSON and in the table.
  @inlinable @inline(__always)
  public mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable
  ) throws(Failure) {
    try field(name, &value, path, column: nil, in: nil)
  }

  /// Visits a field with another name in the table than in JSON.
  @inlinable @inline(__always)
  public mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String
  ) throws(Failure) {
    try field(name, &value, path, column: column, in: nil)
  }

  /// Visits a number that has bounds in requests.
  @inlinable @inline(__always)
  public mutating func field(
    _ name: String, _ value: inout Int, _ path: any WritableKeyPath<Visited, Int> & Sendable,
    in bounds: ClosedRange<Int>
  ) throws(Failure) {
    try field(name, &value, path, column: nil, in: bounds)
  }
}
