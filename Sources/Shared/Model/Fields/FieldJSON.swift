public import ParleyJSON

extension Record {
  /// Writes the fields into an open object.
  func writeFields(to json: inout JSONWriter) {
    var writer = FieldWriter<Self>(json: consume json)
    var record = self
    record.visitFields(&writer)
    json = writer.json
  }

  /// Reads the fields from the members of an object.
  ///
  /// - Parameter keepsAbsent: whether an absent member leaves the field as it is.
  mutating func readFields(from object: inout JSONObject, keepsAbsent: Bool = false) throws(JSONError) {
    var reader = FieldReader<Self>(object: object, keepsAbsent: keepsAbsent)
    try visitFields(&reader)
    object = reader.object
  }
}

struct FieldWriter<Visited: Record>: FieldVisitor {
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
  let keepsAbsent: Bool

  @inline(__always)
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) throws(JSONError) {
    if let member = object.member(name) {
      value = try Value(field: member)
    } else if keepsAbsent {
      return
    } else if let absent = Value.absent {
      value = absent
    } else {
      _ = try object.value(name)
    }
  }
}

// JSON strings from a closed list of words.

extension JSONObject {
  public mutating func word<Word: RawRepresentable>(
    _ name: String
  ) throws(JSONError) -> Word where Word.RawValue == String {
    try value(name).word()
  }

  /// Nil if the member is absent, or `null` where the document permits that.
  public mutating func optionalWord<Word: RawRepresentable>(
    _ name: String
  ) throws(JSONError) -> Word? where Word.RawValue == String {
    try optional(name) { value throws(JSONError) in try value.word() }
  }
}

extension JSONValue {
  public func word<Word: RawRepresentable>() throws(JSONError) -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: try string()) else { throw error(.invalid) }
    return word
  }
}
