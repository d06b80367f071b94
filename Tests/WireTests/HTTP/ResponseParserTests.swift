import ParleyWire
import TestSupport
import Testing

@Suite struct ResponseParserTests {
  static let rows: [(String, String)] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 length(5) keeps"),
    ("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n", "200 length(5) keeps"),
    ("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", "200 length(5) keeps"),
    ("HTTP/1.1 404 Not  Found\there\r\nTransfer-Encoding: chunked\r\n\r\n", "404 chunked keeps"),
    ("HTTP/1.1 200 OK\r\n\r\n", "200 untilClose closes"),
    ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "200 length(5) closes"),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\n", "200 length(5) keeps"),
    ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\n", "200 length(5) closes"),
    ("HTTP/1.1 204 No Content\r\n\r\n", "204 none keeps"),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304 none keeps"),
    ("HTTP/1.1 100 Continue\r\n\r\n", "100 none keeps"),
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", "101 none keeps"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5", "more"),
    ("HTTP/1.1 2", "more"),
    ("HTTP/1.1 099 X\r\n\r\n", "badLine"),
    ("HTTP/1.1 600 X\r\n\r\n", "badLine"),
    ("HTTP/1.1 20 X\r\n\r\n", "badLine"),
    ("HTTP/1.1 2000 X\r\n\r\n", "badLine"),
    ("HTTP/1.1  200 X\r\n\r\n", "badLine"),
    ("HTTP/2.0 200 X\r\n\r\n", "badLine"),
    ("http/1.1 200 X\r\n\r\n", "badLine"),
    ("\r\nHTTP/1.1 200 X\r\n\r\n", "badLine"),
    ("HTTP/1.1 200 X\n\r\n", "badLine"),
    ("HTTP/1.1 200 X\rY\n\r\n", "badLine"),
    ("HTTP/1.1 200 \u{0}\r\n\r\n", "badLine"),
    ("<html>", "badLine"),
    ("HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "field(ParleyWire.FieldError.spaceInName)"),
    ("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", "field(ParleyWire.FieldError.folded)"),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
      "framing(ParleyWire.FramingError.repeatedContentLength)"
    ),
    ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "framing(ParleyWire.FramingError.badContentLength)"),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      "framing(ParleyWire.FramingError.contentLengthBesideTransferEncoding)"
    ),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "framing(ParleyWire.FramingError.badTransferEncoding)"),
  ]

  @Test(arguments: rows)
  func `every row has its outcome for every split`(_ text: String, _ expected: String) {
    let bytes = Array(text.utf8)
    for ends in Feeding.cuts(of: bytes.count) {
      var parser = ResponseParser()
      var outcome = "more"
      do throws(ResponseError) {
        for end in ends {
          guard let (head, length) = try parser.parse(bytes.span.extracting(0..<end), to: .get) else { continue }
          #expect(length == bytes.count)
          outcome = "\(head.status.code) \(head.framing) \(head.keepsAlive ? "keeps" : "closes")"
          break
        }
      } catch { outcome = "\(error)" }
      #expect(outcome == expected, "cut at \(ends.prefix(2))")
    }
  }

  @Test func `the response to HEAD has no body`() throws {
    var parser = ResponseParser()
    let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
    #expect(try parser.parse(bytes.span, to: .head)?.head.framing == Framing.none)
  }

  @Test(arguments: [200, 201, 204, 304, 404, 413, 500, 599])
  func `a written status line round-trips`(_ code: Int) throws {
    var output: [UInt8] = []
    Status(code).appendLine(to: &output)
    output += Array(Fields(["Content-Length": "0", "X-Name": "a b"]).wireBytes) + Array("\r\n".utf8)
    var parser = ResponseParser()
    let (head, length) = try #require(try parser.parse(output.span, to: .get))
    #expect(head.status.code == code)
    #expect(head.fields["x-name"] == "a b")
    #expect(length == output.count)
  }

  @Test func `a status line is written with the reason`() {
    var output: [UInt8] = []
    Status.notFound.appendLine(to: &output)
    Status.contentTooLarge.appendLine(to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "HTTP/1.1 404 Not Found\r\nHTTP/1.1 413 Content Too Large\r\n")
  }

  @Test func `mutated heads have the same outcome for every split`() {
    var random = Seeded(seed: 3)
    for _ in 0..<Fuzz.rounds {
      let bytes = Array((ResponseParserTests.rows.randomElement(using: &random)?.0 ?? "").utf8).mutated(&random)
      let whole = Feeding.response(bytes, ends: [bytes.count])
      #expect(Feeding.response(bytes, ends: Feeding.randomCuts(of: bytes.count, &random)) == whole)
      #expect(Feeding.response(bytes, ends: Array(0...bytes.count)) == whole)
    }
  }
}
