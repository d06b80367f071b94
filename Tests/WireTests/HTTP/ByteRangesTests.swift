import ParleyWire
import Testing

@Suite struct ByteRangesTests {
  /// Ranges of a file of 100 bytes.
  static let rows: [(String?, ByteRanges)] = [
    (nil, ByteRanges.whole), ("", .whole), ("bytes", .whole), ("bytes=", .whole), ("bytes=,", .whole),
    ("items=0-1", .whole),
    ("bytes=0-0", .some([0..<1])), ("Bytes=0-49", .some([0..<50])), ("bytes=50-", .some([50..<100])),
    ("bytes=90-1000", .some([90..<100])), ("bytes=-10", .some([90..<100])), ("bytes=-1000", .some([0..<100])),
    ("bytes=0-9, 20-29 ,-1", .some([0..<10, 20..<30, 99..<100])), ("bytes=,0-9,", .some([0..<10])),
    ("bytes=20-29,0-9", .some([20..<30, 0..<10])), ("bytes=0-9,200-300", .some([0..<10])),
    ("bytes=0-9,9-19", .whole), ("bytes=0-,0-,0-", .whole), ("bytes=-1,-1", .whole),
    ("bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16", .whole),
    ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=100-200,300-", .unsatisfiable),
    ("bytes=5-4", .whole), ("bytes=a-b", .whole), ("bytes=0-9x", .whole), ("bytes= 0 - 9", .whole),
    ("bytes=--1", .whole),
    ("bytes=-", .whole), ("bytes=5", .whole), ("bytes=0-9,x", .whole), ("bytes=0-99999999999999999999", .whole),
  ]

  @Test(arguments: rows)
  func `a range field is parsed or ignored`(_ value: String?, _ ranges: ByteRanges) {
    #expect(ByteRanges(value, length: 100) == ranges)
  }

  @Test func `an empty file has no range`() {
    #expect(ByteRanges("bytes=0-", length: 0) == .unsatisfiable)
    #expect(ByteRanges("bytes=-5", length: 0) == .unsatisfiable)
    #expect(ByteRanges.contentRange(0..<5, of: 10) == "bytes 0-4/10")
    #expect(ByteRanges.unsatisfiableContentRange(of: 10) == "bytes */10")
  }
}
