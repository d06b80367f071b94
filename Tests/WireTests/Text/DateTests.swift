import ParleyWire
import Testing

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

  @Test func `years after 9999 are clamped`() {
    #expect(HTTPDate.format(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
  }

  @Test(arguments: [
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),  // 50 years ahead
    ("Thursday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ("Sun, 06 Nov 1994 23:59:60 GMT", 784_166_400),
  ])
  func `obsolete formats are parsed`(_ text: String, _ seconds: Int) {
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
  func `other formats are refused`(_ text: String) {
    #expect(HTTPDate.parse(text, now: DateTests.now) == nil)
  }
}
