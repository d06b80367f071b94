import Testing
import Wire

@Suite struct DateTests {
  static let now = 1_795_187_801  // 2026-11-20T15:16:41Z

  @Test(arguments: [
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (1_795_187_801, "Fri, 20 Nov 2026 15:16:41 GMT"),
    (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
  ])
  func `an HTTP date is written and read back`(_ seconds: Int, _ text: String) {
    #expect(HTTPDate.format(seconds) == text)
    #expect(HTTPDate.bytes(seconds).count == 29)
    #expect(HTTPDate.parse(text, now: DateTests.now) == seconds)
  }

  @Test func `what four digits of a year cannot write is written as the nearest`() {
    #expect(HTTPDate.format(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(Timestamp.format(.min) == "0000-01-01T00:00:00.000Z")
    #expect(Timestamp.format(.max) == "9999-12-31T23:59:59.999Z")
  }

  @Test(arguments: [
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),  // 50 years ahead
    ("Thursday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ("Sun, 06 Nov 1994 23:59:60 GMT", 784_166_400),
  ])
  func `the older formats are read too`(_ text: String, _ seconds: Int) {
    #expect(HTTPDate.parse(text, now: DateTests.now) == seconds)
  }

  @Test(arguments: [
    "", "Sun", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "784111777",
  ])
  func `what is none of the three formats is refused`(_ text: String) {
    #expect(HTTPDate.parse(text, now: DateTests.now) == nil)
  }

  @Test func `days all over eight centuries are written and read back`() {
    for day in stride(from: -146_097, to: 146_097, by: 5) {
      let milliseconds = day * 86_400_000 + 1
      #expect(Timestamp.parse(Timestamp.format(milliseconds)) == milliseconds)
    }
  }

  @Test(arguments: [
    ("2026-11-20T15:16:41.123Z", 1_795_187_801_123), ("1969-12-31T23:59:59.999Z", -1),
    ("2026-11-20T15:16:41Z", 1_795_187_801_000), ("2026-11-20T15:16:41.1Z", 1_795_187_801_100),
    ("2026-11-20T15:16:41.123456789Z", 1_795_187_801_123), ("2026-11-20T16:46:41+01:30", 1_795_187_801_000),
    ("2026-11-20T15:16:41-00:00", 1_795_187_801_000), ("2026-11-19T23:16:41-16:00", 1_795_187_801_000),
  ])
  func `a timestamp is read to the millisecond`(_ text: String, _ milliseconds: Int) {
    #expect(Timestamp.parse(text) == milliseconds)
  }

  @Test(arguments: [
    "", "2026-11-20", "2026-11-20T15:16Z", "2026-11-20 15:16:41Z", "2026-11-20t15:16:41z", "2026-11-20T15:16:41",
    "2026-11-20T15:16:41.Z", "2026-11-20T15:16:41.1234567890Z", "2026-13-20T15:16:41Z", "2026-02-29T15:16:41Z",
    "2026-11-20T24:00:00Z", "2026-11-20T15:16:60Z", "2026-11-20T15:16:41+1:00", "2026-11-20T15:16:41+0100",
    "2026-11-20T15:16:41+24:00", "2026-11-20T15:16:41ZZ", "02026-11-20T15:16:41Z", "-026-11-20T15:16:41Z",
  ])
  func `what is no timestamp is refused`(_ text: String) {
    #expect(Timestamp.parse(text) == nil)
  }
}
