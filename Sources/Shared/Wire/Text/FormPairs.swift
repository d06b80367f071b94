/// The pairs of a query or an `application/x-www-form-urlencoded` body, in order, with repeated names preserved.
public struct FormPairs: Sendable, Hashable {
  public struct Pair: Sendable, Hashable {
    public let name: String
    public let value: String
  }

  public let pairs: [Pair]

  public enum Refusal: Error, Sendable, Hashable {
    case tooMany, badEscape
  }

  /// Parses pairs. `+` is a space; a pair without `=` has an empty value; empty pairs (`a=1&&b=2`) are ignored.
  public init(_ text: String, limit: Int = 100) throws(Refusal) {
    let bytes = Array(text.utf8)
    try self.init(bytes.span, limit: limit)
  }

  public init(_ bytes: Span<UInt8>, limit: Int = 100) throws(Refusal) {
    var pairs: [Pair] = []
    var start = 0
    while start < bytes.count {
      var end = start
      var equals: Int?
      while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
        if equals == nil, bytes[end] == UInt8(ascii: "=") { equals = end }
        end += 1
      }
      if end > start {
        guard pairs.count < limit else { throw .tooMany }
        let nameEnd = equals ?? end
        guard let name = Percent.decode(bytes, in: start..<nameEnd, plusIsSpace: true),
          let value = Percent.decode(bytes, in: min(nameEnd + 1, end)..<end, plusIsSpace: true)
        else { throw .badEscape }
        pairs.append(Pair(name: name, value: value))
      }
      start = end + 1
    }
    self.pairs = pairs
  }

  /// The value of the first pair with this name.
  public subscript(_ name: String) -> String? {
    pairs.first { $0.name == name }?.value
  }

  public func all(_ name: String) -> [String] {
    pairs.compactMap { $0.name == name ? $0.value : nil }
  }
}
