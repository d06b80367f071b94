import ParleyCrypto
import Testing

@Suite struct HMACTests {
  /// RFC 4231 §4, cases 1 to 4, 6 and 7.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131),
      "This is a test using a larger than block-size key and a larger than block-size data. "
        + "The key needs to be hashed before being used by the HMAC algorithm.",
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ])
  func `codes match the published vectors`(key: [UInt8], text: String, code: String) throws {
    #expect(Hex.text(try HMAC.sha256(of: [UInt8](text.utf8), key: key)) == code)
  }

  @Test func `codes of binary input match the published vectors`() throws {
    let third = try HMAC.sha256(of: [UInt8](repeating: 0xdd, count: 50), key: [UInt8](repeating: 0xaa, count: 20))
    #expect(Hex.text(third) == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")
    let fourth = try HMAC.sha256(of: [UInt8](repeating: 0xcd, count: 50), key: (1...25).map { UInt8($0) })
    #expect(Hex.text(fourth) == "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b")
  }

  @Test func `an empty key and an empty text have a code`() throws {
    #expect(
      Hex.text(try HMAC.sha256(of: [], key: [])) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }
}
