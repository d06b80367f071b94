import Foundation
import TestSupport
import Testing

@testable import Previews

/// Metadata of pages in all formats.
@Suite struct PageMetadataTests {
  private static func facts(_ page: String, charset: String? = nil) -> PageMetadata {
    PageMetadata(page: Array(page.utf8), charset: charset)
  }

  @Test(
    arguments: [
      ("<title>Rose</title>", "Rose"), ("<TITLE\n>Rose\n  garden </TiTlE >", "Rose garden"), ("<title>Rose", "Rose"),
      ("<title>A <b> &amp; c</title>", "A <b> & c"), ("<title></title><title>Rose</title>", nil), ("", nil),
      ("Rose", nil),
      ("<meta property=og:title content=Rose>", "Rose"), ("<meta content='Rose' property='og:title'/>", "Rose"),
      ("<META Property = \"OG:Title\"  Content = \"Rose\" />", "Rose"),
      ("<meta name=twitter:title content=Rose>", "Rose"),
      ("<title>a</title><meta property=og:title content=Rose>", "Rose"),
      ("<meta name=twitter:title content=a><meta property=og:title content=Rose>", "Rose"),
      ("<meta property=og:title content=Rose><meta property=og:title content=a>", "Rose"),
      ("<meta property=og:title content=''><title>Rose</title>", "Rose"),
      ("<meta property=og:title content=' \n '><title>Rose</title>", "Rose"),
      ("<meta property=og:title content=\"a > b\">", "a > b"),
      ("<meta property=og:title content='\"Rose\"'>", "\"Rose\""),
      ("<meta content=a content=b property=og:title>", "a"), ("<metadata property=og:title content=a>", nil),
      ("<!-- <title>a</title> --><title>Rose</title>", "Rose"), ("<!--><title>Rose</title>", "Rose"),
      ("<!---><title>Rose</title>", "Rose"), ("<!-- --!><title>Rose</title>", "Rose"),
      ("<!-- <title>a</title>", nil), ("<!doctype html><?xml ?><title>Rose</title>", "Rose"),
      ("<script>'<title>a</title>'</script><title>Rose</title>", "Rose"),
      ("<script>'</scripted><title>a</title>'</script ><title>Rose</title>", "Rose"),
      ("<script src='</script>'>x</script><title>Rose</title>", "Rose"), ("<script><title>a</title>", nil),
      ("<style>/*<title>a</title>*/</style><title>Rose</title>", "Rose"),
      ("<noscript><title>a</title></noscript><title>Rose</title>", "Rose"),
      ("<svg><title>a</title></svg><title>Rose</title>", "Rose"), ("<body><title>a</title>", nil),
      ("<title>Rose</title><body><meta property=og:title content=a>", "Rose"),
      (
        "<title>R&ouml;schen &#8212; &#x1F339;&#146;s &nosuch; &amp;lt; &copy</title>",
        "Röschen — 🌹’s &nosuch; &lt; &copy"
      ),
      ("<title>&#0;&#xD800;&#1114112;&#99999999999999999999;&#</title>", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}&#"),
      ("<title>a\u{202e}b\u{0}c\u{2066}d\u{7}</title>", "abcd"), ("< title>a</ title>", nil),
      ("<title <title>Rose</title>", "Rose"),
      ("<meta property=og:title content", nil), ("<meta property=og:title content=", nil),
      ("<meta property=og:title content=\"Rose", "Rose"), ("<meta =a property=og:title content=Rose>", "Rose"),
      ("<meta/property=og:title/content=Rose>", nil),
    ] as [(String, String?)])
  func `the title is found`(page: String, title: String?) { #expect(Self.facts(page).title == title) }

  @Test func `the other metadata is found`() {
    let page = """
      <html><head><meta charset="utf-8">
      <meta property="og:site_name" content="The Garden"><meta property="og:description" content="All about\n roses.">
      <meta name="description" content="a"><meta property="og:image" content="/rose.jpg?a=1&amp;b=2">
      <meta property="og:image" content="/second.jpg">
      <link rel="alternate" type="application/json+oembed" href="https://garden.example/oembed?url=a&amp;format=json">
      <link rel=stylesheet href=a.css></head>
      """
    let facts = Self.facts(page)
    #expect(facts.title == nil && facts.siteName == "The Garden" && facts.about == "All about roses.")
    #expect(facts.picture == "/rose.jpg?a=1&b=2")
    #expect(facts.embed == "https://garden.example/oembed?url=a&format=json")
    #expect(Self.facts("<meta name=description content=Roses>").about == "Roses")
    #expect(Self.facts("<meta name=twitter:image content=r.png>").picture == "r.png")
  }

  @Test func `long text is truncated`() {
    let long = String(repeating: "rose", count: 1_000)
    #expect(Self.facts("<title>\(long)</title>").title?.unicodeScalars.count == PreviewText.maxTitle + 1)
    #expect(Self.facts("<title>\(long)</title>").title?.hasSuffix("…") == true)
    #expect(
      Self.facts("<meta name=description content='\(long)'>").about?.unicodeScalars.count == PreviewText.maxAbout + 1)
  }

  @Test(
    arguments: [
      ("utf-8", [0x52, 0xc3, 0xb6], "Rö"), ("ISO-8859-1", [0x52, 0xf6, 0x93], "Rö“"), ("windows-1252", [0x80], "€"),
      (nil, [0x52, 0xc3, 0xb6], "Rö"), (nil, [0x52, 0xf6], "Rö"), ("shift_jis", [0x83, 0x81], nil),
      ("utf-16", [0x52], "R"),
      ("utf-8", [0x52, 0xf6], "R\u{fffd}"),
    ] as [(String?, [UInt8], String?)])
  func `charsets are decoded`(charset: String?, bytes: [UInt8], title: String?) {
    let page = Array("<title>".utf8) + bytes + Array("</title>".utf8)
    #expect(PageMetadata(page: page, charset: charset).title == title)
    // Declared by the page; the Content-Type field has priority.
    guard let charset else { return }
    for meta in ["<meta charset=\(charset)>", "<meta http-equiv=Content-Type content='text/html; charset=\(charset)'>"]
    {
      #expect(PageMetadata(page: Array(meta.utf8) + page).title == title, "\(meta)")
      #expect(PageMetadata(page: Array("<meta charset=utf-16>".utf8) + page, charset: charset).title == title)
    }
  }

  @Test func `a byte order mark has priority`() {
    let page = [0xef, 0xbb, 0xbf] + Array("<meta charset=latin1><title>ö</title>".utf8)
    #expect(PageMetadata(page: page, charset: "windows-1252").title == "ö")
    #expect(PageMetadata(page: [0xfe, 0xff, 0, 0x3c]).title == nil)
  }

  /// Pages of random markup fragments are parsed to the end, in bounded time.
  @Test func `any sequence of markup fragments is parsed`() {
    let parts = [
      "<", ">", "</", "/>", "<!--", "-->", "--!>", "<!", "<?", "\"", "'", "=", " ", "&", "&#", "&#x", ";", "<title",
      "</title",
      "<meta ", "property=", "og:title", "content=", "<script", "</script", "<body", "<link", "\u{0}", "é", "charset=",
      "utf-8",
      "latin1", "<svg>", "</svg", "x", "\n",
    ].map { Array($0.utf8) }
    var random = Seeded(seed: 11)
    let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2_000
    for _ in 0..<rounds {
      var page: [UInt8] = []
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        page += parts[Int.random(in: 0..<parts.count, using: &random)]
        if Int.random(in: 0..<20, using: &random) == 0 { page.append(UInt8.random(in: 0...255, using: &random)) }
      }
      let facts = PageMetadata(page: page)
      for text in [facts.title, facts.about, facts.siteName, facts.picture] {
        #expect(text?.isEmpty != true && (text?.unicodeScalars.count ?? 0) <= PreviewText.maxAddress + 1)
      }
      #expect(PageMetadata(page: page) == facts)
    }
  }

  @Test(arguments: [
    "<", "<a ", "<!--", "<!-- -", "</", "<a b='", "<title>", "<script><", "<script></", "<meta charset=", "&#", "<a/",
    "<a =",
    "<title></", "- -", "<!--->",
  ])
  func `a megabyte of repeated markup is parsed in linear time`(part: String) {
    var page: [UInt8] = []
    while page.count < 1_000_000 { page += Array(part.utf8) }
    // CPU time of this thread, independent of other load.
    var (before, after) = (timespec(), timespec())
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
    _ = PageMetadata(page: page)
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
    // A quadratic parser takes minutes.
    #expect(after.tv_sec - before.tv_sec < 20)
  }
}
