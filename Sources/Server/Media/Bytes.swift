// Bounds-checked access to bytes: beyond the end the result is nil or false.

extension Span where Element == UInt8 {
  func has(_ other: [UInt8], at start: Int) -> Bool {
    guard start >= 0, start <= count, count - start >= other.count else { return false }
    for index in other.indices where self[start + index] != other[index] { return false }
    return true
  }

  func has(_ text: String, at start: Int) -> Bool { has(Array(text.utf8), at: start) }

  /// Big-endian, as in nearly all of these formats.
  func uint(_ length: Int, at start: Int) -> Int? {
    guard start >= 0, start <= count, count - start >= length else { return nil }
    var value = 0
    for index in 0..<length { value = value << 8 | Int(self[start + index]) }
    return value
  }

  func littleUInt(_ length: Int, at start: Int) -> Int? {
    guard start >= 0, start <= count, count - start >= length else { return nil }
    var value = 0
    for index in (0..<length).reversed() { value = value << 8 | Int(self[start + index]) }
    return value
  }

  func uint16(at start: Int) -> Int? { uint(2, at: start) }
  func uint32(at start: Int) -> Int? { uint(4, at: start) }
}

extension [UInt8] {
  /// Appends bytes of `piece` from `index` until `self` has `count` bytes. Returns whether it has.
  mutating func gather(_ piece: [UInt8], from index: inout Int, until count: Int) -> Bool {
    let end = Swift.min(index + Swift.max(count - self.count, 0), piece.count)
    append(contentsOf: piece[index..<end])
    index = end
    return self.count >= count
  }

  mutating func append(uint32 value: Int) {
    for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
