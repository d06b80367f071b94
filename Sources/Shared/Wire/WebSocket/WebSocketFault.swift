/// What a peer did wrong; it ends the session.
public enum WebSocketFault: Error, Sendable, Hashable, CaseIterable {
  case reservedBits, reservedOpcode
  case fragmentedControl, longControl
  case wastefulLength, lengthTooGreat
  case unmasked, masked
  case nothingToContinue, messageUnfinished
  case closeTooShort, closeCode, closeReason
  case text, deflate
  case tooLong
  case outOfMemory

  /// The code that tells the peer (RFC 6455 §7.4.1).
  public var code: CloseCode {
    switch self {
    case .reservedBits, .reservedOpcode, .fragmentedControl, .longControl, .wastefulLength, .lengthTooGreat,
      .unmasked, .masked, .nothingToContinue, .messageUnfinished, .closeTooShort, .closeCode:
      .protocolError
    case .closeReason, .text, .deflate: .badData
    case .tooLong: .tooLong
    case .outOfMemory: .internalError
    }
  }

  /// For the developer at the other end.
  public var reason: String {
    switch self {
    case .reservedBits: "a reserved bit is set"
    case .reservedOpcode: "the opcode is reserved"
    case .fragmentedControl: "a control frame is fragmented"
    case .longControl: "a control frame is longer than 125 bytes"
    case .wastefulLength: "a length is not in its shortest form"
    case .lengthTooGreat: "a length has its top bit set"
    case .unmasked: "a client's frame is not masked"
    case .masked: "a server's frame is masked"
    case .nothingToContinue: "a continuation frame without a message"
    case .messageUnfinished: "a new message before the last one ended"
    case .closeTooShort: "a close frame with half a code"
    case .closeCode: "a close code that may not be sent"
    case .closeReason: "a close reason that is not UTF-8"
    case .text: "a text message that is not UTF-8"
    case .deflate: "a compressed message that cannot be inflated"
    case .tooLong: "the message is too long"
    case .outOfMemory: "no memory"
    }
  }
}
