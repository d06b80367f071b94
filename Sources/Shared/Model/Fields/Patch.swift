public import ParleyJSON

/// New values of some fields of a record: the body of a PATCH.
///
///     [.set(\.isLocked, true), .set(\.iconURL, nil)]
public struct Patch<Target: Record>: Sendable, ExpressibleByArrayLiteral {
  /// The new values; fields outside of `paths` have defaults.
  private var values = Target.blank
  private var paths: [any PartialKeyPath<Target> & Sendable] = []

  /// A patch with these changes; the last one counts for a field given twice.
  public init(arrayLiteral changes: FieldChange<Target>...) {
    for change in changes { change.apply(&self) }
  }

  /// Whether the patch changes no field.
  public var isEmpty: Bool { paths.isEmpty }

  /// Whether the patch has a new value for a field.
  public func contains(_ path: PartialKeyPath<Target>) -> Bool { paths.contains { $0 == path } }

  /// Whether it changes a field that is not in `others`.
  public func changesFields(except others: PartialKeyPath<Target>...) -> Bool {
    paths.contains { path in !others.contains { $0 == path } }
  }

  /// Whether it sets an optional field to a value.
  public func fills<Value: FieldValue>(_ path: any WritableKeyPath<Target, Value?> & Sendable) -> Bool {
    values[keyPath: path] != nil
  }

  /// The new value; nil for an unchanged field.
  public subscript<Value: FieldValue>(_ path: any WritableKeyPath<Target, Value> & Sendable) -> Value? {
    contains(path) ? values[keyPath: path] : nil
  }

  /// Sets the new value of a field, or replaces an earlier one.
  public mutating func set<Value: FieldValue>(
    _ path: any WritableKeyPath<Target, Value> & Sendable, to value: Value
  ) {
    values[keyPath: path] = value
    if !contains(path) { paths.append(path) }
  }

  /// Replaces the new value of a field, if it has one.
  public mutating func revise<Value: FieldValue, Failure>(
    _ path: any WritableKeyPath<Target, Value> & Sendable, _ revised: (Value) throws(Failure) -> Value
  ) throws(Failure) {
    if contains(path) { values[keyPath: path] = try revised(values[keyPath: path]) }
  }

  /// Replaces the new value of an optional field, if it has one.
  public mutating func revise<Value: FieldValue, Failure>(
    _ path: any WritableKeyPath<Target, Value?> & Sendable, _ revised: (Value) throws(Failure) -> Value
  ) throws(Failure) {
    if contains(path), let value = values[keyPath: path] { values[keyPath: path] = try revised(value) }
  }

  /// A copy of the record with the new values.
  public func applied(to record: Target) -> Target {
    var record = record
    var copier = FieldCopier(patch: self)
    record.visitFields(&copier)
    return record
  }
}

extension Patch: Equatable {
  /// Whether two patches change the same fields to the same values, in any order.
  public static func == (one: Patch, other: Patch) -> Bool {
    one.values == other.values && one.paths.count == other.paths.count && one.paths.allSatisfy(other.contains)
  }
}

/// A field and its new value.
public struct FieldChange<Target: Record>: Sendable {
  fileprivate let apply: @Sendable (inout Patch<Target>) -> Void

  /// `nil` clears an optional field.
  public static func set<Value: FieldValue>(
    _ path: any WritableKeyPath<Target, Value> & Sendable, _ value: Value
  ) -> FieldChange {
    FieldChange { patch in patch.set(path, to: value) }
  }
}

// MARK: JSON

extension Patch {
  /// Absent members stay unchanged.
  ///
  /// - Parameter settable: the fields of a draft, in which `null` is refused; nil for all fields.
  public init(
    _ object: inout JSONObject, only settable: [any PartialKeyPath<Target> & Sendable]? = nil
  ) throws(JSONError) {
    self = []
    var reader = PatchReader(object: object, patch: self, settable: settable)
    var blank = Target.blank
    try blank.visitFields(&reader)
    object = reader.object
    self = reader.patch
  }

  /// Parses an object within a request; unknown members are refused.
  init(strict value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try self.init(&object)
    try object.finish()
  }

  /// Writes the changed fields into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    var writer = PatchWriter(json: json, patch: self)
    var values = values
    values.visitFields(&writer)
    json = writer.json
  }
}

private struct PatchReader<Visited: Record>: FieldVisitor {
  var object: JSONObject
  var patch: Patch<Visited>
  let settable: [any PartialKeyPath<Visited> & Sendable]?

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) throws(JSONError) {
    if let settable, !settable.contains(where: { $0 == path }) { return }
    guard let member = object.member(name) else { return }
    do throws(JSONError) {
      // In a draft `null` would be an absent member.
      if member.isNull, settable != nil || Value.absent == nil { throw member.error(.invalid) }
      if let bounds { _ = try member.int(in: bounds) }
      patch.set(path, to: try Value(field: member))
    } catch {
      try object.record(error, of: member)
    }
  }
}

private struct PatchWriter<Visited: Record>: FieldVisitor {
  var json: JSONWriter
  let patch: Patch<Visited>

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    if patch.contains(path) { value.writeField(name, to: &json) }
  }
}

private struct FieldCopier<Visited: Record>: FieldVisitor {
  let patch: Patch<Visited>

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    if let new = patch[path] { value = new }
  }
}
