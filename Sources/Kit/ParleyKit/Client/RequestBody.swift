public import ParleyJSON

/// The content of a request.
public enum RequestBody: Sendable {
  /// No body.
  case none
  /// A JSON value.
  case json(JSONRaw)
  /// Bytes and their media type.
  case bytes([UInt8], type: String)
  /// A range of a file.
  case file(FileSource, Range<Int>, type: String)

  /// A JSON object.
  public static func object(_ members: (inout JSONWriter) -> Void) -> RequestBody {
    .json(.object(members))
  }

  static func value(_ value: some JSONWritable) -> RequestBody {
    var json = JSONWriter()
    json.value(value)
    return .json(JSONRaw(trusted: json.bytes))
  }
}

extension JSONRaw {
  /// A JSON object, such as a user's preferences.
  public static func object(_ members: (inout JSONWriter) -> Void) -> JSONRaw {
    var json = JSONWriter()
    json.object(members)
    return JSONRaw(trusted: json.bytes)
  }
}

// A nil argument is omitted from the body. `null` would clear the member.
extension JSONWriter {
  mutating func optional(_ name: String, _ value: (some JSONWritable)?) {
    if let value { field(name, value) }
  }

  mutating func optional(_ name: String, _ word: (some RawRepresentable<String>)?) {
    if let word { field(name, word.rawValue) }
  }

  mutating func optional(_ name: String, _ change: Change<some JSONWritable>) {
    switch change {
    case .unchanged: break
    case .cleared: null(name)
    case .set(let value): field(name, value)
    }
  }
}
