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
      do throws(JSONError) { value = try Value(field: member) } catch { try object.record(error, of: member) }
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

/// A word of a closed list.
public typealias ListedWord = RawRepresentable<String> & CaseIterable

extension JSONObject {
  /// Reads a required member with a word of a closed list.
  public mutating func word<Word: ListedWord>(_ name: String) throws(JSONError) -> Word {
    try read(name) { value throws(JSONError) in try value.word() }
  }

  /// Nil if the member is absent, or `null` where the document permits that.
  public mutating func optionalWord<Word: ListedWord>(_ name: String) throws(JSONError) -> Word? {
    try optional(name) { value throws(JSONError) in try value.word() }
  }
}

extension JSONValue {
  /// Parses a word of a closed list; another string is the error `notAllowed` with the accepted words.
  public func word<Word: ListedWord>() throws(JSONError) -> Word {
    if let word = Word(rawValue: try string()) { return word }
    if isWildcard, let word = Word.allCases.first { return word }
    throw error(.notAllowed(Word.allCases.map(\.rawValue)))
  }
}
