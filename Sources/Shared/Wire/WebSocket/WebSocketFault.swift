/// A protocol violation of the peer. It ends the session.
public enum WebSocketFault: Error, Sendable, Hashable, CaseIterable {
  case reservedBits, reservedOpcode
  case fragmentedControl, longControl
  case nonMinimalLength, lengthTooLarge
  case unmasked, masked
  case unexpectedContinuation, messageIncomplete
  case closeTooShort, closeCode, closeReason
  case text, deflate
  case tooLong, tooManyInflated
  case outOfMemory

  /// The close code for the peer (RFC 6455 §7.4.1).
  public var code: CloseCode {
    switch self {
    case .reservedBits, .reservedOpcode, .fragmentedControl, .longControl, .nonMinimalLength, .lengthTooLarge,
      .unmasked, .masked, .unexpectedContinuation, .messageIncomplete, .closeTooShort, .closeCode:
      .protocolError
    case .closeReason, .text, .deflate: .badData
    case .tooLong: .tooLong
    case .tooManyInflated: .policy
    case .outOfMemory: .tryLater
    }
  }

  /// The close reason, for the developer of the peer.
  public var reason: String {
    switch self {
    case .reservedBits: "a reserved bit is set"
    case .reservedOpcode: "the opcode is reserved"
    case .fragmentedControl: "a control frame is fragmented"
    case .longControl: "a control frame is longer than 125 bytes"
    case .nonMinimalLength: "a length is not in its shortest form"
    case .lengthTooLarge: "a length has its top bit set"
    case .unmasked: "a client's frame is not masked"
    case .masked: "a server's frame is masked"
    case .unexpectedContinuation: "a continuation frame without a message"
    case .messageIncomplete: "a new message before the last one ended"
    case .closeTooShort: "a close frame with half a code"
    case .closeCode: "an invalid close code"
    case .closeReason: "a close reason that is not UTF-8"
    case .text: "a text message that is not UTF-8"
    case .deflate: "an invalid compressed message"
    case .tooLong: "the message is too long"
    case .tooManyInflated: "compressed messages inflate to too many bytes"
    case .outOfMemory: "the server is short of memory"
    }
  }
}
