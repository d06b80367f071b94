import ParleyModel
import Testing

@Suite struct MailAddressTests {
  @Test(arguments: ["ada@example.org", "a.b+c@sub.example.org", "A_1@EXAMPLE.org", "x@xn--grn-2oa.example"])
  func `addresses`(text: String) throws {
    let address = try #require(MailAddress(text))
    #expect(address.description.lowercased() == text.lowercased() && address.domain == address.domain.lowercased())
  }

  @Test(arguments: [
    "", "@", "ada", "ada@", "@example.org", "ada@localhost", "ada@-x.org", "ada@x-.org", "ada@x..org", ".ada@x.org",
    "a..b@x.org", "ada@@x.org", "a b@x.org", "\"a\"@x.org", "a(b)@x.org", "ada@x.org\r\n", "<ada@x.org>",
    "ada@gärten.org", "ada@\u{212A}.org", "ad\u{E9}@x.org", "ada@x.org\u{301}", "ada@x.127", "ada@127.0.0.1",
    "a\0@x.org", "ada@[127.0.0.1]", String(repeating: "a", count: 65) + "@x.org",
    "a@" + String(repeating: "b.", count: 130) + "org",
  ])
  func `no address`(text: String) {
    #expect(MailAddress(text) == nil)
  }
}
