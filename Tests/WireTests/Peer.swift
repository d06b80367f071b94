import Testing

@testable import ParleyWire

/// The peer of a WebSocket session, which may send invalid frames.
enum Peer {
  typealias Action = WebSocketSession.Action

  static func frame(
    _ opcode: UInt8, _ payload: [UInt8] = [], fin: Bool = true, reserved: UInt8 = 0,
    key: [UInt8]? = [0x37, 0xfa, 0x21, 0x3d]
  ) -> [UInt8] {
    var bytes = [opcode | (fin ? 0x80 : 0) | reserved << 4]
    let mask: UInt8 = key == nil ? 0 : 0x80
    switch payload.count {
    case ...125: bytes.append(UInt8(payload.count) | mask)
    case ...65535: bytes += [126 | mask, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default:
      bytes.append(127 | mask)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
      }
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
  }

  /// The payload of a Close frame.
  static func closing(_ code: UInt16, _ reason: String = "") -> [UInt8] {
    [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8)
  }

  /// The actions of a session for these pieces of input.
  static func actions(_ session: WebSocketSession, _ pieces: [[UInt8]]) -> [Action] {
    var session = session
    var actions: [Action] = []
    for piece in pieces { session.receive(piece.span, into: &actions) }
    return actions
  }

  /// Expects the same actions for the whole input, split at every offset, and byte by byte.
  static func expect(
    _ makeSession: () -> WebSocketSession, _ bytes: [UInt8], actions expected: [Action],
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(actions(makeSession(), [bytes]) == expected, sourceLocation: location)
    #expect(actions(makeSession(), bytes.map { [$0] }) == expected, "byte by byte", sourceLocation: location)
    for split in 0...bytes.count {
      let pieces = [Array(bytes[..<split]), Array(bytes[split...])]
      #expect(actions(makeSession(), pieces) == expected, "split at \(split)", sourceLocation: location)
    }
  }

  /// The actions of a server session for this fault.
  static func refused(_ fault: WebSocketFault) -> [Action] {
    [
      .send(frame(8, closing(fault.code.number, fault.reason), key: nil)),
      .closed(.init(cause: .fault(fault), code: fault.code, reason: fault.reason)),
    ]
  }
}
