import ParleyWire
import TestSupport
import Testing

@Suite struct RequestParserTests {
  @Test(arguments: requestRows)
  func `every row has its outcome for every split`(_ row: RequestRow) {
    let bytes = row.bytes
    for ends in Feeding.cuts(of: bytes.count) {
      let outcome = Feeding.request(bytes, ends: ends)
      switch outcome {
      case .read(let summary, let length):
        let words = summary.description.split(separator: " ").joined(separator: " ")
        guard case .read(let expected, length) = row.outcome,
          expected.split(separator: " ").joined(separator: " ") == words
        else {
          Issue.record("read \(words) in \(length) bytes, cut at \(ends.prefix(2))")
          return
        }
      case .needsMore:
        guard case .needsMore = row.outcome else {
          Issue.record("needs more, cut at \(ends.prefix(2))")
          return
        }
      case .refused(let error):
        guard case .refused(error) = row.outcome else {
          Issue.record("refused: \(error), cut at \(ends.prefix(2))")
          return
        }
      }
    }
  }

  @Test func `the fields are unchanged and in order`() throws {
    let input = Array("GET / HTTP/1.1\r\nHost: a\r\nCookie:  x \r\nEmpty:\r\ncookie: y\r\n\r\n".utf8)
    var parser = RequestParser()
    let head = try #require(try parser.parse(input.span)).head
    #expect(head.fields.count == 4)
    #expect(head.fields.all("cookie") == ["x", "y"])
    #expect(head.fields["empty"] == "")
    #expect(head.fields.wireBytes == Array(input[16..<input.count - 2]))
  }

  @Test func `one parser parses consecutive messages`() throws {
    let first = "POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\n"
    let second = "\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n"
    var parser = RequestParser()
    let one = try #require(try parser.parse(Array((first + second).utf8).span))
    let two = try #require(try parser.parse(Array(second.utf8).span))
    #expect(one.length == first.utf8.count)
    #expect(two.length == second.utf8.count)
    #expect(two.head.target.path == "/b")
    #expect(two.head.framing == .none)
    #expect(two.head.keepsAlive)
    #expect(two.head.fields.count == 1)
  }

  static let small = HeadLimits(line: 40, fields: 60, count: 3)

  @Test(arguments: [
    ("GET /12345678901234567890 HTTP/1.1\r\nHost: a\r\n\r\n", nil),
    ("GET /1234567890123456789012345678 HTTP/1.1", RequestError.lineTooLong),
    (String(repeating: "G", count: 41), .lineTooLong),
    ("\r\nGET /12345678901234567890123 HTTP/1.1\r\nHost: a\r\n\r\n", nil),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: 1234567890123456789012345678901234\r\n\r\n", nil),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: 12345678901234567890123456789012345678", .field(.lineTooLong)),
    ("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X", count: 41), .field(.lineTooLong)),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: 123456789012345678901234567890\r\nY: 1234567890123", .field(.sectionTooLong)),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\nY: c\r\nZ:", .field(.tooMany)),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\nY: c\r\n\r\n", nil),
  ])
  func `a head over a limit is refused, even if incomplete`(_ text: String, _ error: RequestError?) {
    let bytes = Array(text.utf8)
    for ends in Feeding.cuts(of: bytes.count) {
      let outcome = Feeding.request(bytes, ends: ends, limits: RequestParserTests.small)
      if let error {
        #expect(outcome == .refused(error), "cut at \(ends.prefix(2))")
      } else if case .read = outcome {
      } else {
        Issue.record("\(outcome), cut at \(ends.prefix(2))")
      }
    }
  }

  @Test(arguments: [
    (RequestError.lineTooLong, 414), (.field(.lineTooLong), 431), (.field(.sectionTooLong), 431),
    (.field(.tooMany), 431),
    (.field(.folded), 400), (.badLine, 400), (.badHost, 400), (.methodNotImplemented, 501), (.versionNotSupported, 505),
    (.framing(.unknownTransferCoding), 501), (.framing(.badTransferEncoding), 400), (.unknownExpectation, 417),
  ])
  func `an error has a status and an explanation`(_ error: RequestError, _ code: Int) {
    #expect(error.status.code == code)
    #expect(!error.explanation.isEmpty)
  }

  @Test func `a head in single bytes takes linear time`() {
    // 30,000 single bytes: quadratic scanning would read 450 million bytes.
    let value = String(repeating: "a", count: 7_000)
    let fields = (0..<4).map { "X\($0): \(value)\r\n" }.joined()
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    let start = Feeding.threadSeconds
    let outcome = Feeding.request(bytes, ends: Array(0...bytes.count))
    guard case .read = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(Feeding.threadSeconds - start < 5)
  }

  @Test func `mutated heads have the same outcome for every split`() {
    var random = Seeded(seed: 1)
    for _ in 0..<Fuzz.rounds {
      let bytes = requestRows.randomElement(using: &random)?.bytes.mutated(&random) ?? []
      let whole = Feeding.request(bytes, ends: [bytes.count])
      #expect(Feeding.request(bytes, ends: Feeding.randomCuts(of: bytes.count, &random)) == whole)
      #expect(Feeding.request(bytes, ends: Array(0...bytes.count)) == whole)
    }
  }
}

extension [UInt8] {
  /// Replaces, removes, inserts or duplicates a few bytes, with syntax characters more frequent.
  func mutated(_ random: inout Seeded) -> [UInt8] {
    let syntax = Array("\r\n\r\n:; \t,=\"\\%-0aF[]*/?#\0".utf8) + [0x7f, 0x80, 0xff]
    var bytes = self
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let index = Int.random(in: 0...bytes.count, using: &random)
      let byte =
        Bool.random(using: &random) ? syntax.randomElement(using: &random) ?? 0 : .random(in: 0...255, using: &random)
      switch Int.random(in: 0...3, using: &random) {
      case 0 where index < bytes.count: bytes[index] = byte
      case 1 where index < bytes.count: bytes.remove(at: index)
      case 2: bytes.insert(byte, at: index)
      default:
        let end = Swift.min(index + Int.random(in: 0...20, using: &random), bytes.count)
        bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
      }
    }
    return bytes
  }
}
