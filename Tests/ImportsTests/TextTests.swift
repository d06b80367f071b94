import ParleyJSON
import Testing

@testable import Imports

@Suite struct TextTests {
  /// A text with `@user` for mentions.
  static func shown(_ text: SourceText) -> String {
    text.parts.map { part in
      switch part {
      case .markdown(let markdown): markdown
      case .mention(let user, let name): "@\(user)(\(name))"
      }
    }.joined()
  }

  @Test(arguments: [
    ("plain", "plain"), ("*bold* and _italic_", "**bold** and *italic*"), ("~gone~", "~~gone~~"),
    ("2*3*4 a_b_c", #"2\*3\*4 a\_b\_c"#), ("* no bold *", #"\* no bold \*"#), ("*a\nb*", "\\*a\nb\\*"),
    ("`a *b* &lt;`", "`a *b* <`"), ("```\nlet a = 1\n```", "```\nlet a = 1\n```"),
    ("```a *b*```x", "```\na *b*\n```\nx"),
    ("<https://a.example/x|A [link]>", #"[A \[link\]](https://a.example/x)"#),
    ("<https://a.example>", "https://a.example"),
    ("<javascript:alert(1)|x>", "x"), ("<@U1> <@U9|Nine>", "@U1(Ada) @U9(Nine)"), ("<#C1|general>", "\\#general"),
    ("<!here> <!subteam^S1|@weavers> <!date^1^{date}|today>", "@here @weavers today"),
    ("a &lt;b&gt; &amp; &amp;lt;", "a <b> & &lt;"),
    ("[x](y)", #"\[x\](y)"#), ("*<https://a.example|A>*", "**[A](https://a.example)**"), ("&gt; quoted", "> quoted"),
    ("<", "<"),
    ("*", #"\*"#), ("`", "`"), ("```", "```"), ("<@>", "@()"),
  ]) func `mrkdwn becomes Markdown`(mrkdwn: String, markdown: String) {
    let users = ["U1": SourceUser("U1", name: "ada", displayName: "Ada")]
    #expect(Self.shown(SlackText(mrkdwn, users).converted) == markdown)
  }

  @Test func `texts of Discourse keep their quotations, mentions and uploads`() {
    var text = DiscourseText(
      "Hi @Ada, mail@ada.example ![a|1x2](upload://abc.png) [b.pdf|attachment](upload://d.pdf) (1 KB) `@ada`")
    text.replaceUploads { key, label, isPicture in isPicture ? "<\(key) \(label)>" : "<<\(key)>>" }
    let shown = Self.shown(text.converted { $0.lowercased() == "ada" ? "1" : nil })
    #expect(shown == "Hi @1(Ada), mail@ada.example <abc a> <<d>> `@ada`")
    #expect(
      Self.shown(DiscourseText("[quote=\"ada, post:1\"]\nA\n[quote]\nB\n[/quote]\n[/quote]\nC").converted { _ in nil })
        == "> **ada**:\n> A\n> > B\n> \n\nC")
    #expect(DiscourseText.hashtag("wool-care") == "#wool_care")
    #expect(DiscourseText.hashtag("123") == nil)
    #expect(DiscourseText.withoutTags("All <b>crafts</b> > 1") == "All crafts > 1")
  }

  @Test func `short addresses of uploads are a SHA-1 in base 62`() {
    // From the tests of Discourse.
    #expect(ShortAddress.encoded(hex: "bda2c513e1da04f7b4e99230851ea2aafeb8cc4e") == "r3AYqESanERjladb4vBB7VsMBm6")
    #expect(ShortAddress.encoded(hex: "") == "")
  }

  @Test func `a message of Discord keeps its mentions, emoji and times`() throws {
    let json = """
      {"id":"2","type":"Default","timestamp":"2020-01-01T00:00:00Z","author":{"id":"1","name":"ada"},
       "content":"<@1> <@!3> @Grace H, <a:Party_Parrot:9> <t:0:R> <@&7> <x> @nobody",
       "mentions":[{"id":"3","name":"grace","nickname":"Grace H"}]}
      """
    let message = try DiscordPost(
      try JSONValue(parsing: Array(json.utf8)), "a.json", SourceClock(now: 1_600_000_000_000))
    #expect(
      Self.shown(message.text(of: [:]))
        == "@1(1) @3(Grace H) @3(Grace H), :party_parrot: 1970-01-01 00:00 UTC @7 <x> @nobody")
  }

  @Test func `colours have a hue, besides grey`() {
    #expect(Hue.of(hex: "#ff0000") == 0)
    #expect(Hue.of(hex: "#00ff00") == 120)
    #expect(Hue.of(hex: "#0000FF") == 240)
    #expect(Hue.of(hex: "#ff00ff") == 300)
    for text in ["#888888", "#000000", "", "#12", "red", "#gggggg"] { #expect(Hue.of(hex: text) == nil) }
  }

  @Test func `names of reactions become emoji`() {
    #expect(EmojiNames.action("+1") == "reaction:👍")
    #expect(EmojiNames.action("thumbsup::skin-tone-3") == "reaction:👍🏼")
    #expect(EmojiNames.action("Party Parrot!") == "reaction::partyparrot:")
    #expect(EmojiNames.action("") == "reaction:👍")
    #expect(EmojiNames.custom("é") == "emoji-")
  }

  @Test func `names stay inside of their folder`() {
    for name in ["a", "a/b", "a b.png", "ä", "..a", "a.."] { #expect(SafePath.isSafe(name), "\(name)") }
    for name in ["", "/a", "../a", "a/../b", "a/./b", "a\\b", "a\u{0}b", String(repeating: "a", count: 1_025)] {
      #expect(!SafePath.isSafe(name), "\(name)")
    }
  }

  @Test func `a title is the first line with words`() {
    #expect(Markdown.title("\n## Hello\nWorld") == "Hello")
    #expect(Markdown.title(" \n") == nil)
    #expect(Markdown.title(String(repeating: "word ", count: 40))?.hasSuffix("word…") == true)
  }

  /// Without a limit for the end of a mark, a message like these takes minutes.
  @Test(arguments: ["*a ", "_a ~b ", "<a "]) func `marks without an end take no quadratic time`(mark: String) {
    let text = String(repeating: mark, count: 4_000)
    #expect(!Self.shown(SlackText(text, [:]).converted).isEmpty)
  }
}
