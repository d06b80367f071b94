import ParleyModel
import Testing

@testable import Community

@Suite struct CompiledRulesTests {
  private static func rule(_ fields: Patch<ModerationRule>, id: Int = 1) -> ModerationRule {
    fields.applied(to: ModerationRule(id: ID(id), createdBy: ID(1), createdAt: 0))
  }

  private static func matches(
    _ fields: Patch<ModerationRule>, _ text: String, links: [String] = [], mentions: Int = 0, hasPicture: Bool = false,
    earlierPosts: Int = 0
  ) throws -> Bool {
    try CompiledRules([rule(fields)]).match(
      CompiledRules.Subject(
        text: text, links: links, mentionCount: mentions, hasPicture: { hasPicture },
        isAmongFirst: { earlierPosts < $0 })) != nil
  }

  @Test(arguments: [
    ("Win FREE spins now", true), ("free  spins", true), ("frée, spins!", true), ("free, really, spins", false),
    ("freespins", false), ("a casino", true), ("casinos", false), ("the word is \u{200b}casino", true),
    ("C\u{301}asino", true), ("free free spins", true), ("日本語のカジノです", true), ("", false),
  ])
  func `words and phrases are found as whole words`(text: String, isFound: Bool) throws {
    #expect(try Self.matches([.set(\.words, ["Free Spins", "casino", "カジノ"])], text) == isFound)
  }

  @Test(arguments: [
    ("https://spam.example/x", true), ("https://www.SPAM.example.", true), ("http://a@spam.example:80?q", true),
    ("https://notspam.example", false), ("https://spam.example.org", false), ("https://x.org/spam.example", false),
    ("https://spam.example\\@x.org", true), ("mailto:a@spam.example", true), ("https://x.org#spam.example", false),
  ])
  func `domains are found with their subdomains`(link: String, isFound: Bool) throws {
    #expect(try Self.matches([.set(\.domains, ["spam.example"])], "", links: [link]) == isFound)
  }

  @Test func `all conditions of a rule have to hold`() throws {
    let rule: Patch<ModerationRule> = [
      .set(\.words, ["spam"]), .set(\.minMentions, 2), .set(\.hasPicture, true), .set(\.firstPosts, 3),
    ]
    #expect(try Self.matches(rule, "spam", mentions: 2, hasPicture: true, earlierPosts: 2))
    #expect(try !Self.matches(rule, "ham", mentions: 2, hasPicture: true, earlierPosts: 2))
    #expect(try !Self.matches(rule, "spam", mentions: 1, hasPicture: true, earlierPosts: 2))
    #expect(try !Self.matches(rule, "spam", mentions: 2, hasPicture: false, earlierPosts: 2))
    #expect(try !Self.matches(rule, "spam", mentions: 2, hasPicture: true, earlierPosts: 3))
  }

  @Test func `the strongest action goes first`() throws {
    let actions: [ModerationRule.Action] = [.report, .hold, .refuse, .hold]
    let rules = actions.enumerated().map { index, action in
      Self.rule([.set(\.words, ["spam"]), .set(\.action, action)], id: index + 1)
    }
    let subject = CompiledRules.Subject(
      text: "spam", links: [], mentionCount: 0, hasPicture: { false }, isAmongFirst: { _ in false })
    #expect(try CompiledRules(rules).match(subject)?.id == ID(3))
    #expect(try CompiledRules(Array(rules.prefix(2))).match(subject)?.id == ID(2))
  }

  /// Facts that cost a query are read only for a rule that depends on them alone.
  @Test func `facts are read only when they decide`() throws {
    let rules = CompiledRules([
      Self.rule([.set(\.words, ["spam"]), .set(\.hasPicture, true), .set(\.firstPosts, 3)])
    ])
    let subject = CompiledRules.Subject(
      text: "ham", links: [], mentionCount: 0,
      hasPicture: {
        Issue.record("the pictures were read")
        return true
      },
      isAmongFirst: { _ in
        Issue.record("the posts were counted")
        return true
      })
    #expect(try rules.match(subject) == nil)
  }

  @Test(arguments: [
    (Visibility?.some(.public), Audience.listed, "- yes - yes - - -"), (.members, .listed, "- yes - yes - - -"),
    (.private, .listed, "- - - - - - -"), (nil, .listed, "- - - - - - -"), (nil, .users, "- yes - yes - - -"),
  ])
  func `rules apply to users where others read`(visibility: Visibility?, readers: Audience, row: String) {
    let roles: [Role?] = [nil, .guest, .bot, .member, .moderator, .admin, .owner]
    let forum = visibility.map { ForumStanding(visibility: $0, role: .member) }
    let standing = Standing(kind: .channel, readers: readers, forum: forum)
    #expect(roles.map { Permissions.obeysRules($0, in: standing) ? "yes" : "-" }.joined(separator: " ") == row)
    let led = visibility.map { ForumStanding(visibility: $0, role: .moderator) }
    if let led { #expect(!Permissions.obeysRules(.member, in: Standing(kind: .room, forum: led))) }
  }
}
