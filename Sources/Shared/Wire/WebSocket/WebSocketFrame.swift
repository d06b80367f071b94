/// A WebSocket frame (RFC 6455 §5.2).
public enum WebSocketFrame {
  public enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
  }

  /// RFC 6455 §5.5.
  static let maxControlPayload = 125

  struct Header: Equatable {
    var opcode: Opcode
    var isFinal = true
    /// RSV1, used by permessage-deflate (RFC 7692 §6).
    var isCompressed = false
    var mask: Mask?
    var length: Int

    /// The size in bytes. Each length has exactly one valid encoding.
    var size: Int {
      let lengthSize = length <= 125 ? 0 : length <= 0xffff ? 2 : 8
      return 2 + lengthSize + (mask == nil ? 0 : 4)
    }
  }
}

extension WebSocketFrame.Header {
  /// Parses the header at the start of the bytes; nil if more input is needed. Errors in the first two bytes are
  /// reported without waiting for the rest.
  static func parse(_ bytes: Span<UInt8>) throws(WebSocketFault) -> Self? {
    guard bytes.count >= 2 else { return nil }
    let first = bytes[0]
    let second = bytes[1]
    guard first & 0x30 == 0 else { throw .reservedBits }
    guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0f) else { throw .reservedOpcode }
    let isFinal = first & 0x80 != 0
    let isCompressed = first & 0x40 != 0
    let shortLength = Int(second & 0x7f)
    if opcode.isControl {
      guard isFinal else { throw .fragmentedControl }
      guard shortLength <= WebSocketFrame.maxControlPayload else { throw .longControl }
    }

    let lengthSize = shortLength == 127 ? 8 : shortLength == 126 ? 2 : 0
    guard bytes.count >= 2 + lengthSize else { return nil }
    let length: Int
    if lengthSize == 0 {
      length = shortLength
    } else {
      var wide: UInt64 = 0
      for offset in 2..<2 + lengthSize { wide = wide << 8 | UInt64(bytes[offset]) }
      // RFC 6455 §5.2: the most significant bit is 0, and the encoding must be the shortest.
      guard let value = Int(exactly: wide) else { throw .lengthTooLarge }
      guard value > (lengthSize == 2 ? 125 : 0xffff) else { throw .nonMinimalLength }
      length = value
    }

    guard second & 0x80 != 0 else {
      return Self(opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, mask: nil, length: length)
    }
    let key = 2 + lengthSize
    guard bytes.count >= key + 4 else { return nil }
    let mask = Mask(bytes[key], bytes[key + 1], bytes[key + 2], bytes[key + 3])
    return Self(opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, mask: mask, length: length)
  }

  func write(to bytes: inout [UInt8]) {
    bytes.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    if length <= 125 {
      bytes.append(UInt8(length) | maskBit)
    } else if length <= 0xffff {
      bytes.append(126 | maskBit)
      bytes.append(UInt8(length >> 8))
      bytes.append(UInt8(length & 0xff))
    } else {
      bytes.append(127 | maskBit)
      for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
    if let mask {
      for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: mask.key >> shift)) }
    }
  }
}

extension WebSocketFrame {
  /// Encodes a frame. A server does not mask; a client uses a new random key per frame (RFC 6455 §5.3).
  static func encode(
    _ opcode: Opcode, _ payload: Span<UInt8>, isFinal: Bool = true, isCompressed: Bool = false, mask: Mask? = nil
  ) -> [UInt8] {
    let header = Header(
      opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, mask: mask, length: payload.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(header.size + payload.count)
    header.write(to: &bytes)
    bytes.append(payload, masked: mask)
    return bytes
  }
}

extension WebSocketFrame {
  /// Minimum size for compression: it would save few bytes of a shorter message and cost microseconds.
  static let smallestDeflated = 128
}

/// A masking key (RFC 6455 §5.3), rotated so that its first byte applies to the next payload byte.
struct Mask: Equatable {
  /// The four key bytes twice, in memory order.
  private(set) var word: UInt64

  init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
    let key = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    word = (UInt64(key) << 32 | UInt64(key)).littleEndian
  }

  /// The lowest byte of the number is the first key byte.
  init(_ key: UInt32) {
    self.init(
      UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8),
      UInt8(truncatingIfNeeded: key >> 16), UInt8(truncatingIfNeeded: key >> 24))
  }

  var first: UInt8 { UInt8(truncatingIfNeeded: word.littleEndian) }

  /// The key, its first byte lowest.
  var key: UInt32 { UInt32(truncatingIfNeeded: word.littleEndian) }

  mutating func advance(by count: Int) {
    let turn = UInt64(count & 3) &* 8
    guard turn != 0 else { return }
    let ordered = word.littleEndian
    word = (ordered >> turn | ordered << (64 &- turn)).littleEndian
  }
}
