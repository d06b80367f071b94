/// Validates a UTF-8 stream, split at any byte, and rejects the first invalid byte (RFC 3629 §4).
public struct UTF8Validator: Sendable {
  /// Continuation bytes still needed by the current character.
  private var needed: UInt8 = 0
  /// The valid range of the next byte. Narrower after some first bytes, to reject overlong forms, surrogates and values
  /// above U+10FFFF.
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xbf

  public init() {}

  /// Whether the input so far ends at a character boundary.
  public var isComplete: Bool { needed == 0 }

  /// Validates the next bytes. Returns false at the first invalid byte; the validator can't be used afterwards.
  public mutating func accept(_ bytes: Span<UInt8>) -> Bool {
    var offset = 0
    while offset < bytes.count {
      if needed == 0 {
        offset = bytes.asciiRun(from: offset)
        guard offset < bytes.count else { break }
      }
      // Validate at most eight bytes one by one, then try an ASCII run again.
      let pause = min(bytes.count, offset &+ 8)
      while offset < pause || needed > 0 && offset < bytes.count {
        guard accept(bytes[offset]) else { return false }
        offset &+= 1
      }
    }
    return true
  }

  @inline(__always)
  private mutating func accept(_ byte: UInt8) -> Bool {
    if needed > 0 {
      guard byte >= lowest, byte <= highest else { return false }
      needed &-= 1
      lowest = 0x80
      highest = 0xbf
      return true
    }
    switch byte {
    case 0x00...0x7f: return true
    case 0xc2...0xdf: needed = 1
    case 0xe0: (needed, lowest) = (2, 0xa0)
    case 0xed: (needed, highest) = (2, 0x9f)
    case 0xe1...0xef: needed = 2
    case 0xf0: (needed, lowest) = (3, 0x90)
    case 0xf1...0xf3: needed = 3
    case 0xf4: (needed, highest) = (3, 0x8f)
    default: return false
    }
    return true
  }
}
