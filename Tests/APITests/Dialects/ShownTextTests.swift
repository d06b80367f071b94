import ParleyJSON
import ParleyMarkup
import ParleyModel
import Testing

@testable import Dialects

@Suite struct ShownTextTests {
  /// The text with the entities that the site stores with it. Names with a digit are no users.
  private static func shown(_ source: String) throws -> ShownText {
    var entities = MessageEntities()
    for entity in MarkupDocument(source).entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .mention: entities.mentions.append(.init(span, name: entity.value, user: ID(7)))
      case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
      case .link: entities.links.append(.init(span, url: entity.value))
      }
    }
    return try ShownText(source, entities.stored.map { JSONRaw(trusted: Array($0.utf8)) })
  }

  @Test(arguments: [
    ("pizza *party*", "pizza *party*"), ("[a](https://b.example/c)", "a [b.example]"),
    ("x [a](https://b.example/c) y", "x a [b.example] y"), ("[b.example](https://b.example/c)", "b.example"),
    ("[Read B.example.](https://b.example/c)", "Read B.example."),
    ("[web.example](https://b.example)", "web.example [b.example]"),
    ("[b.example.org](https://b.example)", "b.example.org [b.example]"),
    ("https://b.example/c", "https://b.example/c"), ("[a](mailto:ada@b.example)", "[a](mailto:ada@b.example)"),
    ("[a](https://b.example) [c](https://d.example)", "a [b.example] c [d.example]"), ("", ""), ("a\r\nb", "a\r\nb"),
    ("🧶 [ü🧶](https://b.example) 🧶", "🧶 ü🧶 [b.example] 🧶"),
  ])
  func `links show their words and their host`(_ source: String, _ expected: String) throws {
    #expect(try Self.shown(source).text == expected)
  }

  @Test func `entities count Unicode scalars of the shown text`() throws {
    let text = try Self.shown("🧶 [a](https://b.example/c) @ada #wool https://d.example")
    #expect(text.text == "🧶 a [b.example] @ada #wool https://d.example")
    let scalars = Array(text.text.unicodeScalars)
    let slices = text.entities.map { entity in
      scalars[entity.position..<(entity.position + entity.length)].map { String($0) }.joined()
    }
    #expect(slices == ["a", "@ada", "#wool", "https://d.example"])
    guard case .link("a", "https://b.example/c", 13) = text.entities[0].kind else {
      Issue.record("\(text.entities[0])")
      return
    }
  }

  @Test(arguments: [
    ("@ada @grace wool", [true, true]), ("hey @ada", [false]), ("  @ada: @grace", [true, false]), ("#a @ada", [false]),
  ])
  func `leading mentions have only mentions before them`(_ source: String, _ expected: [Bool]) throws {
    let found = try Self.shown(source).entities.compactMap { entity in
      if case .mention(_, _, let isLeading) = entity.kind { isLeading } else { nil }
    }
    #expect(found == expected)
  }

  @Test func `HTML is escaped`() throws {
    let html = try Self.shown("<b>\n#x & \"y\" [<i>](https://b.example/?a=1&b=2)").html { _ in ("<e>", "</e>") }
    #expect(html == "&lt;b&gt;<br><e>#x</e> &amp; &quot;y&quot; <e>&lt;i&gt;</e> [b.example]")
    #expect(ShownText.attribute("a\"b<&") == "a&quot;b&lt;&amp;")
  }
}
