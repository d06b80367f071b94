import ParleyJSON
public import ParleyModel

// For an app that keeps things by means of its own: each is one text, the JSON that it came from or is written as.

extension Resource: Codable {
  public init(from decoder: any Decoder) throws { self = try Archive.read(decoder) }
  public func encode(to encoder: any Encoder) throws { try Archive.write(self, encoder) }
}

extension Message: Codable {
  public init(from decoder: any Decoder) throws { self = try Archive.read(decoder) }
  public func encode(to encoder: any Encoder) throws { try Archive.write(self, encoder) }
}

extension Person: Codable {
  public init(from decoder: any Decoder) throws { self = try Archive.read(decoder) }
  public func encode(to encoder: any Encoder) throws { try Archive.write(self, encoder) }
}

private enum Archive {
  static func read<Value: JSONReadable>(_ decoder: any Decoder) throws -> Value {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(JSONError) { return try Value(json: JSONValue(parsing: Array(text.utf8))) } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  static func write(_ value: some JSONWritable, _ encoder: any Encoder) throws {
    var json = JSONWriter()
    json.value(value)
    var container = encoder.singleValueContainer()
    try container.encode(String(decoding: json.bytes, as: UTF8.self))
  }
}
