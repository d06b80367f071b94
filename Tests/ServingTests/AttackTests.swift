import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Request smuggling: ambiguous requests are refused, and the bytes after them are not parsed.
struct AttackTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let status: Int

    init(_ text: String, _ status: Int = 400) {
      self.text = text
      self.status = status
    }

    var testDescription: String { String(text.debugDescription.prefix(90)) }
    var bytes: [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
  }

  private static func fields(_ fields: String, _ status: Int = 400) -> Row {
    Row("POST /echo HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n5\r\nseeds\r\n0\r\n\r\n", status)
  }

  private static func body(_ body: String, _ status: Int = 400) -> Row {
    Row("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", status)
  }

  static let rows: [Row] = [
    fields("Content-Length: 5\r\nContent-Length: 6"),
    fields("Content-Length: 5\r\nContent-Length: 5"),
    fields("Content-Length: 5, 5"),
    fields("Content-Length: +5"),
    fields("Content-Length: -5"),
    fields("Content-Length: 0x5"),
    fields("Content-Length: 05"),
    fields("Content-Length: 5 5"),
    fields("Content-Length:"),
    fields("Content-Length: 18446744073709551616"),
    fields("Content-Length: 5\r\nTransfer-Encoding: chunked"),
    fields("Transfer-Encoding: chunked\r\nContent-Length: 5"),
    fields("Transfer-Encoding: gzip, chunked", 501),
    fields("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", 501),
    fields("Transfer-Encoding: chunked, gzip"),
    fields("Transfer-Encoding: chunked, chunked"),
    fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    fields("Transfer-Encoding: xchunked"),
    fields("Transfer-Encoding: \u{0b}chunked"),
    fields("Transfer-Encoding : chunked"),
    fields("Transfer-Encoding:\r\n chunked"),
    fields("Content-Length : 5"),
    fields("X: y\r\n folded"),
    fields("X: y\r\n\tfolded"),
    fields("X: a\u{00}b"),
    fields("X: a\u{01}b"),
    fields("X\u{00}: a"),
    fields("X y: a"),
    fields(": a"),
    fields("X"),
    fields("X: a\nTransfer-Encoding: chunked"),
    fields("X: a\rTransfer-Encoding: chunked"),
    fields("Host: b"),
    fields("Expect: 200-ok", 417),
    Row("GET /hello HTTP/1.1\r\n\r\n"),
    Row("GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n"),
    Row("GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    Row("GET /hello HTTP/1.1\nHost: a\n\n"),
    Row("GET /hello HTTP/1.1\r\nHost: a\n\r\n"),
    Row("GET  /hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /hello  HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /hello\u{00} HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /hell\u{80} HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /% HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /hello HTTP/1.1 x\r\nHost: a\r\n\r\n"),
    Row("GET /hello http/1.1\r\nHost: a\r\n\r\n"),
    Row("GET /hello HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    Row("GET /hello HTTP/0.9\r\nHost: a\r\n\r\n", 505),
    Row("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    Row("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    Row("GET /hello\r\n\r\n"),
    Row("\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    Row("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}\u{fc}"),
    Row("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nseeds\r\n0\r\n\r\n"),
    Row("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    fields("X: \(String(repeating: "a", count: 9_000))", 431),
    fields(String(repeating: "X: a\r\n", count: 200) + "Y: b", 431),
    fields(String(repeating: "X: \(String(repeating: "a", count: 1_000))\r\n", count: 40) + "Y: b", 431),
    body("x\r\n"),
    body("-1\r\n"),
    body("+5\r\nseeds\r\n0\r\n\r\n"),
    body("0x5\r\nseeds\r\n0\r\n\r\n"),
    body(" 5\r\nseeds\r\n0\r\n\r\n"),
    body("5\nseeds\r\n0\r\n\r\n"),
    body("5\r\nseedsx\r\n0\r\n\r\n"),
    body("5\r\nseeds\n0\r\n\r\n"),
    body("5\r\nseeds0\r\n\r\n"),
    body("10000000000000000\r\n"),
    body("fffffffffffffffff\r\n"),
    body("5;\u{00}\r\nseeds\r\n0\r\n\r\n"),
    body("5;a=\"b\nseeds\r\n0\r\n\r\n"),
    body("5;\(String(repeating: "a", count: 9_000))\r\n"),
    body("0\r\nContent-Length: 5\r\n\r\n"),
    body("0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    body("0\r\n folded\r\n\r\n"),
    body("0\r\n\(String(repeating: "X: a\r\n", count: 100))\r\n", 431),
  ]

  @Test(arguments: EventLoop.Polling.allCases)
  func `an ambiguous request is refused, and the next one is not run`(
    polling: EventLoop.Polling
  ) async throws {
    let calls = Collected<String>()
    try await serving(garden(calls: calls), Variant(polling: polling)) { running in
      for row in Self.rows {
        let client = try running.connect()
        // Between a valid request, which checks the order of the responses, and a second request.
        try client.send(Array(get("/hello?before").utf8) + row.bytes + Array(get("/hello?behind").utf8))
        #expect(try client.answer().text == "hello before")
        let answer = try client.answer()
        #expect(answer.status == row.status, "\(row.testDescription)")
        #expect(!answer.head.keepsAlive, "\(row.testDescription)")
        #expect(try client.readToEnd() == "", "\(row.testDescription)")
      }
      #expect(!calls.all.contains("behind"))
      #expect(calls.all.filter { $0 == "before" }.count == Self.rows.count)
    }
  }

  @Test func `an ambiguous request is refused when sent byte by byte`() async throws {
    let calls = Collected<String>()
    try await serving(garden(calls: calls)) { running in
      for row in Self.rows where row.text.utf8.count < 200 {
        let client = try running.connect()
        do {
          for byte in row.bytes + Array(get("/hello?behind").utf8) { try client.send([byte]) }
        } catch {}  // The server refused and closed before everything was sent.
        #expect(try client.answer().status == row.status, "\(row.testDescription)")
        #expect(client.isOver())
      }
      #expect(!calls.all.contains("behind"))
    }
  }
}
