/// Reads CBOR (RFC 8949) strictly: lengths are definite and in their shortest form (§4.2.1), texts are UTF-8, and no key occurs
/// twice (§5.6). The order of keys is free: authenticators differ.
///
/// The depth is bounded, so the recursion is. The work is linear in the bytes, except for the comparison of a map's keys,
/// of which there are few.
public struct CBORReader {
  public static let maxBytes = 65_536
  public static let maxDepth = 8
  /// Maximum number of pairs in a map. An authenticator sends less than a dozen.
  static let maxPairs = 64

  private let bytes: [UInt8]
  private var offset: Int

  /// The value of all the bytes.
  public static func value(of bytes: [UInt8]) throws(CBORError) -> CBORValue {
    let (value, end) = try value(startingAt: 0, of: bytes)
    guard end == bytes.count else { throw .trailingBytes }
    return value
  }

  /// The value that begins at an offset, and the offset after it.
  static func value(startingAt offset: Int, of bytes: [UInt8]) throws(CBORError) -> (value: CBORValue, end: Int) {
    guard bytes.count <= maxBytes else { throw .tooLong }
    var reader = CBORReader(bytes: bytes, offset: offset)
    let value = try reader.value(depth: 1)
    return (value, reader.offset)
  }

  private init(bytes: [UInt8], offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  private mutating func byte() throws(CBORError) -> UInt8 {
    guard offset < bytes.count else { throw .incomplete }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func take(_ count: UInt64) throws(CBORError) -> [UInt8] {
    guard count <= UInt64(bytes.count - offset) else { throw .incomplete }
    let end = offset + Int(count)
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
    guard depth <= Self.maxDepth else { throw .tooDeep }
    let head = try byte()
    let (kind, info) = (head >> 5, head & 31)
    if kind == 7 { return try simple(info) }
    let number = try argument(info)
    switch kind {
    case 0: return .unsigned(number)
    case 1: return .negative(number)
    case 2: return .bytes(try take(number))
    case 3:
      // Strictly: `String(decoding:)` would repair the text.
      guard let text = String(validating: try take(number), as: UTF8.self) else { throw .invalidUTF8 }
      return .text(text)
    case 4: return .array(try array(number, depth))
    case 5: return .map(try map(number, depth))
    // Tags.
    default: throw .unsupported
    }
  }

  /// The number of a head (§3), in the shortest form.
  private mutating func argument(_ info: UInt8) throws(CBORError) -> UInt64 {
    let byteCount: Int
    switch info {
    case 0..<24: return UInt64(info)
    case 24...27: byteCount = 1 << (info - 24)
    case 31: throw .indefiniteLength
    default: throw .unsupported
    }
    var number: UInt64 = 0
    for _ in 0..<byteCount { number = number << 8 | UInt64(try byte()) }
    let least: UInt64 = byteCount == 1 ? 24 : 1 << (byteCount * 4)
    guard number >= least else { throw .notShortest }
    return number
  }

  private func simple(_ info: UInt8) throws(CBORError) -> CBORValue {
    switch info {
    case 20: return .bool(false)
    case 21: return .bool(true)
    case 22: return .null
    case 31: throw .indefiniteLength
    default: throw .unsupported
    }
  }

  private mutating func array(_ count: UInt64, _ depth: Int) throws(CBORError) -> [CBORValue] {
    // Each element has a byte at least, so that a large count alone reserves no memory.
    guard count <= UInt64(bytes.count - offset) else { throw .incomplete }
    var values: [CBORValue] = []
    for _ in 0..<count { values.append(try value(depth: depth + 1)) }
    return values
  }

  private mutating func map(_ count: UInt64, _ depth: Int) throws(CBORError) -> [CBORValue.Pair] {
    guard count <= UInt64(Self.maxPairs) else { throw .unsupported }
    var pairs: [CBORValue.Pair] = []
    for _ in 0..<count {
      let key = try value(depth: depth + 1)
      guard !pairs.contains(where: { $0.key == key }) else { throw .repeatedKey }
      pairs.append(CBORValue.Pair(key, try value(depth: depth + 1)))
    }
    return pairs
  }
}
