import ParleyWire
import Testing
import Web

/// Responses for an existing file.
@Suite struct StaticFileTests {
  private let folder = TemporaryFolder()
  private let client: InMemory
  private let digits = "0123456789"
  private let long = String(repeating: "All work and no play. ", count: 200)
  private static let modified = 784_111_777
  private static let modifiedText = "Sun, 06 Nov 1994 08:49:37 GMT"

  init() throws {
    folder.write("digits.txt", digits)
    folder.write("long.txt", long)
    folder.write("page.html", "<!doctype html>")
    folder.write("image.png", Array(repeating: 7, count: 5_000))
    folder.write("empty.txt", "")
    folder.write("large.txt", String(repeating: digits, count: 30_000))
    for name in ["digits.txt", "long.txt", "large.txt"] { folder.setModified(name, Self.modified) }
    let files = StaticFiles(folder.path, random: { 0xb0b })
    client = InMemory(fallback: try #require(files))
  }

  // MARK: Methods

  @Test(arguments: [Method.post, .put, .patch, .delete, .other("PROPFIND")])
  func `a file allows no other method`(_ method: Method) async {
    let answer = await client.send(method, "/digits.txt")
    #expect(answer.status == 405)
    #expect(answer["allow"] == "GET, HEAD, OPTIONS")
    #expect(await client.send(method, "/nothing").status == 404)
  }

  @Test func `OPTIONS lists the methods`() async {
    let answer = await client.send(.options, "/digits.txt")
    #expect(answer.status == 204)
    #expect(answer["allow"] == "GET, HEAD, OPTIONS")
  }

  @Test(arguments: ["/digits.txt", "/long.txt", "/large.txt"])
  func `HEAD has the fields of GET`(_ path: String) async {
    let fields: Fields = ["Accept-Encoding": "gzip"]
    let get = await client.send(.get, path, fields)
    let head = await client.send(.head, path, fields)
    #expect(head.status == 200)
    #expect(head.fields.wireBytes == get.fields.wireBytes)
    #expect(head.body.count == get.body.count)
  }

  // MARK: Conditions

  private func tag(_ path: String, _ fields: Fields = [:]) async throws -> String {
    try #require(await client.get(path, fields)["etag"])
  }

  @Test(arguments: ["/digits.txt", "/large.txt"])
  func `a file has a strong tag and a date`(_ path: String) async throws {
    let answer = await client.get(path)
    let tag = try #require(answer["etag"].flatMap { EntityTag(parsing: $0) })
    #expect(!tag.isWeak)
    #expect(answer["last-modified"] == Self.modifiedText)
    #expect(await client.get(path)["etag"] == answer["etag"])
  }

  @Test func `equal content has the same tag at any path, and other content another tag`() async throws {
    folder.write("copy.txt", digits)
    folder.write("other.txt", "0123456780")
    #expect(try await tag("/copy.txt") == tag("/digits.txt"))
    #expect(try await tag("/other.txt") != tag("/digits.txt"))
  }

  @Test(arguments: ["/digits.txt", "/large.txt"])
  func `a client with the current file gets 304`(_ path: String) async throws {
    let tag = try await tag(path)
    let rows: [(Fields, Int)] = [
      (["If-None-Match": tag], 304), (["If-None-Match": "W/\(tag)"], 304), (["If-None-Match": "\"x\", \(tag)"], 304),
      (["If-None-Match": "*"], 304), (["If-None-Match": "\"x\""], 200),
      (["If-Modified-Since": Self.modifiedText], 304), (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
      (["If-Modified-Since": "yesterday"], 200),
      // RFC 9110 §13.1.3: the tag has priority over the date.
      (["If-None-Match": "\"x\"", "If-Modified-Since": Self.modifiedText], 200),
      (["If-Match": tag], 200), (["If-Match": "*"], 200), (["If-Match": "\"x\""], 412), (["If-Match": "W/\(tag)"], 412),
      (["If-Unmodified-Since": Self.modifiedText], 200),
      (["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
      (["If-Match": tag, "If-None-Match": tag], 304),
    ]
    for (fields, status) in rows {
      #expect(await client.get(path, fields).status == status, "\(fields.value(at: 0))")
      #expect(await client.send(.head, path, fields).status == status)
    }
  }

  @Test func `304 has the fields that a cache updates, and no content fields`() async throws {
    let answer = await client.get("/page.html", ["If-None-Match": "*"])
    let whole = await client.get("/page.html")
    #expect(answer.status == 304)
    #expect(answer.body.isEmpty)
    for name in ["etag", "cache-control", "vary", "content-security-policy"] as [StaticString] {
      #expect(answer[name] == whole[name])
      #expect(answer[name] != nil)
    }
    for name in ["content-type", "content-encoding", "last-modified", "content-length"] as [StaticString] {
      #expect(answer[name] == nil)
    }
  }

  // MARK: Ranges

  @Test(arguments: [
    ("bytes=0-0", "0", "bytes 0-0/10"), ("bytes=2-4", "234", "bytes 2-4/10"), ("bytes=8-", "89", "bytes 8-9/10"),
    ("bytes=8-100", "89", "bytes 8-9/10"), ("bytes=-3", "789", "bytes 7-9/10"),
    ("bytes=-100", "0123456789", "bytes 0-9/10"),
    ("bytes=5-5, 20-", "5", "bytes 5-5/10"), ("Bytes=1-1", "1", "bytes 1-1/10"),
  ])
  func `a single range is sent directly`(_ range: String, _ content: String, _ contentRange: String) async {
    let answer = await client.get("/digits.txt", ["Range": range, "Accept-Encoding": "gzip"])
    #expect(answer.status == 206)
    #expect(answer.text == content)
    #expect(answer["content-range"] == contentRange)
    #expect(answer["content-type"] == "text/plain; charset=utf-8")
    #expect(answer["etag"] != nil)
  }

  @Test(arguments: [
    "bytes=4-2", "bytes=a-b", "bytes", "lines=1-2", "bytes=0-5,3-8", "bytes=--1", "bytes=0-1-2",
    "bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8",
  ])
  func `an invalid or excessive range is ignored`(_ range: String) async {
    let answer = await client.get("/digits.txt", ["Range": range])
    #expect(answer.status == 200)
    #expect(answer.text == digits)
  }

  @Test func `a range outside the file is not satisfiable`() async {
    for range in ["bytes=10-", "bytes=10-20", "bytes=-0"] {
      let answer = await client.get("/digits.txt", ["Range": range])
      #expect(answer.status == 416)
      #expect(answer["content-range"] == "bytes */10")
    }
    #expect(await client.get("/empty.txt", ["Range": "bytes=0-"]).status == 416)
  }

  @Test(arguments: ["/digits.txt", "/large.txt"])
  func `several ranges are sent as multipart`(_ path: String) async throws {
    let length = path == "/digits.txt" ? 10 : 300_000
    let answer = await client.get(path, ["Range": "bytes=0-1,7-8"])
    #expect(answer.status == 206)
    #expect(answer["content-type"] == "multipart/byteranges; boundary=b0bb0b")
    #expect(answer.fields.all("content-type").count == 1)
    #expect(answer["content-range"] == nil)
    let type = "Content-Type: text/plain; charset=utf-8"
    #expect(
      answer.text == """
        \r\n--b0bb0b\r\n\(type)\r\nContent-Range: bytes 0-1/\(length)\r\n\r\n01\
        \r\n--b0bb0b\r\n\(type)\r\nContent-Range: bytes 7-8/\(length)\r\n\r\n78\
        \r\n--b0bb0b--\r\n
        """)
  }

  @Test func `the multipart boundary is different each time`() async throws {
    let client = InMemory(fallback: try #require(StaticFiles(folder.path)))
    let first = await client.get("/digits.txt", ["Range": "bytes=0-1,7-8"])
    let second = await client.get("/digits.txt", ["Range": "bytes=0-1,7-8"])
    #expect(first["content-type"] != second["content-type"])
  }

  @Test func `only GET with one Range field gets ranges`() async {
    #expect(await client.send(.head, "/digits.txt", ["Range": "bytes=0-1"]).status == 200)
    #expect(await client.get("/digits.txt", ["Range": "bytes=0-1", "Range": "bytes=3-4"]).status == 200)
    #expect(await client.get("/digits.txt")["accept-ranges"] == "bytes")
  }

  @Test func `If-Range prevents mixing two versions`() async throws {
    let tag = try await tag("/digits.txt")
    let rows = [
      (tag, 206), ("W/\(tag)", 200), ("\"x\"", 200), (Self.modifiedText, 206), ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
      ("", 200),
    ]
    for (value, status) in rows {
      #expect(await client.get("/digits.txt", ["Range": "bytes=0-1", "If-Range": value]).status == status, "\(value)")
    }
    // A failed condition has priority over Range.
    #expect(await client.get("/digits.txt", ["Range": "bytes=0-1", "If-None-Match": tag]).status == 304)
    #expect(await client.get("/digits.txt", ["Range": "bytes=99-", "If-Match": "\"x\""]).status == 412)
  }

  @Test func `a range of a gzipped file applies to the identity coding`() async throws {
    let packed = try await tag("/long.txt", ["Accept-Encoding": "gzip"])
    let plain = try await tag("/long.txt")
    let range: Fields = ["Range": "bytes=0-7", "Accept-Encoding": "gzip"]
    #expect(await client.get("/long.txt", range).text == "All work")
    var conditional = range
    conditional.add("If-Range", packed)
    #expect(await client.get("/long.txt", conditional).status == 200)
    conditional.set("if-range", plain)
    #expect(await client.get("/long.txt", conditional).status == 206)
  }

  @Test func `a large file is sent from its descriptor`() async {
    let answer = await client.get("/large.txt")
    #expect(answer.status == 200)
    #expect(answer.body.count == 300_000)
    #expect(await client.get("/large.txt", ["Range": "bytes=299998-"]).text == "89")
  }

  // MARK: Codings

  @Test(arguments: [
    ("gzip", true), ("gzip, deflate, br, zstd", true), ("br", false), ("identity", false), ("gzip;q=0", false),
    ("*", true), ("*;q=0", false), ("GZIP", true), ("x-gzip", true), ("", false), ("gzip;q=0.001", true),
  ])
  func `a compressible file is gzipped if the client accepts it`(_ accepted: String, _ isPacked: Bool) async {
    let answer = await client.get("/long.txt", ["Accept-Encoding": accepted])
    #expect(answer.status == 200)
    #expect(answer["content-encoding"] == (isPacked ? "gzip" : nil))
    #expect(answer.fields.all("vary") == ["Accept-Encoding"])
    if isPacked {
      #expect(answer.body.starts(with: [0x1f, 0x8b]))
      #expect(answer.body.count < 200)
    } else {
      #expect(answer.text == long)
    }
  }

  @Test func `each representation has its own tag`() async throws {
    let plain = try await tag("/long.txt")
    let packed = try await tag("/long.txt", ["Accept-Encoding": "gzip"])
    #expect(plain != packed)
    #expect(await client.get("/long.txt", ["Accept-Encoding": "gzip", "If-None-Match": packed]).status == 304)
    #expect(await client.get("/long.txt", ["If-None-Match": packed]).status == 200)
  }

  @Test func `an incompressible file is sent plain`() async {
    let accept: Fields = ["Accept-Encoding": "gzip"]
    for path in ["/digits.txt", "/image.png", "/empty.txt"] {
      #expect(await client.get(path, accept)["content-encoding"] == nil)
    }
    #expect(await client.get("/image.png", accept)["vary"] == nil)
  }

  @Test func `a precompressed file is sent unless it is older or larger`() async {
    let accept: Fields = ["Accept-Encoding": "gzip"]
    folder.write("app.js", "plain")
    folder.write("app.js.gz", "packed")
    folder.write("large.txt.gz", "large, packed")
    folder.write("old.js", "plain")
    folder.write("old.js.gz", "packed")
    folder.setModified("old.js.gz", Self.modified)
    folder.write("bloated.js", "plain")
    folder.write("bloated.js.gz", Array(repeating: 1, count: 2_000))
    folder.write("photo.png", "plain")
    folder.write("photo.png.gz", "packed")
    #expect(await client.get("/app.js", accept).text == "packed")
    #expect(await client.get("/app.js", accept)["content-type"] == "text/javascript; charset=utf-8")
    #expect(await client.get("/app.js").text == "plain")
    #expect(await client.get("/large.txt", accept).text == "large, packed")
    #expect(await client.get("/old.js", accept).text == "plain")
    #expect(await client.get("/bloated.js", accept).text == "plain")
    #expect(await client.get("/photo.png", accept).text == "plain")
    #expect(await client.get("/app.js.gz", accept)["content-type"] == "application/gzip")
    #expect(await client.get("/app.js.gz", accept)["content-encoding"] == nil)
  }

  @Test func `a precompressed file that is a link is ignored`() async {
    folder.write("app.js", "plain")
    folder.link("app.js.gz", to: "/etc/passwd")
    #expect(await client.get("/app.js", ["Accept-Encoding": "gzip"]).text == "plain")
  }

  // MARK: Fields

  @Test(arguments: [
    ("a.html", "text/html; charset=utf-8"), ("a.js", "text/javascript; charset=utf-8"),
    ("a.mjs", "text/javascript; charset=utf-8"), ("a.css", "text/css; charset=utf-8"), ("a.json", "application/json"),
    ("a.svg", "image/svg+xml"), ("a.png", "image/png"), ("A.PNG", "image/png"), ("a.jpeg", "image/jpeg"),
    ("a.webp", "image/webp"), ("a.woff2", "font/woff2"), ("a.wasm", "application/wasm"),
    ("a.webmanifest", "application/manifest+json"), ("a.txt", "text/plain; charset=utf-8"),
    ("a.ico", "image/vnd.microsoft.icon"), ("a.tar.gz", "application/gzip"), ("a.pdf", "application/pdf"),
    ("a", "application/octet-stream"), ("a.", "application/octet-stream"), ("js", "application/octet-stream"),
    ("a.exe", "application/octet-stream"), ("a.html.exe", "application/octet-stream"),
    ("a.php", "application/octet-stream"),
  ])
  func `the media type depends on the extension`(_ name: String, _ type: String) async {
    folder.write(name, "x")
    let answer = await client.get("/\(name)")
    #expect(answer["content-type"] == type)
    #expect(answer["x-content-type-options"] == "nosniff")
  }

  @Test(arguments: [
    ("app.3f9a2c1b.js", true), ("app.3F9A2C1B.js", true), ("app.min.0123456789abcdef.css", true),
    ("app.3f9a2c1b.js.map", true), ("app.js", false), ("app.3f9a2c1.js", false), ("3f9a2c1b.js", false),
    ("app.3f9a2c1b", false), ("notes.20240101.txt", false), ("app.deadbeef.js", false), ("app-3f9a2c1b.js", false),
    ("app.3f9a2c1g.js", false), ("app.MNE5R7JO.js", true), ("app.MNEORJOX.css", true), ("app.MNE5R7J1.js", false),
    ("app.MNE5R7J.js", false), ("app.mne5r7jo.js", false), ("app-MNE5R7JO.js", false), ("app.23456723.js", false),
  ])
  func `hashed names are immutable, all others are revalidated`(_ name: String, _ isRetained: Bool) async {
    folder.write(name, "x")
    let expected = isRetained ? "public, max-age=31536000, immutable" : "no-cache"
    #expect(await client.get("/\(name)")["cache-control"] == expected)
  }

  @Test func `pages and scripts have the page policy, other files the strict one`() async throws {
    folder.write("app.js", "x")
    folder.write("drawing.svg", "<svg/>")
    for path in ["/page.html", "/app.js"] {
      let answer = await client.get(path)
      let policy = try #require(answer["content-security-policy"])
      #expect(answer.fields.all("content-security-policy").count == 1)
      for part in [
        "default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "object-src 'none'",
      ] {
        #expect(policy.contains(part))
      }
      #expect(!policy.contains("unsafe"))
      #expect(answer["cross-origin-opener-policy"] == "same-origin")
      #expect(answer["x-frame-options"] == "DENY")
      #expect(answer["referrer-policy"] == "same-origin")
    }
    #expect(await client.get("/drawing.svg")["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
  }
}
