extension Span<UInt8> {
  /// Eight bytes, of which the first is the lowest.
  func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset + 8 <= count)
    return unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// Four bytes, of which the first is the lowest.
  func halfWord(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset + 4 <= count)
    return unsafe UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }
}

extension OutputSpan<UInt8> {
  /// Appends the text in quotes. Most texts are shorter than 16 bytes, so a call of `memcpy` would take longer.
  @inline(__always)
  mutating func append(quoting text: Span<UInt8>, after comma: Bool, isKey: Bool) {
    precondition(text.count + 4 <= freeCapacity)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      guard let start = buffer.baseAddress else { return }
      var end = unsafe UnsafeMutableRawPointer(start + count)
      func append(_ byte: UInt8) {
        unsafe end.storeBytes(of: byte, as: UInt8.self)
        unsafe end += 1
      }
      if comma { append(UInt8(ascii: ",")) }
      append(UInt8(ascii: "\""))
      unsafe text.copy(to: end)
      unsafe end += text.count
      append(UInt8(ascii: "\""))
      if isKey { append(UInt8(ascii: ":")) }
      count = unsafe end - UnsafeMutableRawPointer(start)
    }
  }
}

extension Span<UInt8> {
  /// The last copied word may overlap the one before.
  @inline(__always)
  fileprivate func copy(to start: UnsafeMutableRawPointer) {
    switch count {
    case 0..<4:
      for offset in indices { unsafe start.storeBytes(of: self[offset], toByteOffset: offset, as: UInt8.self) }
    case 4..<8:
      unsafe start.storeBytes(of: halfWord(at: 0).littleEndian, as: UInt32.self)
      unsafe start.storeBytes(of: halfWord(at: count - 4).littleEndian, toByteOffset: count - 4, as: UInt32.self)
    case 8..<128:
      var offset = 0
      while offset + 8 < count {
        unsafe start.storeBytes(of: word(at: offset).littleEndian, toByteOffset: offset, as: UInt64.self)
        offset += 8
      }
      unsafe start.storeBytes(of: word(at: count - 8).littleEndian, toByteOffset: count - 8, as: UInt64.self)
    default:
      unsafe withUnsafeBytes { source in
        guard let first = source.baseAddress else { return }
        unsafe start.copyMemory(from: first, byteCount: source.count)
      }
    }
  }
}
