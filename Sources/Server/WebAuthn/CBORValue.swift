/// A value of CBOR (RFC 8949), of the kinds that authenticators send.
public enum CBORValue: Hashable, Sendable {
  case unsigned(UInt64)
  /// The number -1 - n, from n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([Pair])
  case bool(Bool)
  case null

  public struct Pair: Hashable, Sendable {
    public let key: CBORValue
    public let value: CBORValue

    public init(_ key: CBORValue, _ value: CBORValue) {
      self.key = key
      self.value = value
    }
  }

  /// Nil for a number beyond `Int`, and for a value of another kind.
  public var int: Int? {
    switch self {
    case .unsigned(let number): Int(exactly: number)
    case .negative(let number): Int(exactly: number).map { -1 - $0 }
    case .bytes, .text, .array, .map, .bool, .null: nil
    }
  }

  var byteString: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  /// The value of a map with this key.
  subscript(_ key: String) -> CBORValue? { value { $0 == .text(key) } }

  subscript(_ key: Int) -> CBORValue? { value { $0.int == key } }

  private func value(_ isKey: (CBORValue) -> Bool) -> CBORValue? {
    guard case .map(let pairs) = self else { return nil }
    return pairs.first { isKey($0.key) }?.value
  }

  /// The count of a map's pairs; nil for a value of another kind.
  var pairCount: Int? { if case .map(let pairs) = self { pairs.count } else { nil } }
}

/// The reason why bytes are no value.
public enum CBORError: Error, Hashable, Sendable {
  /// Over `CBORReader.maxBytes`.
  case tooLong
  case tooDeep
  /// The bytes end before the value.
  case incomplete
  /// Bytes follow the value.
  case trailingBytes
  /// A length that only a later byte tells.
  case indefiniteLength
  /// A number or length that fewer bytes could hold.
  case notShortest
  case invalidUTF8
  case repeatedKey
  /// Tags, floating-point numbers, `undefined` and other simple values, and reserved numbers: no authenticator sends them.
  case unsupported
}
