// One end of a WebSocket connection (RFC 6455) after the handshake, without I/O: bytes in, actions out.
//
// `receive` takes input, split anywhere, and appends the resulting actions to the caller's list, in order. A header is
// parsed in place; only one that is split across inputs is stored (14 bytes). Payload is unmasked, inflated if it is
// compressed, and validated if it is text, as it arrives. So each byte is processed once, an invalid one ends the
// session at once, and the session buffers at most the message so far: `messageLimit` bytes.
//
// Closing (RFC 6455 §7): the initiator sends Close and waits for the peer's Close; meanwhile data is ignored and pings
// are answered. A fault sends Close with its code and does not wait. In both cases `.closed` is the last action, sent
// once. The owner then flushes its output and closes the transport (a client first lets the server close it, §7.1.1).
// Timeouts for Close and pong are up to the owner.
//
// Between messages a session has no buffer. With permessage-deflate and without context takeover it borrows zlib
// streams from `DeflateStreams`; with context takeover it has its own from the first message on.

public struct WebSocketSession {
  public enum Role {
    case server
    /// RFC 6455 §5.3: a client masks each frame with an unpredictable key.
    case client(nextMask: () -> UInt32)
  }

  public enum Action: Equatable, Sendable {
    /// A complete message in UTF-8.
    case text([UInt8])
    case binary([UInt8])
    /// A ping. The pong follows as `.send`.
    case ping([UInt8])
    case pong([UInt8])
    /// Bytes for the transport.
    case send([UInt8])
    /// The last action. Further input is ignored.
    case closed(Closing)
  }

  public struct Closing: Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
      /// The peer initiated closing.
      case peer
      /// This side initiated closing and the peer responded.
      case us
      /// The peer violated the protocol or a limit. Code and reason were sent to it.
      case fault(WebSocketFault)
      /// The transport ended before the peer's Close.
      case lost
    }

    public var cause: Cause
    public var code: CloseCode
    public var reason: String
  }

  private enum Phase {
    case open
    /// Close was sent, the peer's Close is pending.
    case closing
    /// A Close or a fault was received, and `.closed` is among the actions. Messages sent while the preceding actions
    /// are performed precede our Close, so they are still sent.
    case ending
    case closed
  }

  private let role: Role
  private let deflate: PerMessageDeflate?
  private let streams: DeflateStreams

  private var phase = Phase.open
  /// The first bytes of an incomplete header.
  private var partialHeader = InlineArray<14, UInt8>(repeating: 0)
  private var partialHeaderCount = 0
  private var frame: FrameInProgress?
  private var control: [UInt8] = []
  private var message: IncomingMessage
  /// With context takeover, from the first compressed message on.
  private var deflater: Deflater?

  private struct FrameInProgress {
    var opcode: WebSocketFrame.Opcode
    var isFinal: Bool
    var mask: Mask?
    var remaining: Int
  }

  /// - Parameters:
  ///   - messageLimit: maximum message size in bytes, after inflating.
  ///   - deflate: the negotiated parameters.
  public init(role: Role, messageLimit: Int, deflate: PerMessageDeflate? = nil, streams: DeflateStreams) {
    self.role = role
    self.deflate = deflate
    self.streams = streams
    message = IncomingMessage(
      limit: messageLimit, ownWindowBits: Self.ownWindowBits(role, deflate), streams: streams)
  }

  /// The inflater's window if the peer uses context takeover.
  private static func ownWindowBits(_ role: Role, _ deflate: PerMessageDeflate?) -> Int? {
    guard let deflate else { return nil }
    return switch role {
    case .server: deflate.clientKeepsContext ? deflate.clientWindowBits : nil
    case .client: deflate.serverKeepsContext ? deflate.serverWindowBits : nil
    }
  }

  /// The maximum message size in bytes, after inflating.
  public var messageLimit: Int {
    get { message.limit }
    set { message.limit = newValue }
  }

  /// The number of bytes that compressed messages may still inflate to. Beyond it the session ends.
  public var inflatable: Int {
    get { message.inflatable }
    set { message.inflatable = newValue }
  }

  /// The number of bytes by which the incomplete message may grow before the next `receive`.
  public var room: Int {
    get { message.room }
    set { message.room = newValue }
  }

  /// Whether messages can be sent.
  public var isOpen: Bool { phase == .open }
  public var isClosed: Bool { phase == .ending || phase == .closed }

  /// Whether a message or frame is incomplete.
  public var isInMessage: Bool { message.isUnfinished || frame != nil || partialHeaderCount > 0 }

  /// Approximate heap memory in bytes.
  public var footprint: Int {
    control.capacity + message.footprint + (deflater?.footprint ?? 0)
  }
}

extension WebSocketSession {
  /// Processes the next bytes from the transport.
  public mutating func receive(_ bytes: Span<UInt8>, into actions: inout [Action]) {
    do throws(WebSocketFault) {
      var offset = 0
      while !isClosed, try startFrame(bytes, at: &offset) {
        guard try readPayload(bytes, at: &offset, into: &actions) else { return }
      }
    } catch {
      fail(error, into: &actions)
    }
  }

  /// Call when the transport has ended.
  public mutating func transportEnded(into actions: inout [Action]) {
    guard !isClosed else { return }
    end(Closing(cause: .lost, code: .lost, reason: ""), into: &actions)
  }

  /// Parses the next header. Returns true if a frame is in progress.
  private mutating func startFrame(_ bytes: Span<UInt8>, at offset: inout Int) throws(WebSocketFault) -> Bool {
    if frame != nil { return true }
    if partialHeaderCount == 0 {
      if let header = try WebSocketFrame.Header.parse(bytes.extracting(offset...)) {
        offset += header.size
        try start(header)
        return true
      }
    }
    while offset < bytes.count {
      partialHeader[partialHeaderCount] = bytes[offset]
      partialHeaderCount += 1
      offset += 1
      if let header = try WebSocketFrame.Header.parse(partialHeader.span.extracting(..<partialHeaderCount)) {
        partialHeaderCount = 0
        try start(header)
        return true
      }
    }
    return false
  }

  private mutating func start(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    // RFC 6455 §5.1.
    switch role {
    case .server: guard header.mask != nil else { throw .unmasked }
    case .client: guard header.mask == nil else { throw .masked }
    }
    switch header.opcode {
    case .text, .binary:
      // RFC 6455 §5.2: a reserved bit needs an extension that gives it a meaning.
      guard deflate != nil || !header.isCompressed else { throw .reservedBits }
      if phase == .open { try message.start(header) }
    case .continuation:
      // RFC 7692 §6.1: only the first frame of a message has the bit.
      guard !header.isCompressed else { throw .reservedBits }
      if phase == .open { try message.resume(header) }
    case .close, .ping, .pong:
      guard !header.isCompressed else { throw .reservedBits }
    }
    frame = FrameInProgress(
      opcode: header.opcode, isFinal: header.isFinal, mask: header.mask, remaining: header.length)
  }

  /// Processes payload. Returns false if the frame is incomplete; the input is then consumed.
  private mutating func readPayload(
    _ bytes: Span<UInt8>, at offset: inout Int, into actions: inout [Action]
  ) throws(WebSocketFault) -> Bool {
    guard var current = frame else { return true }
    let count = min(current.remaining, bytes.count - offset)
    let part = bytes.extracting(offset..<offset + count)
    offset += count
    current.remaining -= count
    if current.opcode.isControl {
      control.append(part, masked: current.mask)
    } else if phase == .open {
      try message.append(part, masked: current.mask)
    }
    guard current.remaining == 0 else {
      current.mask?.advance(by: count)
      frame = current
      return false
    }
    frame = nil
    try finish(current, into: &actions)
    return true
  }

  private mutating func finish(_ frame: FrameInProgress, into actions: inout [Action]) throws(WebSocketFault) {
    switch frame.opcode {
    case .continuation, .text, .binary:
      if frame.isFinal, phase == .open { actions.append(try message.finish()) }
    case .ping:
      let payload = finishControl()
      actions.append(.ping(payload))
      actions.append(.send(encode(.pong, payload.span)))
    case .pong: actions.append(.pong(finishControl()))
    case .close: try finishClose(finishControl(), into: &actions)
    }
  }

  private mutating func finishControl() -> [UInt8] {
    let payload = control
    control = []
    return payload
  }

  /// RFC 6455 §5.5.1.
  private mutating func finishClose(_ payload: [UInt8], into actions: inout [Action]) throws(WebSocketFault) {
    var code = CloseCode.unnamed
    var reason = ""
    if !payload.isEmpty {
      guard payload.count >= 2 else { throw .closeTooShort }
      guard let named = CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1])) else { throw .closeCode }
      guard let text = String(validating: payload[2...], as: UTF8.self) else { throw .closeReason }
      code = named
      reason = text
    }
    let cause: Closing.Cause = phase == .open ? .peer : .us
    if phase == .open { actions.append(.send(encodeClose(code, ""))) }
    end(Closing(cause: cause, code: code, reason: reason), into: &actions)
  }

  private mutating func fail(_ fault: WebSocketFault, into actions: inout [Action]) {
    if phase == .open { actions.append(.send(encodeClose(fault.code, fault.reason))) }
    end(Closing(cause: .fault(fault), code: fault.code, reason: fault.reason), into: &actions)
  }

  private mutating func end(_ closing: Closing, into actions: inout [Action]) {
    phase = phase == .open ? .ending : .closed
    frame = nil
    control = []
    message.discard()
    deflater = nil
    actions.append(.closed(closing))
  }
}

extension WebSocketSession {
  /// Call after `.closed` was performed. No more frames are sent.
  public mutating func finish() { phase = .closed }

  /// Encodes a message; nil after Close was sent. After the peer's Close, messages are still sent until `finish`.
  ///
  /// - Parameter text: UTF-8.
  public mutating func send(text: [UInt8]) -> [UInt8]? { frame(.text, text) }

  public mutating func send(text: String) -> [UInt8]? { frame(.text, Array(text.utf8)) }

  public mutating func send(binary: [UInt8]) -> [UInt8]? { frame(.binary, binary) }

  /// Returns the variant of a broadcast for this session. Not for clients, which mask every frame.
  public func frame(of shared: SharedFrame) -> [UInt8]? {
    guard phase == .open || phase == .ending, case .server = role else { return nil }
    return shared.bytes(for: deflate)
  }

  /// Encodes a ping with up to 125 bytes of payload; nil after a Close was sent or received.
  public mutating func sendPing(_ payload: [UInt8] = []) -> [UInt8]? {
    guard phase == .open else { return nil }
    return encode(.ping, payload.span.extracting(..<min(payload.count, WebSocketFrame.maxControlPayload)))
  }

  /// Starts closing. Returns the Close frame, or nil if one was already sent. `.closed` follows the peer's Close.
  ///
  /// - Parameter reason: truncated to the size of a control frame.
  public mutating func close(_ code: CloseCode, reason: String = "") -> [UInt8]? {
    guard phase == .open else { return nil }
    phase = .closing
    message.discard()
    deflater = nil
    return encodeClose(code, reason)
  }

  private mutating func frame(_ opcode: WebSocketFrame.Opcode, _ message: [UInt8]) -> [UInt8]? {
    guard phase == .open || phase == .ending else { return nil }
    if let deflate, message.count >= WebSocketFrame.smallestDeflated {
      if let payload = payload(message, deflate) { return encode(opcode, payload.span, isCompressed: true) }
    }
    return encode(opcode, message.span)
  }

  private mutating func payload(_ message: [UInt8], _ deflate: PerMessageDeflate) -> [UInt8]? {
    let (keepsContext, windowBits) =
      switch role {
      case .server: (deflate.serverKeepsContext, deflate.serverWindowBits)
      case .client: (deflate.clientKeepsContext, deflate.clientWindowBits)
      }
    guard keepsContext else { return streams.deflateAlone(message.span, windowBits: windowBits) }
    if deflater == nil { deflater = streams.makeDeflater(windowBits: windowBits) }
    // Deflated output must be sent even if it is not shorter, because the peer's window must contain it.
    guard let payload = try? deflater?.deflate(message: message.span) else {
      deflater = nil  // The next deflater starts with an empty window, which needs no history of the peer.
      return nil
    }
    return payload
  }

  private func encodeClose(_ code: CloseCode, _ reason: String) -> [UInt8] {
    guard code.mayTravel else { return encode(.close, [UInt8]().span) }
    var payload = [UInt8(code.number >> 8), UInt8(code.number & 0xff)]
    for character in reason {
      guard payload.count + character.utf8.count <= WebSocketFrame.maxControlPayload else { break }
      payload.append(contentsOf: character.utf8)
    }
    return encode(.close, payload.span)
  }

  private func encode(_ opcode: WebSocketFrame.Opcode, _ payload: Span<UInt8>, isCompressed: Bool = false) -> [UInt8] {
    switch role {
    case .server: WebSocketFrame.encode(opcode, payload, isCompressed: isCompressed)
    case .client(let nextMask):
      WebSocketFrame.encode(opcode, payload, isCompressed: isCompressed, mask: Mask(nextMask()))
    }
  }
}
