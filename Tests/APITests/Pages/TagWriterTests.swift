import Testing

@testable import API

@Suite struct TagWriterTests {
  private func written(_ form: TagWriter.Form = .html, _ write: (inout TagWriter) -> Void) -> String {
    var writer = TagWriter(form)
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("</p><script>alert(1)</script>", "&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("\" onload='x'", "&quot; onload=&#39;x&#39;"), ("&lt; &amp;", "&amp;lt; &amp;amp;"), ("a\tb\nc", "a\tb\nc"),
    ("\u{0}\u{8}\u{1b}\u{7f}\r", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
    ("x\u{fffe}\u{ffff}y\u{fffd}", "x\u{fffd}\u{fffd}y\u{fffd}"), ("né 🎉 عمر", "né 🎉 عمر"), ("", ""),
  ])
  func `text and attributes are escaped in the same way`(text: String, escaped: String) {
    #expect(written { $0.text(text) } == escaped)
    #expect(written { $0.tag("p", ["title": text], text) } == "<p title=\"\(escaped)\">\(escaped)</p>")
    #expect(written(.xml) { $0.tag("a", [:], text) } == "<a>\(escaped)</a>")
  }

  @Test func `elements nest, attributes without a value are omitted, and XML closes empty elements`() {
    let html = written { html in
      html.tag("ul", ["class": nil, "id": "a"]) { html in
        html.tag("li") { $0.void("img", ["alt": ""]) }
        html.tag("li", [:], "x")
      }
    }
    #expect(html == "<ul id=\"a\"><li><img alt=\"\"></li><li>x</li></ul>")
    #expect(written(.xml) { $0.void("link", ["href": "/"]) } == "<link href=\"/\"/>")
  }

  @Test func `a noncharacter before the last text stays as it was written`() {
    let html = written { html in
      html.trusted("\u{ffff}")
      html.text("b")
    }
    #expect(html == "\u{ffff}b")
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1_000, "1.0 KB"), (5_230_000, "5.2 MB"), (12_345_678, "12 MB"),
    (3_000_000_000_000, "3.0 TB"),
  ])
  func `sizes are short`(bytes: Int, text: String) {
    #expect(Village.languages.fallbackWords.size(bytes) == text)
  }

  @Test func `numbers are grouped, and dates are in English`() {
    let words = Village.languages.fallbackWords
    #expect([0, 999, 1_042, 1_234_567].map(words.grouped) == ["0", "999", "1,042", "1,234,567"])
    #expect(words.minute(1_777_842_240_000) == "3 May 2026, 21:04")
    #expect(words.posts(1) == "1 post" && words.posts(46) == "46 posts")
    #expect(words.topics(1_000) == "1,000+ topics")
  }

  @Test(arguments: [
    ("Garden", "12-garden"), ("When do you plant out tomatoes?", "12-when-do-you-plant-out-tomatoes"),
    ("Café  au lait", "12-cafe-au-lait"), ("???", "12"), ("../..//x", "12-x"), ("A\"b<c>", "12-a-b-c"),
    ("霜", "12-%E9%9C%9C"), (String(repeating: "x", count: 120), "12-" + String(repeating: "x", count: 60)),
  ])
  func `an address has the words of the title`(title: String, slug: String) {
    #expect(PageAddress.slug("12", title) == slug)
  }

  @Test func `the address to return to is one encoded parameter`() {
    #expect(PageAddress.signIn(back: "/t/1?from=2&x=#m3") == "/sign-in?back=/t/1%3Ffrom%3D2%26x%3D%23m3")
    #expect(PageAddress.signUp(back: "/") == "/sign-in?new&back=/")
  }
}
