import Foundation
import ParleyMarkup
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Bodies in the formats of Slack and Discord, as Markdown.
@Suite struct WebhookFormatTests {
  /// Rows: mrkdwn, Markdown.
  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("*bold*", "**bold**"), ("a *b c* d", "a **b c** d"), ("**strong**", "**strong**"),
    ("_it_ ~gone~", "_it_ ~~gone~~"), ("~~gone~~", "~~gone~~"), ("2*3*4", "2*3*4"), ("* item", "* item"),
    ("*open", "*open"), ("*a\nb*", "*a\nb*"), ("* a*", "* a*"), ("*a *", "*a *"), ("(*b*), *c*.", "(**b**), **c**."),
    ("太*粗*字", "太**粗**字"), ("*a* *b*", "**a** **b**"), ("*a*b*", "**a*b**"), ("**", "**"), ("*", "*"), ("***", "***"),
    ("<https://a.example>", "<https://a.example>"), ("<https://a.example|the log>", "[the log](https://a.example)"),
    ("<https://a.example/?a=1&amp;b=2|x>", "[x](https://a.example/?a=1&b=2)"),
    ("<https://a.example/(x)|x>", "[x](https://a.example/%28x%29)"),
    ("<https://a.example|a]b*c>", "[a\\]b\\*c](https://a.example)"),
    ("<https://a.example|>", "<https://a.example>"), ("<mailto:ada@a.example|ada@a.example>", "<mailto:ada@a.example>"),
    ("<javascript:alert(1)|x>", "\\<javascript:alert(1)|x>"), ("<@U1|grace>", "@grace"), ("<@U1>", "@U1"),
    ("<#C1|general>", "#general"), ("<!here> <!channel|x> <!everyone>", "@room @room @room"),
    ("<!subteam^S1|@team>", "\\@team"), ("<!date^1^{date}|27 Nov>", "27 Nov"), ("a < b", "a \\< b"), ("<", "\\<"),
    ("<<https://a.example>>", "\\<<https://a.example>>"), ("<>", "\\<>"),
    ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 &lt; 2 &amp;&amp; 3 &gt; 2"), ("&gt; quote\n&gt;more", "> quote\n> more"),
    ("`a &lt; *b*`", "`a < *b*`"), ("`open", "`open"), ("```a &amp; b```", "```a & b```"),
    ("```a\n*b*```", "```\na\n*b*\n```"), ("see\n```\na\n```\nend", "see\n```\na\n```\nend"),
    ("see ```a\nb``` end", "see \n```\na\nb\n```\n end"), ("```open", "```open"), ("``````", "``````"),
    ("• one\n• two", "- one\n- two"), ("a • b", "a • b"), ("[text](https://a.example)", "[text](https://a.example)"),
    ("*👍🏽 déjà*", "**👍🏽 déjà**"), ("@grace", "\\@grace"), ("“@room", "“\\@room"),
    ("`@room` a@b.example", "`@room` a@b.example"), ("\\@room", "\\@room"), ("\\`@room`", "\\`\\@room`"),
  ])
  func `Slack's mrkdwn becomes Markdown`(text: String, expected: String) {
    #expect(MarkdownText.settlingMentions(SlackMarkup.markdown(text)) == expected)
  }

  /// Rows: a text; what readers see of it is the same.
  @Test(arguments: [
    "plain", "*a* _b_ ~~c~~ `d` ||e||", "# title", "#tag and @grace and @room", "1. one", "12) b", "- a\n+ b\n* c",
    "> quote", "<https://x.example>", "[a](https://b.example)", "a\\b", "&lt;&amp;", "snake_case_name", "_edge_", "___",
    "| a | b |\n|---|---|", "a@b.example", "==", "---", "  - indented", "漢字*強*", "1.5 and 2. and 3)", "“@grace",
    "🚨@room", "通知@ada", "“#tag", "通知#tag", "“_x_”", "déjà_vu_x", "_通知_",
  ])
  func `an escaped text has no markup and no entities`(text: String) {
    let document = MarkupDocument(MarkdownText.escaped(text))
    let shown = document.plainText(limit: 1_000).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(shown == text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    #expect(document.entities.allSatisfy { $0.kind == .link }, "\(document.entities)")
  }

  private static func slack(_ json: String) throws -> String {
    try message(json, .slack)
  }

  private static func discord(_ json: String) throws -> String {
    try message(json, .discord)
  }

  private static func message(_ json: String, _ format: WebhookFormat) throws -> String {
    let body = try WebhookBody(Array(json.utf8), format)
    return body.message(named: body.name ?? "", cutTo: Bounds(), Bounds())
  }

  @Test func `blocks become Markdown in place of the text`() throws {
    let json = #"""
      {"text": "fallback", "blocks": [
        {"type": "header", "text": {"type": "plain_text", "text": "Deploy *1*"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*ok* <https://a.example|log>"},
         "fields": [{"type": "mrkdwn", "text": "*Who*\nada"}, {"type": "plain_text", "text": "#1"}],
         "accessory": {"type": "button", "url": "https://b.example", "text": {"type": "plain_text", "text": "Open"}}},
        {"type": "divider"},
        {"type": "image", "image_url": "https://a.example/p.png", "alt_text": "plot"},
        {"type": "context", "elements": [{"type": "image", "image_url": "https://a.example/i.png", "alt_text": "i"},
          {"type": "mrkdwn", "text": "by ~nobody~"}]},
        {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Roll back"}},
          {"type": "button", "url": "https://c.example", "text": {"type": "plain_text", "text": "Go"}}]},
        {"type": "markdown", "text": "**as is**"}, {"type": "input"}, {"type": 7}, "x", null
      ]}
      """#
    #expect(
      try Self.slack(json) == """
        ### Deploy \\*1\\*

        **ok** [log](https://a.example)
        **Who**
        ada
        \\#1
        [Open](https://b.example)

        ---

        [plot](https://a.example/p.png)

        [i](https://a.example/i.png) · by ~~nobody~~

        [Go](https://c.example)

        **as is**
        """)
    #expect(try Self.slack(#"{"text":"*a*","blocks":[{"type":"file"}]}"#) == "**a**")
    #expect(try Self.slack(#"{"text":"*a*","blocks":[]}"#) == "**a**")
  }

  @Test func `rich text becomes Markdown`() throws {
    let json = #"""
      {"blocks": [{"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": [
          {"type": "text", "text": "plain "}, {"type": "text", "text": "bold ", "style": {"bold": true}},
          {"type": "text", "text": "both", "style": {"bold": true, "italic": true, "strike": true}},
          {"type": "text", "text": " x*y", "style": {"code": true}}, {"type": "emoji", "name": "tada", "unicode": "1f389"},
          {"type": "emoji", "name": "parrot"}, {"type": "link", "url": "https://a.example", "text": "log"},
          {"type": "user", "user_id": "U1"}, {"type": "text", "text": " "}, {"type": "broadcast", "range": "here"}]},
        {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": [
          {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
          {"type": "rich_text_section", "elements": [{"type": "text", "text": "two\nlines"}]}]},
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 2, "elements": [
          {"type": "rich_text_section", "elements": [{"type": "text", "text": "three"}]}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said\nso"}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a ``` b"}]}
      ]}]}
      """#
    #expect(
      try Self.slack(json) == """
        plain **bold** ~~***both***~~ `x*y`🎉:parrot:[log](https://a.example)@U1 @room
        - one
        - two lines
           3. three
        > said
        > so
        ````
        a ``` b
        ````
        """)
  }

  @Test func `attachments become quotes`() throws {
    let json = #"""
      {"text": "", "attachments": [{"color": "danger", "pretext": "*now*", "author_name": "CI", "title": "Build 8",
        "title_link": "https://a.example", "text": "line\nline", "fields": [{"title": "Tests", "value": 12, "short": true},
        {"title": "Log", "value": "a\nb"}], "image_url": "https://a.example/p.png", "footer": "ci"},
        {"fallback": "only *this*"}, {"color": "good"}]}
      """#
    #expect(
      try Self.slack(json) == """
        **now**
        > CI
        > **[Build 8](https://a.example)**
        > line
        > line
        > **Tests** 12
        > **Log**
        > a
        > b
        > <https://a.example/p.png>
        > ci

        only \\*this\\*
        """)
  }

  @Test func `Discord's content and embeds become Markdown`() throws {
    let json = #"""
      {"content": "**hi** <:parrot:123> <a:wave:4> <t:1800000000:R>\n-# small <https://a.example> <@5> <t:x>",
       "username": "CI", "avatar_url": "https://a.example/a.png", "tts": false, "embeds": [
        {"title": "Build", "url": "https://a.example", "description": "done", "color": 5, "author": {"name": "ada_l*"},
         "fields": [{"name": "Tests", "value": "12", "inline": true}, {"name": "", "value": "x"}],
         "image": {"url": "https://a.example/p.png"}, "footer": {"text": "ci"}, "timestamp": "2026-11-20T14:14:13.011Z"},
        {"color": 3}], "components": null, "flags": 4}
      """#
    #expect(
      try Self.discord(json) == """
        **hi** :parrot: :wave: 2027-01-15 08:00 UTC
        small <https://a.example> <@5> <t:x>

        > ada_l\\*
        > **[Build](https://a.example)**
        > done
        > **Tests** 12
        > x
        > <https://a.example/p.png>
        > ci
        """)
    #expect(try WebhookBody(Array(json.utf8), .discord).name == "CI")
    #expect(try Self.discord("{}") == "")
  }

  @Test func `conversion takes linear time`() throws {
    let patterns = [
      "*a ", "*", "~a", "`", "```", "``` ", "<", "<a|", "<https://a.example|", "&gt;", "• ", "\n*", "* *a",
    ]
    for pattern in patterns {
      let text = String(repeating: pattern, count: 250_000 / pattern.utf8.count)
      let markdown = SlackMarkup.markdown(text)
      #expect(markdown.utf8.count <= text.utf8.count * 3, "\(pattern)")
      #expect(DiscordMessage.markdown(text).utf8.count <= text.utf8.count)
      #expect(MarkdownText.escaped(text).utf8.count <= text.utf8.count * 2)
    }
  }

  /// Minutes, if the scalars of the label were counted anew for each of them.
  @Test func `labels are cut in linear time`() throws {
    let label = String(repeating: "é ", count: 83_000)
    let cut = String(repeating: "é ", count: 500).dropLast()
    #expect(SlackMarkup.markdown("<https://a.example|\(label)>") == "[\(cut)](https://a.example)")
    #expect(
      try Self.slack(#"{"attachments":[{"title":"\#(label)","title_link":"https://a.example"}]}"#)
        == "> **[\(cut)](https://a.example)**")
    let image = #"{"type":"image","image_url":"https://a.example","alt_text":"\#(label)"}"#
    #expect(try Self.slack(#"{"blocks":[\#(image)]}"#) == "[\(cut)](https://a.example)")
  }

  /// Rows: the text outside of references, what becomes of its mentions.
  @Test(arguments: [
    (#"{"text":"<@grace> @ada @room"}"#, #"@grace \@ada \@room"#),
    (#"{"text":"@ada <!here>","link_names":1}"#, "@ada @room"), (#"{"text":"@ada","link_names":true}"#, "@ada"),
    (#"{"text":"@ada","link_names":0}"#, #"\@ada"#), (#"{"text":"@ada","mrkdwn":false,"link_names":1}"#, #"\@ada"#),
    (#"{"blocks":[{"type":"markdown","text":"`@ada` @room"}]}"#, #"`@ada` \@room"#),
    (##"{"text":"\u0000room <@grace|@room>"}"##, "room @room"),
    (
      #"{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":["#
        + #"{"type":"emoji","name":"x","unicode":"40-72-6f-6f-6d"}]}]}]}"#, #"\@room"#
    ),
  ])
  func `only references of Slack's format are mentions`(json: String, expected: String) throws {
    #expect(try Self.slack(json) == expected)
  }

  /// Rows: `allowed_mentions`, what becomes of the mentions.
  @Test(arguments: [
    ("null", "@ada @grace @room"), (#"{"parse":[]}"#, #"\@ada \@grace \@room"#), ("{}", #"\@ada \@grace \@room"#),
    (#"{"parse":["users"]}"#, #"@ada @grace \@room"#), (#"{"parse":["everyone"]}"#, #"\@ada \@grace @room"#),
    (#"{"users":["Grace"]}"#, #"\@ada @grace \@room"#), (#"{"parse":["roles","everyone"]}"#, "@ada @grace @room"),
  ])
  func `Discord's allowed mentions are kept`(allowed: String, expected: String) throws {
    let embeds = #"[{"description":"@ada"}]"#
    let json = #"{"content":"@ada @grace @room","embeds":\#(embeds),"allowed_mentions":\#(allowed)}"#
    #expect(try Self.discord(json) == expected + "\n\n> \\@ada")
  }

  @Test func `a cut does not open a mention or make the message too long`() throws {
    let limit = Bounds().messageScalars
    let code = try Self.slack(#"{"text":"`@room \#(String(repeating: "x", count: limit))`"}"#)
    #expect(code.hasPrefix("`\\@room xx") && code.unicodeScalars.count <= limit)
    let names = try Self.slack(#"{"text":"\#(String(repeating: "@ada ", count: limit / 5))"}"#)
    #expect(names.hasPrefix("\\@ada \\@ada") && names.unicodeScalars.count <= limit)
    #expect(MarkupDocument(names).entities.isEmpty)
  }

  /// Rows: format, JSON, message.
  @Test(
    arguments: [
      (.slack, #"{"text":"&gt; a\r\n• b\r*c*\u0000"}"#, "> a\n- b\n**c**"),
      (
        .slack, #"{"blocks":[{"type":"header","text":{"type":"plain_text","text":"a\r\n# b"}}]}"#, "### a \\# b"
      ),
      (.slack, #"{"attachments":[{"text":"a\r\nb","title":"1. x\r- y"}]}"#, "> **1\\. x\n> \\- y**\n> a\n> b"),
      (.discord, #"{"content":"a\r\n-# b","embeds":[{"description":"c\r\nd"}]}"#, "a\nb\n\n> c\n> d"),
    ] as [(WebhookFormat, String, String)])
  func `all line ends are those of Markdown`(format: WebhookFormat, json: String, expected: String) throws {
    #expect(try Self.message(json, format) == expected)
  }

  @Test func `the formats answer in their own way`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = try await WebhookTests.create(in: room, of: village).path
      #expect(try await village.request(.post, path + "?format=slack", ["text": "a"]).text == "ok")
      let quiet = try await village.request(.post, path + "?format=discord", ["content": "b"])
      #expect(quiet.status == 204 && quiet.body.isEmpty)
      let waited = try await village.request(.post, path + "?format=discord&wait=true&thread_id=7", ["content": "c"])
      #expect(waited.status == 200 && waited["text"] == "c")
      let native = try await village.request(.post, path + "?format=markdown", ["text": "*d* <x|y>"])
      #expect(native.status == 201 && native["text"] == "*d* <x|y>")
      for (query, body) in [
        ("?format=teams", ["text": "x"]), ("?format=markdown", ["txt": "x"]), ("?format=markdown&x=1", ["text": "x"]),
        ("?format=markdown", ["text": "x", "channel": "#general"]),
      ] {
        #expect(try await village.request(.post, path + query, body).status == 400, "\(query) \(body)")
      }
    }
  }

  @Test func `forms and bodies without a type are read as Slack reads them`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = try await WebhookTests.create(in: room, of: village).path
      let form: Fields = ["Content-Type": "application/x-www-form-urlencoded"]
      func status(_ body: String, _ fields: Fields, _ query: String = "") async throws -> Int {
        try await village.send(.post, path + query, Array(body.utf8), fields: fields).status
      }
      #expect(try await status("payload=%7B%22text%22%3A%22a+%2Bb%22%7D", form) == 200)
      #expect(try await status(#"{"text":"c"}"#, form) == 200)
      #expect(try await status(#"{"text":"d"}"#, ["Content-Type": "text/plain"]) == 200)
      #expect(try await status(#"payload_json={"content":"e"}"#, form, "?format=discord") == 204)
      #expect(try await status("\r\n {\"text\":\"e2\"}", form) == 200)
      #expect(try await status("\u{feff}{\"text\":\"e3\"}", ["Content-Type": "application/json"]) == 200)
      #expect(try await status("text=f", form) == 400)
      #expect(try await status("payload=%zz", form) == 400)
      #expect(try await status("payload=x", form) == 400)
      #expect(try await status(#"{"text":"g"}"#, ["Content-Type": "text/xml"]) == 415)
      #expect(try await status(#"{"text":"h"}"#, form, "?format=markdown") == 415)
      #expect(try await status("[]", ["Content-Type": "application/json"]) == 400)
      #expect(try await status("", ["Content-Type": "application/json"]) == 400)
      let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
      #expect(try await status(#"{"text":"i","blocks":\#(deep)}"#, ["Content-Type": "application/json"]) == 400)
      let texts = try await village.request(.get, "/conversations/\(room)/messages?order=asc", as: "ada")
      #expect(texts.texts("data", "text") == ["a +b", "c", "d", "e", "e2", "e3"])
    }
  }

  @Test(arguments: [
    ("", #"{"text":""}"#), ("", #"{"text":" \n"}"#), ("", #"{}"#), ("", #"{"blocks":[{"type":"divider2"}]}"#),
    ("", #"{"username":"CI"}"#), ("?format=discord", #"{"embeds":[{}]}"#), ("?format=markdown", #"{"text":""}"#),
  ])
  func `a message without text is refused`(query: String, body: String) async throws {
    try await Village.open(.inMemory) { village in
      let path = try await WebhookTests.create(in: try await village.garden().room, of: village).path
      let refused = try await village.send(.post, path + query, Array(body.utf8))
      #expect(refused.status == 400 && refused["errors.0.field"] == "text", "\(refused.text)")
      #expect(refused["errors.0.code"] == "too_short")
    }
  }

  @Test func `a long text is cut in the formats of others and refused in Parley's own`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = try await WebhookTests.create(in: room, of: village).path
      let text = String(repeating: "é", count: 20_000)
      try await village.expect(200, .post, path, ["text": text])
      try await village.expect(204, .post, path + "?format=discord", ["content": text])
      let refused = try await village.request(.post, path + "?format=markdown", ["text": text])
      #expect(refused.status == 400 && refused["errors.0.code"] == "too_long")
      let shown = try await village.request(.get, "/conversations/\(room)/messages", as: "ada")
      for cut in shown.texts("data", "text") {
        #expect(cut?.unicodeScalars.count == 16_000 && cut?.hasSuffix("é…") == true)
      }
    }
  }

  /// Rows: the name that the sender sets, the first line of the message.
  @Test(arguments: [
    ("CI", "**CI**\n"), ("Builds", ""), (" Builds ", ""), ("", ""), ("a*b\n@room", "**a\\*b \\@room**\n"),
    ("\u{202e}x\u{7}", "**x**\n"), ("👩🏽‍🚀", "**👩🏽‍🚀**\n"),
  ])
  func `a name of the sender is the first line of the message`(name: String, line: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = try await WebhookTests.create("Builds", in: room, of: village).path
      try await village.expect(200, .post, path, ["text": "x", "username": name])
      let shown = try await village.request(.get, "/conversations/\(room)/messages", as: "ada")
      #expect(shown["data.0.text"] == line + "x")
    }
  }

  @Test func `mentions notify as those of a member`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "members", members: ["grace"]).room
      let path = try await WebhookTests.create(in: room, of: village).path
      try await village.expect(200, .post, path, ["text": "<@grace> look"])
      let inbox = try await village.request(.get, "/inbox?kind=mention", as: "grace")
      #expect(inbox.count("data") == 1)
      // Moderators alone notify the whole room.
      try await village.expect(200, .post, path, ["text": "<!channel> look"])
      #expect(try await village.request(.get, "/inbox?kind=room", as: "grace").count("data") == 0)
    }
  }
}
