import ParleyModel
import Testing

@testable import Community

@Suite struct UserNameTests {
  @Test(arguments: ["a", "ada", "Ada.Lovelace", "x-1", "1st", "a_b-c.d", String(repeating: "a", count: 64)])
  func `valid names`(text: String) {
    #expect(UserName(text)?.text == text)
    #expect(UserReference(parsing: "@" + text) == .name(text))
  }

  @Test(arguments: [
    "", " ada", "ada ", "a b", ".ada", "ada.", "a..b", "a-_b", "-", "@ada", "42", "4-2", "ada\u{0}", "аda",
    "ada\u{301}",
    "me", "ME", "Everyone", "room", "here", "nobody", "a/b", "a\nb", "ada\u{200b}", String(repeating: "a", count: 65),
  ])
  func `invalid names`(text: String) {
    #expect(UserName(text) == nil)
    #expect(UserReference(parsing: "@" + text) == nil)
  }

  @Test func `names are compared without regard to case`() {
    #expect(UserName("ADA.Lovelace")?.key == UserName("ada.LOVELACE")?.key)
  }

  @Test(arguments: [
    ("me", UserReference.me), ("7", .id(ID(7))), ("9007199254740991", .id(ID(9_007_199_254_740_991))),
  ])
  func `a user is addressed by me, a name or an id`(text: String, reference: UserReference) {
    #expect(UserReference(parsing: text) == reference)
  }

  @Test(arguments: ["", "Me", "ada", "0", "07", "-1", "+1", "9007199254740992", "1.0", " 1", "@"])
  func `invalid references to a user`(text: String) {
    #expect(UserReference(parsing: text) == nil)
  }
}
