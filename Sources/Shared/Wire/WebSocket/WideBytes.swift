// Word-sized and SIMD access to bytes. The loads are `unsafe` because a `RawSpan` reads any type from any bytes. Bounds
// are checked on each load, and every bit pattern is a valid integer vector.

extension [UInt8] {
  /// Appends the bytes with the mask applied (RFC 6455 §5.3: masking and unmasking are the same operation).
  mutating func append(_ bytes: Span<UInt8>, masked mask: Mask?) {
    let start = count
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    guard let mask else { return }
    var span = mutableSpan
    var raw = unsafe span.mutableBytes
    let end = raw.byteCount
    let wide = SIMD8<UInt64>(repeating: mask.word)
    var offset = start
    while offset &+ 64 <= end {
      let word = unsafe raw.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      raw.storeBytes(of: word ^ wide, toByteOffset: offset, as: SIMD8<UInt64>.self)
      offset &+= 64
    }
    while offset &+ 8 <= end {
      let word = unsafe raw.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      raw.storeBytes(of: word ^ mask.word, toByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    // 64 and 8 are multiples of the key's four bytes, so the key is in phase here.
    var key = mask
    while offset < end {
      raw.storeBytes(of: raw.bytes.byte(at: offset) ^ key.first, toByteOffset: offset, as: UInt8.self)
      key.advance(by: 1)
      offset &+= 1
    }
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

extension Span<UInt8> {
  /// The offset of the first occurrence of `byte` at or after `start`; the end if there is none.
  public func offset(of byte: UInt8, from start: Int) -> Int {
    let raw = unsafe bytes
    let end = raw.byteCount
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    var offset = start
    while offset &+ 8 <= end {
      let word = UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ pattern
      // The lowest set bit is in the first zero byte.
      let zeroBytes = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      if zeroBytes != 0 { return offset &+ zeroBytes.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < end, raw.byte(at: offset) != byte { offset &+= 1 }
    return max(offset, start)
  }

  /// An offset at or after `start` such that all bytes between are ASCII, close to the first non-ASCII byte.
  func asciiRun(from start: Int) -> Int {
    let raw = unsafe bytes
    let end = raw.byteCount
    var offset = start
    while offset &+ 64 <= end {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      let half = word.lowHalf | word.highHalf
      let quarter = half.lowHalf | half.highHalf
      if (quarter[0] | quarter[1]) & 0x8080_8080_8080_8080 != 0 { break }
      offset &+= 64
    }
    while offset &+ 8 <= end {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { break }
      offset &+= 8
    }
    return offset
  }
}
