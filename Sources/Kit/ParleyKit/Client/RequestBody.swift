public import ParleyJSON

public enum RequestBody: Sendable {
  case none
  case json(JSONRaw)
  /// Bytes of this media type.
  case bytes([UInt8], type: String)
  /// A part of a file.
  case file(FileSource, Range<Int>, type: String)

  /// An object of these members.
  public static func object(_ members: (inout JSONWriter) -> Void) -> RequestBody {
    .json(.object(members))
  }
}

extension JSONRaw {
  /// An object of these members, such as somebody's preferences.
  public static func object(_ members: (inout JSONWriter) -> Void) -> JSONRaw {
    var json = JSONWriter()
    json.object(members)
    return JSONRaw(trusted: json.bytes)
  }
}

// What a call does not say stands nowhere in its body: null would clear it.
extension JSONWriter {
  mutating func given(_ name: String, _ value: (some JSONWritable)?) {
    if let value { field(name, value) }
  }

  mutating func given(_ name: String, _ word: (some RawRepresentable<String>)?) {
    if let word { field(name, word.rawValue) }
  }

  mutating func given(_ name: String, _ change: Change<some JSONWritable>) {
    switch change {
    case .unchanged: break
    case .cleared: null(name)
    case .set(let value): field(name, value)
    }
  }
}
