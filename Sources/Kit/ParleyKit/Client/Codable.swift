import ParleyJSON
public import ParleyModel

// `Codable` for apps with a storage of their own. Each value is encoded as one string that contains its JSON.

extension Resource: Codable {
  public init(from decoder: any Decoder) throws { self = try Archive.read(decoder) }
  public func encode(to encoder: any Encoder) throws { try Archive.write(self, encoder) }
}

extension Message: Codable {
  public init(from decoder: any Decoder) throws { self = try Archive.read(decoder) }
  public func encode(to encoder: any Encoder) throws { try Archive.write(self, encoder) }
}

extension User: Codable {
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
