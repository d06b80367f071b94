import ParleyWire
import TestSupport
import Testing

@Suite struct BodyDecoderTests {
  /// A chunked body: its payload and trailers joined, or the error. `·` is the start of the next message.
  static let rows: [(String, Outcome<String, BodyError>)] = [
    ("0\r\n\r\n", .read("", 0)),
    ("5\r\nhello\r\n0\r\n\r\n·GET", .read("hello", 0)),
    ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", .read("hello world", 0)),
    ("A\r\n0123456789\r\na\r\nabcdefghij\r\n00\r\n\r\n", .read("0123456789abcdefghij", 0)),
    ("0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", .read("hello", 0)),
    ("2\r\n\r\n\r\n0\r\n\r\n", .read("\r\n", 0)),
    ("0\r\nX: y\r\nZ:\r\n\r\n·", .read("X: y\r\nZ:\r\n", 0)),
    ("5;a\r\nhello\r\n0;b=c;d=\"e;\\\"\r\\\n\"\r\n\r\n", .refused(.badChunkExtension)),
    ("5;a\r\nhello\r\n0;b=c;d=\"e;\\\"f\"\r\n\r\n", .read("hello", 0)),
    ("5 ; a = b ;c\r\nhello\r\n0\r\n\r\n", .read("hello", 0)),
    ("5\t;\ta=\"\"\r\nhello\r\n0\r\n\r\n", .read("hello", 0)),
    ("", .needsMore), ("5", .needsMore), ("5\r", .needsMore), ("5\r\nhello", .needsMore),
    ("5\r\nhello\r\n0\r\n", .needsMore),
    ("5\r\nhello\r\n0\r\n\r", .needsMore), ("0\r\nX: y\r\n", .needsMore),
    ("00000000000000005\r\nhello\r\n", .refused(.badChunkSize)),
    ("8000000000000000\r\n", .refused(.badChunkSize)),
    ("FFFFFFFFFFFFFFFF\r\n", .refused(.badChunkSize)),
    ("10000000000000005\r\n", .refused(.badChunkSize)),
    ("7FFFFFFFFFFFFFFF\r\n", .refused(.tooLarge)),
    ("\r\n", .refused(.badChunkSize)),
    (";a\r\n", .refused(.badChunkSize)),
    ("0x5\r\nhello\r\n", .refused(.badChunkSize)),
    ("+5\r\nhello\r\n", .refused(.badChunkSize)),
    ("-5\r\nhello\r\n", .refused(.badChunkSize)),
    (" 5\r\nhello\r\n", .refused(.badChunkSize)),
    ("5_0\r\n", .refused(.badChunkSize)),
    ("5g\r\n", .refused(.badChunkSize)),
    ("5,\r\n", .refused(.badChunkSize)),
    ("5 \r\nhello\r\n", .refused(.badChunkExtension)),
    ("5 5\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5\nhello\r\n", .refused(.badChunkSize)),
    ("5\r\rhello\r\n", .refused(.badLineEnd)),
    ("5\rhello\r\n", .refused(.badLineEnd)),
    ("5\r\nhello!\r\n", .refused(.badLineEnd)),
    ("5\r\nhello!\n0\r\n\r\n", .refused(.badLineEnd)),
    ("5\r\nhello\n0\r\n\r\n", .refused(.badLineEnd)),
    ("5\r\nhello\rX", .refused(.badLineEnd)),
    ("5\r\nhello\r\r\n", .refused(.badLineEnd)),
    ("5\r\nhell\r\n0\r\n\r\n", .refused(.badLineEnd)),
    ("5\r\nhello0\r\n\r\n", .refused(.badLineEnd)),
    ("5\r\nhello\r\n\r\n", .refused(.badChunkSize)),
    ("5;\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a=\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;=a\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a b\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a=b c\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a=\"b\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a=\"b\"c\r\nhello\r\n", .refused(.badChunkExtension)),
    ("5;a\nhello\r\n0\r\n\r\n", .refused(.badChunkExtension)),
    ("5;a\r5\r\nhello\r\n", .refused(.badLineEnd)),
    ("5;\u{0}\r\nhello\r\n", .refused(.badChunkExtension)),
    ("0\r\nX : y\r\n\r\n", .refused(.trailer(.spaceInName))),
    ("0\r\nX: y\r\n z\r\n\r\n", .refused(.trailer(.folded))),
    ("0\r\nX: y\n\r\n", .refused(.trailer(.bareLineFeed))),
    ("0\r\nGET / HTTP/1.1\r\n", .refused(.trailer(.spaceInName))),
    ("0\r\n\rX", .refused(.trailer(.bareCarriageReturn))),
    ("0\r\n\n", .refused(.trailer(.bareLineFeed))),
    ("0\r\nContent-Length: 5\r\n\r\n", .refused(.forbiddenTrailer)),
    ("0\r\ntransfer-encoding: chunked\r\n\r\n", .refused(.forbiddenTrailer)),
    ("0\r\nHost: b\r\n\r\n", .refused(.forbiddenTrailer)),
    ("0\r\nAuthorization: b\r\n\r\n", .refused(.forbiddenTrailer)),
    (
      "3E8\r\n" + String(repeating: "a", count: 1_000) + "\r\n0\r\n\r\n", .read(String(repeating: "a", count: 1_000), 0)
    ),
    ("3E9\r\n", .refused(.tooLarge)),
    ("3E8\r\n" + String(repeating: "a", count: 1_000) + "\r\n1\r\n", .refused(.tooLarge)),
    ("5;" + String(repeating: "a", count: 4_096) + "\r\nhello\r\n", .refused(.chunkExtensionTooLong)),
    ("5;" + String(repeating: "a;", count: 2_049), .refused(.chunkExtensionTooLong)),
    ("0\r\n" + (0..<33).map { "X\($0): y\r\n" }.joined(), .refused(.trailer(.tooMany))),
    ("0\r\nX: " + String(repeating: "y", count: 2_045), .refused(.trailer(.lineTooLong))),
  ]

  @Test(arguments: rows.indices)
  func `every chunked row has its outcome for every split`(_ index: Int) {
    let (text, expected) = BodyDecoderTests.rows[index]
    let parts = text.split(separator: "·", maxSplits: 1, omittingEmptySubsequences: false)
    let bytes = Array(parts.joined().utf8)
    for ends in Feeding.cuts(of: bytes.count) {
      var outcome = Feeding.body(bytes, ends: ends)
      if case .read(let payload, parts[0].utf8.count) = outcome { outcome = .read(payload, 0) }
      guard outcome == expected else {
        Issue.record("\(text.debugDescription.prefix(80)): \(outcome), cut at \(ends.prefix(2))")
        return
      }
    }
  }

  @Test(arguments: [
    (Framing.none, "", 0), (.length(0), "", 0), (.length(5), "hello", 5), (.untilClose, "hello, next", 11),
  ])
  func `the framing determines the end of an unchunked body`(_ framing: Framing, _ payload: String, _ length: Int) {
    let bytes = Array("hello, next".utf8)
    for ends in Feeding.cuts(of: bytes.count) {
      #expect(Feeding.body(bytes, framing, ends: ends) == .read(payload, length))
    }
  }

  @Test func `a length over the limit is refused before the body arrives`() {
    var decoder = BodyDecoder(.length(11), limit: 10)
    #expect(throws: BodyError.tooLarge) { try decoder.next([UInt8]().span) }
  }

  @Test func `a body without a declared length is refused at the limit`() {
    #expect(Feeding.body(Array("hello".utf8), .untilClose, ends: [5], limit: 4) == .refused(.tooLarge))
  }

  @Test func `a connection may close only at the end of a body`() throws {
    var decoder = BodyDecoder(.length(3), limit: 10)
    #expect(!decoder.mayEndHere)
    #expect(try decoder.next(Array("abc".utf8).span) == .payload(0..<3))
    #expect(decoder.mayEndHere)
    #expect(BodyDecoder(.untilClose, limit: 10).mayEndHere)
    #expect(!BodyDecoder(.chunked, limit: 10).mayEndHere)
  }

  @Test func `trailers are parsed as fields`() throws {
    var decoder = BodyDecoder(.chunked, limit: 10)
    #expect(try decoder.next(Array("0\r\nDigest: abc\r\n\r\nGET".utf8).span) == .end(18))
    #expect(decoder.trailers["digest"] == "abc")
  }

  @Test func `a chunked body round-trips`() {
    for length in [1, 9, 10, 15, 16, 255, 256, 4_095, 4_096, 65_536] {
      let payload = String(repeating: "x", count: length)
      let bytes = Chunk.prefix(length) + Array(payload.utf8) + Chunk.suffix + Chunk.last
      #expect(Feeding.body(bytes, ends: [bytes.count], limit: length) == .read(payload, bytes.count))
    }
  }

  @Test func `mutated bodies have the same outcome for every split`() {
    var random = Seeded(seed: 2)
    for _ in 0..<Fuzz.rounds {
      let row = BodyDecoderTests.rows.randomElement(using: &random)?.0.utf8.prefix(80) ?? ""[...].utf8
      let bytes = Array(row).mutated(&random)
      let whole = Feeding.body(bytes, ends: [bytes.count])
      #expect(Feeding.body(bytes, ends: Feeding.randomCuts(of: bytes.count, &random)) == whole)
      #expect(Feeding.body(bytes, ends: Array(0...bytes.count)) == whole)
    }
  }
}
