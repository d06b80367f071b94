/// The orientation (Exif 3.0 §4.6.5.1.3, tag 0x0112): 1 as stored, 2 to 8 rotated or mirrored.
struct Orientation: Equatable {
  let value: UInt8

  /// Nil for 1, the default.
  init?(_ value: Int) {
    guard 2...8 ~= value else { return nil }
    self.value = UInt8(value)
  }

  /// Reads the orientation from Exif data, a small TIFF file.
  init?(tiff bytes: Span<UInt8>) {
    let isLittle = bytes.has([0x49, 0x49, 0x2a, 0x00], at: 0)
    guard isLittle || bytes.has([0x4d, 0x4d, 0x00, 0x2a], at: 0) else { return nil }
    guard let directory = bytes.number(4, at: 4, isLittle), let count = bytes.number(2, at: directory, isLittle) else {
      return nil
    }
    for index in 0..<count {
      let entry = directory + 2 + 12 * index
      guard let tag = bytes.number(2, at: entry, isLittle) else { return nil }
      guard tag == 0x0112 else { continue }
      // Type SHORT, count 1.
      guard bytes.number(2, at: entry + 2, isLittle) == 3, bytes.number(4, at: entry + 4, isLittle) == 1,
        let value = bytes.number(2, at: entry + 8, isLittle)
      else { return nil }
      self.init(value)
      return
    }
    return nil
  }

  var isQuarterTurn: Bool { value >= 5 }

  var tiff: [UInt8] { Self.tiff(value) }

  /// Exif data with only the orientation.
  static func tiff(_ value: UInt8) -> [UInt8] {
    [0x4d, 0x4d, 0x00, 0x2a, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
  }
}

extension Span where Element == UInt8 {
  fileprivate func number(_ length: Int, at start: Int, _ isLittle: Bool) -> Int? {
    isLittle ? littleUInt(length, at: start) : uint(length, at: start)
  }
}
