import ParleyCrypto
import TestSupport
import Testing
import WebAuthn

/// RFC 8949 appendix A.
@Suite struct CBORTests {
  static let accepted: [(String, CBORValue)] = [
    ("00", .unsigned(0)), ("01", .unsigned(1)), ("0a", .unsigned(10)), ("17", .unsigned(23)), ("1818", .unsigned(24)),
    ("1819", .unsigned(25)), ("1864", .unsigned(100)), ("1903e8", .unsigned(1_000)),
    ("1a000f4240", .unsigned(1_000_000)), ("1b000000e8d4a51000", .unsigned(1_000_000_000_000)),
    ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)), ("20", .negative(0)),
    ("29", .negative(9)), ("3863", .negative(99)), ("3903e7", .negative(999)), ("f4", .bool(false)),
    ("f5", .bool(true)), ("f6", .null), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")),
    ("6161", .text("a")), ("6449455446", .text("IETF")), ("62225c", .text("\"\\")), ("62c3bc", .text("ü")),
    ("63e6b0b4", .text("水")), ("64f0908591", .text("𐅑")), ("80", .array([])),
    ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    (
      "8301820203820405",
      .array([
        .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
      ])
    ),
    (
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      .array((1...25).map { .unsigned($0) })
    ),
    ("a0", .map([])),
    ("a201020304", .map([.init(.unsigned(1), .unsigned(2)), .init(.unsigned(3), .unsigned(4))])),
    (
      "a26161016162820203",
      .map([.init(.text("a"), .unsigned(1)), .init(.text("b"), .array([.unsigned(2), .unsigned(3)]))])
    ),
    ("826161a161626163", .array([.text("a"), .map([.init(.text("b"), .text("c"))])])),
    (
      "a56161614161626142616361436164614461656145",
      .map(["a", "b", "c", "d", "e"].map { .init(.text($0), .text($0.uppercased())) })
    ),
  ]

  /// Kinds that no authenticator sends.
  static let refused: [(String, CBORError)] = [
    // Tags, bignums first.
    ("c249010000000000000000", .unsupported), ("c349010000000000000000", .unsupported),
    ("c074323031332d30332d32315432303a30343a30305a", .unsupported), ("c11a514b67b0", .unsupported),
    ("c1fb41d452d9ec200000", .unsupported), ("d74401020304", .unsupported), ("d818456449455446", .unsupported),
    ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", .unsupported),
    // Floating-point numbers.
    ("f90000", .unsupported), ("f98000", .unsupported), ("f93c00", .unsupported), ("fb3ff199999999999a", .unsupported),
    ("f93e00", .unsupported), ("f97bff", .unsupported), ("fa47c35000", .unsupported), ("fa7f7fffff", .unsupported),
    ("fb7e37e43c8800759c", .unsupported), ("f90001", .unsupported), ("f90400", .unsupported),
    ("f9c400", .unsupported), ("fbc010666666666666", .unsupported), ("f97c00", .unsupported),
    ("f97e00", .unsupported), ("f9fc00", .unsupported), ("fa7f800000", .unsupported), ("fa7fc00000", .unsupported),
    ("faff800000", .unsupported), ("fb7ff0000000000000", .unsupported), ("fb7ff8000000000000", .unsupported),
    ("fbfff0000000000000", .unsupported),
    // Simple values.
    ("f7", .unsupported), ("f0", .unsupported), ("f8ff", .unsupported),
    // Lengths that only a later byte tells.
    ("5f42010243030405ff", .indefiniteLength), ("7f657374726561646d696e67ff", .indefiniteLength),
    ("9fff", .indefiniteLength), ("9f018202039f0405ffff", .indefiniteLength), ("9f01820203820405ff", .indefiniteLength),
    ("83018202039f0405ff", .indefiniteLength), ("83019f0203ff820405", .indefiniteLength),
    ("9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", .indefiniteLength),
    ("bf61610161629f0203ffff", .indefiniteLength), ("826161bf61626163ff", .indefiniteLength),
    ("bf6346756ef563416d7421ff", .indefiniteLength),
    // Appendix F and beyond.
    ("", .incomplete), ("18", .incomplete), ("19", .incomplete), ("1a0000", .incomplete), ("41", .incomplete),
    ("61", .incomplete), ("81", .incomplete), ("a1", .incomplete), ("a100", .incomplete), ("a2000000", .repeatedKey),
    ("5bffffffffffffffff00", .incomplete), ("9bffffffffffffffff00", .incomplete), ("bb0000000100000000", .unsupported),
    ("1c", .unsupported), ("3d", .unsupported), ("5e", .unsupported), ("ff", .indefiniteLength),
    ("0000", .trailingBytes), ("f5f5", .trailingBytes), ("1817", .notShortest), ("190018", .notShortest),
    ("1900ff", .notShortest), ("1a0000ffff", .notShortest), ("1b00000000ffffffff", .notShortest),
    ("580141", .notShortest), ("61ff", .invalidUTF8), ("62c328", .invalidUTF8), ("63eda080", .invalidUTF8),
    ("a2010201ff", .repeatedKey), ("a26161016161f5", .repeatedKey), ("818181818181818100", .tooDeep),
  ]

  @Test(arguments: accepted)
  func `values of authenticators are read`(text: String, value: CBORValue) throws {
    let bytes = try #require(Hex.bytes(text))
    #expect(try CBORReader.value(of: bytes) == value)
    for count in 0..<bytes.count {
      #expect(throws: CBORError.self) { try CBORReader.value(of: Array(bytes.prefix(count))) }
    }
    #expect(throws: CBORError.trailingBytes) { try CBORReader.value(of: bytes + [0]) }
  }

  @Test(arguments: refused)
  func `other bytes are refused`(text: String, reason: CBORError) throws {
    let bytes = try #require(Hex.bytes(text))
    #expect(throws: reason) { try CBORReader.value(of: bytes) }
  }

  @Test func `depth and length have limits`() throws {
    let deepest = [UInt8](repeating: 0x81, count: CBORReader.maxDepth - 1) + [0]
    #expect(throws: Never.self) { try CBORReader.value(of: deepest) }
    #expect(throws: CBORError.tooDeep) { try CBORReader.value(of: [0x81] + deepest) }
    let longest = [0x59, 0xff, 0xfd] + [UInt8](repeating: 0, count: CBORReader.maxBytes - 3)
    #expect(throws: Never.self) { try CBORReader.value(of: longest) }
    #expect(throws: CBORError.tooLong) { try CBORReader.value(of: longest + [0]) }
    let nested = [UInt8](repeating: 0x81, count: CBORReader.maxBytes)
    #expect(throws: CBORError.tooDeep) { try CBORReader.value(of: nested) }
  }

  @Test func `numbers beyond Int are no Int`() {
    #expect(CBORValue.unsigned(.max).int == nil && CBORValue.negative(.max).int == nil)
    #expect(CBORValue.negative(6).int == -7 && CBORValue.negative(256).int == -257)
    #expect(CBORValue.negative(UInt64(Int.max)).int == .min)
  }
}
