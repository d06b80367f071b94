import TestSupport
import Testing

@testable import Media

@Suite struct TIFFScanTests {
  /// The file with zeros in the private ranges.
  private static func served(_ bytes: [UInt8]) throws(PictureFilter.Malformed) -> [UInt8] {
    var scan = TIFFScan(size: bytes.count)
    while let range = scan.wanted {
      guard range.upperBound <= bytes.count else { throw PictureFilter.Malformed() }
      try scan.take(Array(bytes[range]))
    }
    var served = bytes
    for range in scan.privateRanges { for index in range { served[index] = 0 } }
    return served
  }

  private static func count(of part: [UInt8], in bytes: [UInt8]) -> Int {
    bytes.indices.filter { bytes[$0...].starts(with: part) }.count
  }

  @Test(arguments: [false, true])
  func `only the picture and its orientation remain`(isLittle: Bool) throws {
    let bytes = Photographs.tiff(isLittle: isLittle)
    #expect(Self.count(of: Photographs.secret, in: bytes) == 3)
    let served = try Self.served(bytes)
    #expect(served.count == bytes.count && Self.count(of: Photographs.secret, in: served) == 0)
    #expect(served.prefix(16) == bytes.prefix(16))
    // The directory of the picture is as it was: its entries point to zeros.
    #expect(served.suffix(2 + 8 * 12 + 4) == bytes.suffix(2 + 8 * 12 + 4))
    #expect(Orientation(tiff: served.span)?.value == 6)
    #expect(try Self.served(served.map { $0 }) == served)
  }

  @Test func `camera raw data loses its location and keeps the tags of its camera`() throws {
    let bytes = Photographs.tiff(isRaw: true)
    let served = try Self.served(bytes)
    #expect(Self.count(of: Photographs.secret, in: served) == 2)
    let place = 16 + Photographs.secret.count
    #expect(served[place..<place + Photographs.secret.count].allSatisfy { $0 == 0 })
  }

  @Test func `loops and values outside of the file are rejected`() {
    let bytes = Photographs.tiff()
    let start = bytes.count - (2 + 8 * 12 + 4)
    func changed(_ offset: Int, _ value: [UInt8]) -> [UInt8] {
      var bytes = bytes
      bytes.replaceSubrange(offset..<offset + value.count, with: value)
      return bytes
    }
    let rows = [
      [], Array(bytes.prefix(9)), Array(bytes.dropLast()), changed(4, Photographs.big(1 << 30, 4)),
      // The next directory is the same one.
      changed(bytes.count - 4, Photographs.big(start, 4)),
      // More entries, and a longer text, than the file has.
      changed(start, [0xff, 0xff]), changed(start + 2 + 2 * 12 + 4, Photographs.big(1 << 31, 4)),
    ]
    for row in rows { #expect(throws: PictureFilter.Malformed.self) { try Self.served(row) } }
  }

  @Test func `a mutated file ends the scan`() {
    var random = Seeded(seed: 5)
    for _ in 0..<3_000 {
      var bytes = Photographs.tiff(isLittle: Bool.random(using: &random))
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? Self.served(bytes)
    }
  }
}
