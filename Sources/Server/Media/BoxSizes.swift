/// The sizes that a file of AVIF or HEIC names (ISO 23008-12 §6.5.3, `ispe`). It has one for each of its pictures; that of
/// the whole is the largest, since tiles and thumbnails are smaller.
enum BoxSizes {
  /// Whoever needs more boxes than these is not making a picture.
  private static let mostBoxes = 1_000

  static func largest(in bytes: Span<UInt8>) -> PixelSize? {
    var finder = Finder()
    finder.look(at: bytes, 0..<bytes.count, inside: "")
    guard let found = finder.largest else { return nil }
    return finder.isTurned ? PixelSize(width: found.height, height: found.width) : found
  }

  private struct Finder {
    var largest: PixelSize?
    /// By a quarter, for the whole: a file that turns one of its pictures turns all.
    var isTurned = false
    var boxes = 0

    mutating func look(at bytes: Span<UInt8>, _ range: Range<Int>, inside: String) {
      var start = range.lowerBound
      while start + 8 <= range.upperBound, boxes < mostBoxes {
        boxes += 1
        guard let length = bytes.uint32(at: start), length >= 8, let name = bytes.uint32(at: start + 4) else { return }
        let end = min(start + length, range.upperBound)
        switch (inside, name) {
        // "meta", which has four bytes of version and flags
        case ("", 0x6d65_7461): look(at: bytes, min(start + 12, end)..<end, inside: "meta")
        case ("meta", 0x6970_7270): look(at: bytes, start + 8..<end, inside: "iprp")
        case ("iprp", 0x6970_636f): look(at: bytes, start + 8..<end, inside: "ipco")
        case ("ipco", 0x6973_7065): takeSize(bytes, at: start + 12)
        case ("ipco", 0x6972_6f74): isTurned = (bytes.uint(1, at: start + 8) ?? 0) & 1 == 1
        default: break
        }
        start += length
      }
    }

    private mutating func takeSize(_ bytes: Span<UInt8>, at start: Int) {
      guard let width = bytes.uint32(at: start), let height = bytes.uint32(at: start + 4),
        let size = PixelSize(width: width, height: height)
      else { return }
      let pixels = { (size: PixelSize) in Double(size.width) * Double(size.height) }
      if largest.map({ pixels($0) < pixels(size) }) ?? true { largest = size }
    }
  }
}
