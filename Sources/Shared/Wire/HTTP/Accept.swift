/// What a client would like to get (RFC 9110 §12): members with a weight in thousandths. A member that is malformed is
/// left out, as if the client had not named it.
public struct Accept: Sendable {
  private let members: [(name: String, weight: Int)]

  /// The value of Accept or Accept-Encoding, all fields joined by commas; nil when there is none.
  private init(_ values: [String]) {
    members = values.prefix(Accept.mostMembers).compactMap(Accept.member)
  }

  public static let mostMembers = 32

  public static func encodings(_ fields: Fields) -> Accept { Accept(fields.list("accept-encoding")) }
  public static func types(_ fields: Fields) -> Accept { Accept(fields.list("accept")) }

  /// Whether a response may be sent gzipped. What browsers say is known without being taken apart.
  public static func allowsGzip(_ fields: Fields) -> Bool {
    guard let place = fields.index(of: "accept-encoding") else { return false }
    let isAlone = fields.index(of: "accept-encoding", after: place) == nil
    if isAlone, usualEncodings.contains(where: { fields.isValue($0, at: place) }) { return true }
    return encodings(fields).allowsGzip
  }

  private static let usualEncodings: [StaticString] = [
    "gzip, deflate, br, zstd", "gzip, deflate, br", "gzip, deflate", "gzip",
  ]

  /// RFC 9110 §12.5.3: gzip may be sent when it is named (or `x-gzip`, its old name), else when `*` is, with a weight above 0.
  public var allowsGzip: Bool {
    (weight("gzip") ?? weight("x-gzip") ?? weight("*") ?? 0) > 0
  }

  /// How much a type is wanted, 0 to 1000; the most specific member counts (§12.5.1). Without any member, all is wanted.
  public func weight(ofType type: String, _ subtype: String) -> Int {
    guard !members.isEmpty else { return 1_000 }
    return weight("\(type)/\(subtype)") ?? weight("\(type)/*") ?? weight("*/*") ?? 0
  }

  private func weight(_ name: String) -> Int? {
    members.first { $0.name == name }?.weight
  }

  /// `name`, `name;q=0.5`, `name;parameter=value;q=0.5`: parameters other than the weight are not compared.
  private static func member(_ text: String) -> (name: String, weight: Int)? {
    let name = text.prefix { $0 != ";" }
    let bytes = Array(text.utf8)
    guard let parameters = FieldParameters(bytes.span, from: name.utf8.count, to: bytes.count) else { return nil }
    let weight = parameters["q"].map(Accept.weight(of:)) ?? 1_000
    let trimmed = bytes.span.trimmed(0..<name.utf8.count)
    guard let weight, !trimmed.isEmpty else { return nil }
    return (bytes.span.text(trimmed).lowercased(), weight)
  }

  /// §12.4.2: `0`, `0.5`, `1`, `1.000`: at most three digits behind the point, in thousandths.
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
