import ParleyCrypto
import Testing

@Suite struct BytesTests {
  @Test func `random bytes have the requested count and do not repeat`() throws {
    for count in [0, 1, 31, 32, 1_000] { #expect(try SecureRandom.bytes(count).count == count) }
    let drawn = try (0..<1_000).map { _ in try SecureRandom.bytes(16) }
    #expect(Set(drawn).count == 1_000)
    #expect(Set(drawn.joined()).count == 256)
  }

  @Test(arguments: [-1, .min, Int(Int32.max) + 1])
  func `an invalid count of random bytes is an error`(count: Int) {
    #expect(throws: CryptoError.self) { try SecureRandom.bytes(count) }
  }

  @Test func `a difference in any byte is found`() {
    let secret = (0..<32).map { UInt8($0) }
    #expect(ConstantTime.isEqual(secret, secret))
    #expect(ConstantTime.isEqual([], []))
    #expect(!ConstantTime.isEqual(secret, []))
    #expect(!ConstantTime.isEqual(secret, Array(secret.dropLast())))
    for index in secret.indices {
      var other = secret
      other[index] ^= 0x80
      #expect(!ConstantTime.isEqual(secret, other))
    }
  }

  @Test func `every byte round-trips`() {
    let all = (0...255).map { UInt8($0) }
    #expect(Hex.bytes(Hex.text(all)) == all)
    #expect(Hex.bytes(Hex.text(all).uppercased()) == all)
    #expect(Hex.text([0x00, 0x0f, 0xa5, 0xff]) == "000fa5ff")
    #expect(Hex.bytes("") == [])
  }

  @Test(arguments: ["0", "0g", "g0", "000", " 00", "00 ", "0x00", "é", "/0", ":0", "@0", "`0"])
  func `text other than pairs of digits is rejected`(text: String) {
    #expect(Hex.bytes(text) == nil)
  }
}
