// Many bytes at a time. The loads say `unsafe` because a `RawSpan` lets any type be read from any bytes; the bounds are
// checked on every one, and a vector of integers has no bit pattern that is not a value.

extension [UInt8] {
  /// Appends the bytes with a mask taken off (or put on: RFC 6455 §5.3 is the same both ways).
  mutating func append(_ bytes: Span<UInt8>, masked mask: Mask?) {
    let start = count
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    guard let mask else { return }
    var span = mutableSpan
    var raw = unsafe span.mutableBytes
    let end = raw.byteCount
    let wide = SIMD8<UInt64>(repeating: mask.word)
    var place = start
    while place &+ 64 <= end {
      let word = unsafe raw.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: SIMD8<UInt64>.self)
      raw.storeBytes(of: word ^ wide, toByteOffset: place, as: SIMD8<UInt64>.self)
      place &+= 64
    }
    while place &+ 8 <= end {
      let word = unsafe raw.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      raw.storeBytes(of: word ^ mask.word, toByteOffset: place, as: UInt64.self)
      place &+= 8
    }
    // 64 and 8 are multiples of the key's four bytes, so the key is in phase here.
    var rest = mask
    while place < end {
      raw.storeBytes(of: raw.bytes.byte(at: place) ^ rest.first, toByteOffset: place, as: UInt8.self)
      rest.advance(by: 1)
      place &+= 1
    }
  }
}

extension RawSpan {
  fileprivate func byte(at place: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }
}

extension Span<UInt8> {
  /// The first place at or after `start` where this byte is; the end where there is none.
  public func place(of byte: UInt8, from start: Int) -> Int {
    let raw = unsafe bytes
    let end = raw.byteCount
    let wanted = UInt64(byte) &* 0x0101_0101_0101_0101
    var place = start
    while place &+ 8 <= end {
      let word = UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ wanted
      // The lowest bit that is set stands in the first byte that is nought.
      let noughts = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      if noughts != 0 { return place &+ noughts.trailingZeroBitCount / 8 }
      place &+= 8
    }
    while place < end, raw.byte(at: place) != byte { place &+= 1 }
    return max(place, start)
  }

  /// A place at or after `start` before which all bytes from `start` are ASCII: near the first that is not.
  func asciiRun(from start: Int) -> Int {
    let raw = unsafe bytes
    let end = raw.byteCount
    var place = start
    while place &+ 64 <= end {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: place, as: SIMD8<UInt64>.self)
      let half = word.lowHalf | word.highHalf
      let quarter = half.lowHalf | half.highHalf
      if (quarter[0] | quarter[1]) & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 64
    }
    while place &+ 8 <= end {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 8
    }
    return place
  }
}
