/// The size of an AVIF or HEIC picture (ISO 23008-12 §6.5.3, `ispe`). A file has one `ispe` box per picture; the
/// largest is the whole picture, since tiles and thumbnails are smaller.
enum BoxSizes {
  /// A limit for malicious files. Real pictures have fewer boxes.
  private static let maxBoxes = 1_000

  static func largest(in bytes: Span<UInt8>) -> PixelSize? {
    var finder = Finder()
    finder.look(at: bytes, 0..<bytes.count, inside: "")
    guard let found = finder.largest else { return nil }
    return finder.isTurned ? PixelSize(width: found.height, height: found.width) : found
  }

  private struct Finder {
    var largest: PixelSize?
    /// A rotation by a quarter turn. A file that rotates one of its pictures rotates all.
    var isTurned = false
    var boxes = 0

    mutating func look(at bytes: Span<UInt8>, _ range: Range<Int>, inside: String) {
      var start = range.lowerBound
      while start + 8 <= range.upperBound, boxes < maxBoxes {
        boxes += 1
        guard let length = bytes.uint32(at: start), length >= 8, let name = bytes.uint32(at: start + 4) else { return }
        let end = min(start + length, range.upperBound)
        switch (inside, name) {
        // "meta" starts with four bytes of version and flags.
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
