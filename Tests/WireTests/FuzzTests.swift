import ParleyWire
import TestSupport
import Testing

/// Parsers of short texts with almost valid input.
@Suite struct FuzzTests {
  static let seeds = [
    "https://user@garden.example:8443/a%20b?c=d#e", "wss://[2001:db8::192.0.2.1]:443", "/a/%2e%2e/caf%C3%A9//",
    "a=1&b=x+y%2B&c",
    "multipart/form-data; boundary=\"a\\\"b\"; charset=utf-8", "bytes=0-9, 20-, -5", "W/\"a\", \"b,c\", *",
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "2026-11-20T15:16:41.123+01:30", "a=1; b=\"2\"; __Host-c=d", "for=\"[2001:db8::1]:4711\";proto=https, for=unknown",
    "gzip;q=0.5, *;q=0, text/html;level=1", "192.0.2.1, ::1, _x", "9223372036854775807", "", "\u{0}",
  ]

  @Test func `no text crashes a parser, and parsed values round-trip`() {
    var random = Seeded(seed: 5)
    for _ in 0..<Fuzz.rounds {
      let bytes = Array((FuzzTests.seeds.randomElement(using: &random) ?? "").utf8).mutated(&random)
      let text = String(decoding: bytes, as: UTF8.self)
      if let address = WebAddress(text) { #expect(WebAddress(address.description) == address) }
      if let authority = Authority(text) { #expect(Authority(authority.host)?.host == authority.host) }
      if let path = try? URLPath(text) {
        let written = "/" + path.segments.map { Percent.encode($0) }.joined(separator: "/")
        #expect((try? URLPath(written))?.segments == path.segments)
      }
      if let tags = EntityTag.list(text) {
        #expect(EntityTag.list(tags.map(\.description).joined(separator: ",")) == tags)
      }
      if let seconds = HTTPDate.parse(text, now: DateTests.now) {
        #expect(HTTPDate.parse(HTTPDate.format(seconds), now: DateTests.now) == seconds)
      }
      if case .some(let ranges) = ByteRanges(text, length: 100) {
        #expect(ranges.allSatisfy { !$0.isEmpty && $0.upperBound <= 100 })
      }
      _ = try? FormPairs(text)
      _ = MediaType(text)
      #expect(Percent.decode(Percent.encode(text)) == text)
      let fields = Fields([
        "Cookie": text, "Forwarded": text, "X-Forwarded-For": text, "Accept": text, "Accept-Encoding": text,
        "If-Match": text, "If-Range": text,
      ])
      _ = Cookies(fields)["a"]
      _ = Forwarded(fields)
      _ = Accept.types(fields).weight(ofType: "a", "b")
      _ = Accept.encodings(fields).allowsGzip
      let preconditions = Preconditions(.get, fields, now: DateTests.now)
      _ = preconditions.evaluate(Preconditions.Current(tag: EntityTag("a"), modified: 0))
      _ = preconditions.allowsRange(Preconditions.Current(tag: EntityTag("a"), modified: 0))
    }
  }
}
