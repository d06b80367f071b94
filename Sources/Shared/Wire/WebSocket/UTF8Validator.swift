/// Checks UTF-8 that comes in pieces, wherever they are cut, and refuses at the first byte that no text can have there
/// (RFC 3629 §4).
public struct UTF8Validator: Sendable {
  /// How many continuation bytes the character that was begun still needs.
  private var needed: UInt8 = 0
  /// What its next byte may be: narrower after some first bytes, which keeps out overlong forms, surrogates and what
  /// lies above U+10FFFF.
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xbf

  public init() {}

  /// Whether all that came is whole characters.
  public var isComplete: Bool { needed == 0 }

  /// Takes the next bytes; false as soon as one is wrong. After false only a new validator is of use.
  public mutating func accept(_ bytes: Span<UInt8>) -> Bool {
    var place = 0
    while place < bytes.count {
      if needed == 0 {
        place = bytes.asciiRun(from: place)
        guard place < bytes.count else { break }
      }
      // At most eight bytes to the end of what stopped the run, then try a run again.
      let pause = min(bytes.count, place &+ 8)
      while place < pause || needed > 0 && place < bytes.count {
        guard accept(bytes[place]) else { return false }
        place &+= 1
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
