import ParleyWire
import TestSupport
import Testing

@Suite struct MultipartDecoderTests {
  private static func part(_ disposition: String, _ body: String = "x") -> String {
    "--b\r\nContent-Disposition: \(disposition)\r\n\r\n\(body)\r\n--b--\r\n"
  }

  static let rows: [(String, Outcome<[String], MultipartError>)] = [
    (part("form-data; name=\"a\""), .read(["a=x"], 0)),
    (part("form-data; name=a"), .read(["a=x"], 0)),
    (part("Form-Data;name=\"a\" ; filename=\"f.txt\""), .read(["a|f.txt=x"], 0)),
    (part("form-data; name=\"a\"; filename=\"a\\\"b\\\\c\""), .read(["a|a\"b\\c=x"], 0)),
    (part("form-data; name=\"a\"; filename=\"C:\\dir\\f.txt\""), .read(["a|C:\\dir\\f.txt=x"], 0)),
    (part("form-data; name=\"a\"; filename=\"über; x.txt\""), .read(["a|über; x.txt=x"], 0)),
    (part("form-data; name=\"a\"; filename=\"\""), .read(["a|=x"], 0)),
    (part("form-data; name=\"a\"; filename=\"u.txt\"; filename*=UTF-8''%C3%BC.txt"), .read(["a|ü.txt=x"], 0)),
    (part("form-data; name=\"a\"", ""), .read(["a="], 0)),
    (part("form-data; name=\"a\"", "\r\n"), .read(["a=\r\n"], 0)),
    (part("form-data; name=\"a\"", "\r\n--\r\n-\r\r\n--c\r\n"), .read(["a=\r\n--\r\n-\r\r\n--c\r\n"], 0)),
    (part("form-data; name=\"a\"", "--b"), .read(["a=--b"], 0)),
    (part("form-data; name=\"a\"", "\r\r\n\r\n-"), .read(["a=\r\r\n\r\n-"], 0)),
    (
      "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain\r\n\r\n1\r\n--b \t\r\n"
        + "Content-Disposition: form-data; name=b\r\n\r\n2\r\n--b--",
      .read(["a|text/plain=1", "b=2"], 0)
    ),
    ("--b--", .read([], 0)),
    ("preamble\r\n--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--epilogue", .read(["a=1"], 0)),
    ("\r\n--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\n--b\r\n", .read(["a=1"], 0)),
    ("", .needsMore),
    ("--b", .needsMore),
    ("--b-", .needsMore),
    ("no boundary at all", .needsMore),
    ("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1", .needsMore),
    ("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b", .needsMore),
    ("--bc\r\n", .refused(.badDelimiter)),
    ("--b\n", .refused(.badDelimiter)),
    ("--b\rX", .refused(.badDelimiter)),
    ("--b-X", .refused(.badDelimiter)),
    ("--b --", .refused(.badDelimiter)),
    ("--b" + String(repeating: " ", count: 65), .refused(.badDelimiter)),
    ("--b\r\n\r\nx\r\n--b--", .refused(.badDisposition)),
    (part("attachment; name=\"a\""), .refused(.badDisposition)),
    (part("form-data"), .refused(.badDisposition)),
    (part("form-data; filename=\"f\""), .refused(.badDisposition)),
    (part("form-data; name=\"a\"; name=\"b\""), .refused(.badDisposition)),
    (part("form-data; name=\"a"), .refused(.badDisposition)),
    (part("form-data; name=\"a\" x"), .refused(.badDisposition)),
    (part("form-data; name=a; filename*=latin-1''%fc"), .refused(.badDisposition)),
    (part("form-data; name=a; filename*=UTF-8''%fc"), .refused(.badDisposition)),
    (part("form-data; name=a; filename*=UTF-8''%00"), .refused(.badDisposition)),
    (
      "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n",
      .refused(.badDisposition)
    ),
    ("--b\r\nContent-Disposition: form-data; name=a\nX", .refused(.head(.bareLineFeed))),
    ("--b\r\nContent-Disposition : form-data", .refused(.head(.spaceInName))),
    ("--b\r\n" + (0..<17).map { "X\($0): y\r\n" }.joined(), .refused(.head(.tooMany))),
    ("--b\r\nX: " + String(repeating: "y", count: 4_093), .refused(.head(.lineTooLong))),
    (
      String(repeating: "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", count: 33), .refused(.tooManyParts)
    ),
  ]

  @Test(arguments: rows.indices)
  func `every row has its outcome for every split`(_ index: Int) {
    let (text, expected) = MultipartDecoderTests.rows[index]
    let bytes = Array(text.utf8)
    for ends in Feeding.cuts(of: bytes.count) {
      let outcome = Feeding.form(bytes, ends: ends)
      guard outcome == expected else {
        Issue.record("\(text.debugDescription.prefix(120)): \(outcome), cut at \(ends.prefix(2))")
        return
      }
    }
  }

  @Test(arguments: [
    ("multipart/form-data; boundary=abc", true), ("Multipart/Form-Data; Boundary=\"a b'()+_,-./:=?\"", true),
    ("multipart/form-data", false), ("multipart/form-data; boundary=\"\"", false),
    ("multipart/form-data; boundary=\"a \"", false), ("multipart/form-data; boundary=\"a\u{e4}\"", false),
    ("multipart/form-data; boundary=\"a;b\"", false), ("multipart/mixed; boundary=a", false), ("text/plain", false),
    ("multipart/form-data; boundary=" + String(repeating: "a", count: 70), true),
    ("multipart/form-data; boundary=" + String(repeating: "a", count: 71), false),
  ])
  func `only a form with a valid boundary is parsed`(_ contentType: String, _ isValid: Bool) throws {
    let type = try #require(MediaType(contentType))
    #expect((MultipartDecoder(type) != nil) == isValid)
  }

  @Test func `payload of partial delimiters takes linear time`() {
    let payload = String(repeating: "\r\n--bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", count: 4_000)
    let boundary = String(repeating: "b", count: 60)
    let bytes = Array(
      "--\(boundary)\r\nContent-Disposition: form-data; name=a\r\n\r\n\(payload)\r\n--\(boundary)--".utf8)
    let start = Feeding.threadSeconds
    #expect(Feeding.form(bytes, boundary: boundary, ends: [bytes.count]) == .read(["a=" + payload], 0))
    #expect(Feeding.threadSeconds - start < 5)
  }

  @Test func `mutated forms have the same outcome for every split`() {
    var random = Seeded(seed: 4)
    for _ in 0..<Fuzz.rounds {
      let row = MultipartDecoderTests.rows.randomElement(using: &random)?.0.utf8.prefix(160) ?? ""[...].utf8
      let bytes = Array(row).mutated(&random)
      let whole = Feeding.form(bytes, ends: [bytes.count])
      #expect(Feeding.form(bytes, ends: Feeding.randomCuts(of: bytes.count, &random)) == whole)
      #expect(Feeding.form(bytes, ends: Array(0...bytes.count)) == whole)
    }
  }
}
