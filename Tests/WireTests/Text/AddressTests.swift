import ParleyWire
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    ("https://garden.example", "https://garden.example/", "https://garden.example"),
    ("HTTPS://Garden.Example:443/a?b", "https://garden.example/a?b", "https://garden.example"),
    ("http://a:8080?c", "http://a:8080/?c", "http://a:8080"),
    ("http://a:443/", "http://a:443/", "http://a:443"),
    ("ws://127.0.0.1:80/live", "ws://127.0.0.1/live", "ws://127.0.0.1"),
    ("wss://[2001:DB8::1]:444/", "wss://[2001:db8::1]:444/", "wss://[2001:db8::1]:444"),
    ("http://a:/", "http://a/", "http://a"),
    ("https://a/%41?x=%", "https://a/%41?x=%", "https://a"),
  ])
  func `an address is parsed and normalized`(_ text: String, _ written: String, _ origin: String) throws {
    let address = try #require(WebAddress(text))
    #expect(address.description == written)
    #expect(address.origin == origin)
    #expect(WebAddress(written) == address)
  }

  @Test(arguments: [
    "", "garden.example", "//garden.example", "http:", "http://", "http:///a", "http://:80/", "ftp://a/", "http://a b/",
    "http://u@a/", "http://u:p@a/", "http://a:b/", "http://a:65536/", "http://a:000080/", "http://a/#b", "http://a\\b/",
    "http://[::1/", "http://::1/", "http://[v1.a]/", "http://[1::2::3]/", "http://a/%4", "http://ä/", "http://a/ä",
    "http://a%41/", " http://a/", "http://a/\u{0}", "javascript://a/", "http://[1:2:3:4:5:6:7]/",
    "http://[1:2:3:4:5:6:7:8:9]/", "http://[1:2:3:4::5:6:7:8]/", "http://[:1::2]/", "http://[1:2:]/",
    "http://[12345::]/",
    "http://[::1.2.3]/", "http://[::1.2.3.256]/", "http://[::01.2.3.4]/", "http://[::1.2.3.4:5]/",
  ])
  func `an invalid web address is refused`(_ text: String) {
    #expect(WebAddress(text) == nil)
  }

  @Test(arguments: [
    "[::]", "[::1]", "[1::]", "[1:2:3:4:5:6:7:8]", "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[1::8]",
  ])
  func `every form of an IPv6 address is parsed`(_ host: String) {
    #expect(Authority(host)?.host == host)
    #expect(Authority("\(host):80")?.port == 80)
  }

  @Test func `an origin ends with the port`() {
    #expect(WebAddress(origin: "https://garden.example")?.origin == "https://garden.example")
    #expect(WebAddress(origin: "https://garden.example:443")?.origin == "https://garden.example")
    for text in ["null", "", "https://garden.example/", "https://garden.example/a", "https://garden.example?a"] {
      #expect(WebAddress(origin: text) == nil)
    }
  }

  @Test func `a default port changes with the scheme`() {
    #expect(WebAddress("https://a/b")?.with(scheme: .wss).description == "wss://a/b")
    #expect(WebAddress("http://a/b")?.with(scheme: .wss).description == "wss://a/b")
    #expect(WebAddress("http://a:8080/b")?.with(scheme: .ws).description == "ws://a:8080/b")
  }

  @Test(arguments: [
    ("/", []), ("/a", ["a"]), ("/a/b/", ["a", "b"]), ("/caf%C3%A9/%20", ["café", " "]), ("/a+b", ["a+b"]),
    ("/...", ["..."]),
  ])
  func `a path is parsed into decoded segments`(_ path: String, _ segments: [String]) throws {
    let parsed = try URLPath(path)
    #expect(parsed.segments == segments)
    #expect(parsed.endsInSlash == path.hasSuffix("/"))
  }

  @Test(arguments: [
    ("", URLPath.Refusal.notAbsolute), ("a", .notAbsolute), ("*", .notAbsolute), ("//", .emptySegment),
    ("//a", .emptySegment),
    ("/a//b", .emptySegment), ("/a//", .emptySegment), ("/.", .dotSegment), ("/..", .dotSegment),
    ("/a/../b", .dotSegment),
    ("/%2e%2E/a", .dotSegment), ("/.%2e", .dotSegment), ("/a%2Fb", .slashInSegment), ("/a%5cb", .slashInSegment),
    ("/a\\b", .slashInSegment), ("/a%00", .controlCharacter), ("/a%0Ab", .controlCharacter),
    ("/%7f", .controlCharacter),
    ("/%", .badEscape), ("/%4", .badEscape), ("/%zz", .badEscape), ("/%ff", .badEscape), ("/%C0%AE", .badEscape),
    ("/%ED%A0%80", .badEscape), (String(repeating: "/a", count: 65), .tooManySegments),
  ])
  func `an ambiguous path is refused`(_ path: String, _ refusal: URLPath.Refusal) {
    #expect(throws: refusal) { try URLPath(path) }
  }

  @Test func `a query is parsed into pairs`() throws {
    let form = try FormPairs("a=1&b=x+y%2B&a=&c&&=d&e=f=g&%C3%BC=%26")
    #expect(form.all("a") == ["1", ""])
    #expect(form["b"] == "x y+")
    #expect(form["c"] == "")
    #expect(form[""] == "d")
    #expect(form["e"] == "f=g")
    #expect(form["ü"] == "&")
    #expect(form["z"] == nil)
    #expect(try FormPairs("").pairs.isEmpty)
  }

  @Test func `a query with bad escapes or too many pairs is refused`() {
    for text in ["a=%", "a=%4", "%gg=1", "a=%ff"] {
      #expect(throws: FormPairs.Refusal.badEscape) { try FormPairs(text) }
    }
    #expect(throws: FormPairs.Refusal.tooMany) { try FormPairs("a&b&c", limit: 2) }
  }

  @Test func `percent-encoding round-trips`() {
    let text = "a/b c?ü&=%+~"
    #expect(Percent.encode(text) == "a%2Fb%20c%3F%C3%BC%26%3D%25%2B~")
    #expect(Percent.encode(text, allowing: .path) == "a/b%20c%3F%C3%BC&=%25+~")
    for kept in [Percent.Allowed.unreserved, .segment, .path] {
      #expect(Percent.decode(Percent.encode(text, allowing: kept)) == text)
    }
    for bad in ["%", "%4", "%4g", "%ff"] { #expect(Percent.decode(bad) == nil) }
  }
}
