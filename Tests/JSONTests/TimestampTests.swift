import ParleyJSON
import TestSupport
import Testing

@Suite struct TimestampTests {
  @Test func `years outside 0 to 9999 are clamped`() {
    #expect(Timestamp.format(.min) == "0000-01-01T00:00:00.000Z")
    #expect(Timestamp.format(.max) == "9999-12-31T23:59:59.999Z")
  }

  @Test func `days of eight centuries round-trip`() {
    for day in stride(from: -146_097, to: 146_097, by: 5) {
      let milliseconds = day * 86_400_000 + 1
      #expect(Timestamp.parse(Timestamp.format(milliseconds)) == milliseconds)
    }
  }

  @Test(arguments: [
    ("2026-11-20T15:16:41.123Z", 1_795_187_801_123), ("1969-12-31T23:59:59.999Z", -1),
    ("2026-11-20T15:16:41Z", 1_795_187_801_000), ("2026-11-20T15:16:41.1Z", 1_795_187_801_100),
    ("2026-11-20T15:16:41.123456789123Z", 1_795_187_801_123), ("2026-11-20T16:46:41+01:30", 1_795_187_801_000),
    ("2026-11-20t15:16:41z", 1_795_187_801_000),
    ("2026-11-20T15:16:41-00:00", 1_795_187_801_000), ("2026-11-19T23:16:41-16:00", 1_795_187_801_000),
  ])
  func `a timestamp is read to the millisecond`(_ text: String, _ milliseconds: Int) {
    #expect(Timestamp.parse(text) == milliseconds)
  }

  @Test(arguments: [
    "", "2026-11-20", "2026-11-20T15:16Z", "2026-11-20 15:16:41Z", "2026-11-20T15:16:41",
    "2026-11-20T15:16:41.Z", "9999-12-31T23:59:59-00:01",
    "0000-01-01T00:00:00+00:01", "2026-13-20T15:16:41Z", "2026-02-29T15:16:41Z",
    "2026-11-20T24:00:00Z", "2026-11-20T15:16:60Z", "2026-11-20T15:16:41+1:00", "2026-11-20T15:16:41+0100",
    "2026-11-20T15:16:41+24:00", "2026-11-20T15:16:41ZZ", "02026-11-20T15:16:41Z", "-026-11-20T15:16:41Z",
  ])
  func `an invalid timestamp is rejected`(_ text: String) {
    #expect(Timestamp.parse(text) == nil)
  }

  @Test func `a timestamp is a string in JSON`() throws {
    var json = JSONWriter()
    json.value([Timestamp(1_795_187_801_123), Timestamp(Int64(-1))])
    #expect(String(decoding: json.bytes, as: UTF8.self) == #"["2026-11-20T15:16:41.123Z","1969-12-31T23:59:59.999Z"]"#)
    #expect(try [Timestamp](json: JSONValue(parsing: json.bytes)).map(\.milliseconds) == [1_795_187_801_123, -1])
    for text in [#""yesterday""#, "1795187801123", "null", #""""#] {
      #expect(throws: JSONError.self) { try Timestamp(json: JSONValue(parsing: Array(text.utf8))) }
    }
  }

  @Test func `a mutated text is rejected or round-trips`() {
    var random = Seeded(seed: 3)
    for _ in 0..<20_000 {
      var bytes = Array("2026-11-20T15:16:41.123+01:30".utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0x20...0x7e, using: &random)
      }
      guard let milliseconds = Timestamp.parse(String(decoding: bytes, as: UTF8.self)) else { continue }
      let written = Timestamp.format(milliseconds)
      #expect(Timestamp.parse(written).map(Timestamp.format) == written)
    }
  }
}
