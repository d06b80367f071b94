import ParleyModel
import Testing

@testable import Community

@Suite struct ContactAddressTests {
  @Test(arguments: [
    ("Ada@Example.ORG", "mailto:ada@example.org"), ("  ada+news@example.org ", "mailto:ada+news@example.org"),
    ("用户@例子.广告", "mailto:用户@例子.广告"), ("+49 (0)30 1234", "tel:+490301234"),
    ("+49 30-12.34/56", "tel:+4930123456"), ("0049 30 123456", "tel:+4930123456"), ("+12025550123", "tel:+12025550123"),
  ])
  func `an address has one spelling`(text: String, expected: String) {
    #expect(ContactAddress(text)?.text == expected)
  }

  @Test(arguments: [
    "", " ", "@", "ada@", "@example.org", "ada@example", "ada@.org", "ada@example.org.", "a@b@c.org",
    "a da@example.org",
    "ada@exam\u{0}ple.org", "ada@example.org\n", "12345678", "030 123456", "+49", "+1234567890123456", "+0123456789",
    "++4930123456", "+49x30123456", "49+30123456", "ada", "00", "\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}\u{667}",
    String(repeating: "x", count: 250) + "@example.org",
  ])
  func `an invalid address is refused`(text: String) {
    #expect(ContactAddress(text) == nil)
  }

  @Test func `the digest of an address depends on the key`() throws {
    let address = try #require(ContactAddress("ada@example.org"))
    let digest = try address.digest("one")
    #expect(digest.count == 32)
    let loud = try #require(ContactAddress("ADA@example.org"))
    #expect(try loud.digest("one") == digest)
    #expect(try address.digest("two") != digest)
  }
}
