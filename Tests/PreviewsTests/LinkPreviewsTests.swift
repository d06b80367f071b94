import ParleyHTTPClient
import ParleyJSON
import ParleyWire
import Synchronization
import TestSupport
import Testing

@testable import Previews

/// Previews of pages fetched from a local server.
@Suite struct LinkPreviewsTests {
  /// A clock that the test advances.
  private final class TestClock: Sendable {
    private let time = Atomic<Int>(1_800_000_000_000)
    func add(_ milliseconds: Int) { time.add(milliseconds, ordering: .relaxed) }
    var now: Int64 { Int64(time.load(ordering: .relaxed)) }
  }

  private static func previews(
    _ server: CannedServer, limits: PreviewLimits = PreviewLimits(), clock: TestClock = TestClock(),
    _ body: (LinkPreviews) async throws -> Void
  ) async throws {
    let local = try #require(IPAddress("127.0.0.1"))
    var outgoing = UntrustedLimits()
    outgoing.timeout = 60_000
    let client = try UntrustedClient(.alsoAllowing([(local, server.port)]), limits: outgoing)
    try await body(LinkPreviews(client, limits: limits, now: { clock.now }))
    client.close()
  }

  private static let page = """
    <title>a</title><meta property=og:title content=Roses><meta property=og:description content='All about them'>
    <meta property=og:site_name content=Garden><meta property=og:image content=rose.jpg><body>
    """

  @Test func `a page with its picture`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/old": .redirect(to: "/a/page")
      case "/a/page": .page(Self.page)
      case "/a/rose.jpg": .content(Photographs.jpeg(), type: "image/png")
      default: .missing
      }
    }
    try await Self.previews(server) { previews in
      let preview = try await previews.preview(of: server.url + "/old#part")
      #expect(preview.url == server.url + "/a/page" && !preview.isImage)
      #expect(preview.title == "Roses" && preview.about == "All about them" && preview.siteName == "Garden")
      let picture = try #require(preview.picture)
      // The detected format, the displayed orientation, and no location metadata.
      #expect(picture.mimeType == "image/jpeg" && picture.width == 480 && picture.height == 640)
      #expect(picture.bytes == Photographs.servedJPEG() && previews.picture(picture.key) == picture)
      #expect(picture.key.utf8.count == 32 && previews.picture("x") == nil)
      // One fetch for all spellings of a URL.
      #expect(try await previews.look(at: "HTTP://127.0.0.1:\(server.port)/old") == preview)
      #expect(server.targets == ["/old", "/a/page", "/a/rose.jpg"])
    }
  }

  @Test func `a picture by itself`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/rose": .content(Photographs.jpeg(), type: "image/jpeg")
      case "/page": .content(Array("<title>x</title>".utf8), type: "image/png")
      case "/svg": .content(Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), type: "image/svg+xml")
      case "/broken": .content(Photographs.start + [0xff, 0xc0, 0, 1], type: "image/jpeg")
      default: .content([UInt8](repeating: 7, count: 2_000_000), type: "image/png")
      }
    }
    try await Self.previews(server) { previews in
      let preview = try await previews.preview(of: server.url + "/rose")
      #expect(preview.isImage && preview.title == nil && preview.picture?.bytes == Photographs.servedJPEG())
      for path in ["/page", "/svg", "/broken", "/large"] {
        await #expect(throws: PreviewFault.unreachable, "\(path)") { try await previews.preview(of: server.url + path) }
      }
    }
  }

  @Test func `missing metadata is requested from oEmbed, and its HTML is ignored`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/film":
        .page("<title>a film</title><link type='application/json+oembed' href='/oembed?u=1&amp;f=2'>")
      case "/oembed?u=1&f=2":
        .content(
          Array(
            #"{"type":"video","title":"b","provider_name":"Films","html":"<script>1</script>","thumbnail_url":"/t","x":1}"#
              .utf8), type: "application/json; charset=utf-8")
      case "/t": .content(Photographs.jpeg(), type: "image/jpeg")
      case "/broken": .page("<title>c</title><link type='application/json+oembed' href='/none'>")
      default: .missing
      }
    }
    try await Self.previews(server) { previews in
      let film = try await previews.preview(of: server.url + "/film")
      #expect(film.title == "a film" && film.siteName == "Films" && film.picture?.mimeType == "image/jpeg")
      let broken = try await previews.preview(of: server.url + "/broken")
      #expect(broken.title == "c" && broken.picture == nil)
    }
  }

  @Test(
    arguments: [
      (#"{"type":"photo","url":"/p","title":" a\n b "}"#, "a b", "/p"), (#"{"type":"rich","url":"/p"}"#, nil, nil),
      (#"{"title":7,"thumbnail_url":"/t"}"#, nil, "/t"), (#"{"title":""}"#, nil, nil),
    ] as [(String, String?, String?)])
  func `an oEmbed response is parsed`(text: String, title: String?, picture: String?) throws {
    let facts = try #require(OEmbedMetadata(Array(text.utf8)))
    #expect(facts.title == title && facts.picture == picture)
    for cut in 0..<text.utf8.count { #expect(OEmbedMetadata(Array(text.utf8.prefix(cut))) == nil) }
    #expect(OEmbedMetadata(Array("[]".utf8)) == nil)
  }

  /// A picture of a few bytes, complete but for its frames.
  private static func gif(side: UInt16) -> [UInt8] {
    let side = [UInt8(side & 0xff), UInt8(side >> 8)]
    return Array("GIF89a".utf8) + side + side + [0, 0, 0, 0x3b]
  }

  @Test func `an unsupported picture is dropped and the page kept`() async throws {
    let server = try CannedServer { target in
      switch target {
      case "/mark.gif": .content(Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], type: "image/gif")
      case "/inside": .page("<title>a</title><meta property=og:image content='http://169.254.169.254/x.png'>")
      case "/far": .page("<title>a</title><meta property=og:image content='/gone.png'>")
      case "/large": .page("<title>a</title><meta property=og:image content='/large.png'>")
      case "/large.png": .content([UInt8](repeating: 7, count: 1_048_577), type: "image/png")
      case "/mark": .page("<title>a</title><meta property=og:image content='/mark.gif'>")
      case "/bomb": .page("<title>a</title><meta property=og:image content='/bomb.gif'>")
      case "/bomb.gif": .content(Self.gif(side: 30_000), type: "image/gif")
      case "/wide": .page("<title>a</title><meta property=og:image content='/wide.gif'>")
      case "/wide.gif": .content(Self.gif(side: 4_096), type: "image/gif")
      case "/empty": .page("<p>nothing")
      default: .missing
      }
    }
    try await Self.previews(server) { previews in
      #expect(try await previews.preview(of: server.url + "/wide").picture?.width == 4_096)
      for path in ["/inside", "/far", "/large", "/mark", "/bomb"] {
        let preview = try await previews.preview(of: server.url + path)
        #expect(preview.title == "a" && preview.picture == nil, "\(path)")
      }
      await #expect(throws: PreviewFault.unreachable) { try await previews.preview(of: server.url + "/empty") }
      await #expect(throws: PreviewFault.unreachable) { try await previews.preview(of: "http://localhost/") }
    }
  }

  @Test func `ten thousand concurrent requests fetch a page once`() async throws {
    let server = try CannedServer { _ in .drip(Array(CannedServer.Answer.okay("<title>Roses</title>").utf8), every: 1) }
    try await Self.previews(server) { previews in
      let titles = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<10_000 { group.addTask { try await previews.preview(of: server.url).title } }
        return try await group.reduce(into: [:]) { $0[$1 ?? "none", default: 0] += 1 }
      }
      #expect(titles == ["Roses": 10_000] && server.requests.count == 1)
    }
  }

  @Test func `a preview expires after an hour, a failure after a minute`() async throws {
    let clock = TestClock()
    let server = try CannedServer { target in
      switch target {
      case "/page": .page(Self.page)
      case "/rose.jpg": .content(Photographs.jpeg(), type: "image/jpeg")
      default: .missing
      }
    }
    try await Self.previews(server, clock: clock) { previews in
      func ask(_ path: String) async -> LinkPreview? { try? await previews.preview(of: server.url + path) }
      let first = try #require(await ask("/page"))
      _ = await ask("/gone")
      clock.add(59_999)
      _ = await ask("/gone")
      #expect(server.targets == ["/page", "/rose.jpg", "/gone"])
      clock.add(1)
      _ = await ask("/gone")
      #expect(server.targets.count == 4)
      clock.add(3_600_000 - 60_001)
      #expect(await ask("/page") == first)
      #expect(server.targets.count == 4)
      clock.add(1)
      // An unchanged picture keeps its key, since open pages may show it.
      #expect(await ask("/page") == first)
      #expect(server.targets.suffix(2) == ["/page", "/rose.jpg"])
    }
  }

  @Test func `memory is bounded, and the oldest entry is evicted`() async throws {
    var limits = PreviewLimits()
    (limits.pages, limits.bytes) = (3, 3_000)
    var cache = PreviewCache(limits)
    func address(_ number: Int) throws -> WebAddress { try #require(WebAddress("https://a.example/\(number)")) }
    func preview(_ number: Int, bytes: Int = 0) -> LinkPreviews.Outcome {
      var preview = LinkPreview(url: "u")
      if bytes > 0 {
        preview.picture = PreviewPicture(
          key: "k\(number)", mimeType: "image/png", width: 1, height: 1, bytes: [UInt8](repeating: 0, count: bytes))
      }
      return .success(preview)
    }
    for number in 0..<1_000 {
      _ = cache.store(preview(number), for: try address(number % 7), now: 0)
      #expect(cache.pages <= 3 && cache.bytes <= 3_000)
    }
    let (newest, older) = (try address(999 % 7), try address(995 % 7))
    #expect(cache.outcome(for: newest, now: 0) != nil && cache.outcome(for: older, now: 0) == nil)
    _ = cache.store(preview(1, bytes: 1_500), for: try address(1), now: 0)
    #expect(cache.picture("k1") != nil)
    _ = cache.store(preview(2, bytes: 1_501), for: try address(2), now: 0)
    #expect(cache.picture("k1") == nil && cache.picture("k2") != nil && cache.pages == 1)
    // An entry over the budget is not cached.
    _ = cache.store(preview(3, bytes: 4_000), for: try address(3), now: 0)
    #expect(cache.pages == 0 && cache.bytes == 0 && cache.picture("k3") == nil)
  }
}

extension CannedServer.Answer {
  static func okay(_ html: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(html.utf8.count)\r\n\r\n\(html)"
  }
}

extension LinkPreviews {
  /// `preview(of:)` with an untyped error, since `#expect` can't use typed throws.
  fileprivate func look(at link: String) async throws -> LinkPreview { try await preview(of: link) }
}
