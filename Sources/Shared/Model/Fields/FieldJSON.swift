import ParleyJSON

extension Record {
  /// Writes the fields into an open object.
  func writeFields(to json: inout JSONWriter) {
    var writer = FieldWriter<Self>(json: consume json)
    var record = self
    record.visitFields(&writer)
    json = writer.json
  }

  /// Reads the fields from the members of an object.
  mutating func readFields(from object: inout JSONObject) throws(JSONError) {
    var reader = FieldReader<Self>(object: object)
    try visitFields(&reader)
    object = reader.object
  }
}

private struct FieldWriter<Visited: Record>: FieldVisitor {
  var json: JSONWriter

  @inline(__always)
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    value.writeField(name, to: &json)
  }
}

private struct FieldReader<Visited: Record>: FieldVisitor {
  var object: JSONObject

  @inline(__always)
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) throws(JSONError) {
    if let member = object.member(name) {
      value = try Value(field: member)
    } else if let absent = Value.absent {
      value = absent
    } else {
      _ = try object.value(name)
    }
  }
}
