import ParleyCrypto
import Testing

@Suite struct SealedBoxTests {
  private static func box(_ byte: UInt8 = 7) throws -> SealedBox {
    try #require(SealedBox(key: [UInt8](repeating: byte, count: SealedBox.keyBytes)))
  }

  @Test(arguments: [0, 1, 16, 20, 1_000])
  func `a sealed secret opens in its context`(count: Int) throws {
    let secret = [UInt8](repeating: 0x5a, count: count)
    let sealed = try Self.box().seal(secret, for: "totp 1")
    #expect(sealed.count == count + 29)
    #expect(try Self.box().open(sealed, for: "totp 1") == secret)
  }

  @Test func `it opens neither with another key nor in another context`() throws {
    let sealed = try Self.box().seal([1, 2, 3], for: "totp 1")
    #expect(try Self.box(8).open(sealed, for: "totp 1") == nil)
    #expect(try Self.box().open(sealed, for: "totp 2") == nil)
    #expect(try Self.box().open(sealed, for: "") == nil)
  }

  @Test func `a changed or shortened secret does not open`() throws {
    let sealed = try Self.box().seal([1, 2, 3], for: "totp 1")
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(try Self.box().open(changed, for: "totp 1") == nil)
      #expect(try Self.box().open(Array(sealed[..<index]), for: "totp 1") == nil)
    }
  }

  @Test func `the same secret is sealed differently each time`() throws {
    let sealed = Set(try (0..<100).map { _ in try Self.box().seal([1], for: "totp 1") })
    #expect(sealed.count == 100)
  }

  @Test func `a key has 32 bytes`() {
    for count in [0, 16, 31, 33] { #expect(SealedBox(key: [UInt8](repeating: 0, count: count)) == nil) }
  }

  /// The IEEE's case 2 of AES-256-GCM (McGrew and Viega, test case 14), with the nonce in the text.
  @Test func `the format is a version, a nonce, the cipher text and the tag`() throws {
    let box = try #require(SealedBox(key: [UInt8](repeating: 0, count: 32)))
    let text = try #require(Hex.bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"))
    #expect(try box.open([1] + [UInt8](repeating: 0, count: 12) + text, for: "") == [UInt8](repeating: 0, count: 16))
    #expect(try box.open([2] + [UInt8](repeating: 0, count: 12) + text, for: "") == nil)
  }
}

@Suite struct Base32Tests {
  /// RFC 4648 §10 without padding.
  @Test(arguments: [
    ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
    ("foobar", "MZXW6YTBOI"),
  ])
  func `texts match the published vectors`(plain: String, text: String) {
    #expect(Base32.text(Array(plain.utf8)) == text)
    #expect(Base32.bytes(text) == Array(plain.utf8))
    #expect(Base32.bytes(text.lowercased()) == Array(plain.utf8))
  }

  @Test(arguments: ["M", "MZX", "MZXW6Y", "M1", "M8", "MY=", "M Y", "MÜ", "MZ"])
  func `other texts have no bytes`(text: String) { #expect(Base32.bytes(text) == nil) }
}
