/// The preferences of a client (RFC 9110 §12): members with a weight in thousandths. Malformed members are ignored.
public struct Accept: Sendable {
  private let members: [(name: String, weight: Int)]

  /// The value of Accept or Accept-Encoding, all fields joined by commas; nil without the field.
  private init(_ values: [String]) {
    members = values.prefix(Accept.maxMembers).compactMap(Accept.member)
  }

  public static let maxMembers = 32

  public static func encodings(_ fields: Fields) -> Accept { Accept(fields.list("accept-encoding")) }
  public static func types(_ fields: Fields) -> Accept { Accept(fields.list("accept")) }
  public static func languages(_ fields: Fields) -> Accept { Accept(fields.list("accept-language")) }

  /// The acceptable names in lower case, the preferred ones first.
  public var names: [String] {
    let acceptable = members.enumerated().filter { $0.element.weight > 0 }
    let sorted = acceptable.sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
    return sorted.map(\.element.name)
  }

  /// Whether a response may be sent gzipped. Common browser values are compared without parsing.
  public static func allowsGzip(_ fields: Fields) -> Bool {
    guard let position = fields.index(of: "accept-encoding") else { return false }
    let isExclusive = fields.index(of: "accept-encoding", after: position) == nil
    if isExclusive, commonEncodings.contains(where: { fields.isValue($0, at: position) }) { return true }
    return encodings(fields).allowsGzip
  }

  private static let commonEncodings: [StaticString] = [
    "gzip, deflate, br, zstd", "gzip, deflate, br", "gzip, deflate", "gzip",
  ]

  /// RFC 9110 §12.5.3: gzip is acceptable if `gzip`, `x-gzip` (its old name) or else `*` has a weight above 0.
  public var allowsGzip: Bool {
    (weight("gzip") ?? weight("x-gzip") ?? weight("*") ?? 0) > 0
  }

  /// The weight of a media type, 0 to 1000, by the most specific member (§12.5.1). Without members every type is
  /// acceptable.
  public func weight(ofType type: String, _ subtype: String) -> Int {
    guard !members.isEmpty else { return 1_000 }
    return weight("\(type)/\(subtype)") ?? weight("\(type)/*") ?? weight("*/*") ?? 0
  }

  private func weight(_ name: String) -> Int? {
    members.first { $0.name == name }?.weight
  }

  /// `name`, `name;q=0.5`, `name;parameter=value;q=0.5`. Other parameters are not compared.
  private static func member(_ text: String) -> (name: String, weight: Int)? {
    let name = text.prefix { $0 != ";" }
    let bytes = Array(text.utf8)
    guard let parameters = FieldParameters(bytes.span, from: name.utf8.count, to: bytes.count) else { return nil }
    let weight = parameters["q"].map(Accept.weight(of:)) ?? 1_000
    let trimmed = bytes.span.trimmed(0..<name.utf8.count)
    guard let weight, !trimmed.isEmpty else { return nil }
    return (bytes.span.text(trimmed).lowercased(), weight)
  }

  /// §12.4.2: `0`, `0.5`, `1`, `1.000`: at most three decimals, in thousandths.
  private static func weight(of text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, first == 0x30 || first == 0x31, bytes.count <= 5 else { return nil }
    var weight = Int(first - 0x30) * 1_000
    if bytes.count > 1 {
      guard bytes[1] == UInt8(ascii: ".") else { return nil }
      var unit = 100
      for byte in bytes.dropFirst(2) {
        guard ASCII.isDigit(byte) else { return nil }
        weight += Int(byte - 0x30) * unit
        unit /= 10
      }
    }
    return weight <= 1_000 ? weight : nil
  }
}
