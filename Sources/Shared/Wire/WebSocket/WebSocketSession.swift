// One end of a WebSocket (RFC 6455) after its handshake, without I/O: bytes in, actions out.
//
// `receive` takes bytes as they come, cut anywhere, and appends what follows from them to the caller's list, in order.
// It walks the frames: a header is read where it lies (only one that the input cuts in two is kept, fourteen bytes in
// place); a payload is unmasked, inflated where it is compressed, and validated where it is text, all while it arrives.
// So every byte is looked at once, a wrong one ends the session at once, and what is held is at most the message so
// far: `messageLimit` bytes.
//
// Closing (RFC 6455 §7): whoever starts sends Close and waits for the peer's; from then on data is passed over, pings
// are still answered. A fault sends Close with its code and waits for nothing. Either way `.closed` is the last action,
// once; the owner then flushes what it was told to send and closes the transport (a client leaves the server a moment
// to do so first, §7.1.1). Time is the owner's affair: how long to wait for a Close, or for a pong.
//
// Between messages a session owns no buffer. With permessage-deflate and no context takeover the zlib streams belong
// to `DeflateStreams` and are lent; with context takeover a session has its own from the first message on.

public struct WebSocketSession {
  public enum Role {
    case server
    /// RFC 6455 §5.3: a client masks each frame with a key that nobody can predict.
    case client(nextMask: () -> UInt32)
  }

  public enum Action: Equatable, Sendable {
    /// A whole message; its bytes are UTF-8.
    case text([UInt8])
    case binary([UInt8])
    /// The peer's ping; the answer follows as `.send`.
    case ping([UInt8])
    case pong([UInt8])
    /// Bytes for the transport.
    case send([UInt8])
    /// The end: nothing follows, and all further input is ignored.
    case closed(Closing)
  }

  public struct Closing: Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
      /// The peer closed first.
      case peer
      /// This side closed first and the peer answered.
      case us
      /// The peer broke the protocol or a limit; code and reason are what it was told.
      case fault(WebSocketFault)
      /// The transport ended before the peer's Close came.
      case lost
    }

    public var cause: Cause
    public var code: CloseCode
    public var reason: String
  }

  private enum Phase {
    case open
    /// Our Close is sent, the peer's is awaited.
    case closing
    /// A Close or a fault came, and `.closed` is among the actions. What is sent while those before it are performed
    /// stands before our Close, so it may still go out.
    case ending
    case closed
  }

  private let role: Role
  private let deflate: PerMessageDeflate?
  private let streams: DeflateStreams

  private var phase = Phase.open
  /// A header of which only the first bytes came.
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
  ///   - messageLimit: the longest message that is accepted, in bytes, after inflating.
  ///   - deflate: what the handshake agreed.
  public init(role: Role, messageLimit: Int, deflate: PerMessageDeflate? = nil, streams: DeflateStreams) {
    self.role = role
    self.deflate = deflate
    self.streams = streams
    message = IncomingMessage(
      limit: messageLimit, ownWindowBits: Self.ownWindowBits(role, deflate), streams: streams)
  }

  /// The window of the inflater, where the peer's messages may refer to earlier ones.
  private static func ownWindowBits(_ role: Role, _ deflate: PerMessageDeflate?) -> Int? {
    guard let deflate else { return nil }
    return switch role {
    case .server: deflate.clientKeepsContext ? deflate.clientWindowBits : nil
    case .client: deflate.serverKeepsContext ? deflate.serverWindowBits : nil
    }
  }

  /// Whether messages can be sent.
  public var isOpen: Bool { phase == .open }
  public var isClosed: Bool { phase == .ending || phase == .closed }

  /// Whether a message, or a frame of one, has begun and is not whole.
  public var isInMessage: Bool { message.isUnfinished || frame != nil || partialHeaderCount > 0 }

  /// About how many bytes it holds on the heap.
  public var footprint: Int {
    control.capacity + message.footprint + (deflater?.footprint ?? 0)
  }
}

extension WebSocketSession {
  /// Takes the next bytes from the transport.
  public mutating func receive(_ bytes: Span<UInt8>, into actions: inout [Action]) {
    do throws(WebSocketFault) {
      var place = 0
      while !isClosed, try startFrame(bytes, at: &place) {
        guard try readPayload(bytes, at: &place, into: &actions) else { return }
      }
    } catch {
      fail(error, into: &actions)
    }
  }

  /// The transport ended.
  public mutating func transportEnded(into actions: inout [Action]) {
    guard !isClosed else { return }
    end(Closing(cause: .lost, code: .lost, reason: ""), into: &actions)
  }

  /// Whether there is a frame whose payload can be read.
  private mutating func startFrame(_ bytes: Span<UInt8>, at place: inout Int) throws(WebSocketFault) -> Bool {
    if frame != nil { return true }
    if partialHeaderCount == 0 {
      if let header = try WebSocketFrame.Header.parse(bytes.extracting(place...)) {
        place += header.size
        try start(header)
        return true
      }
    }
    while place < bytes.count {
      partialHeader[partialHeaderCount] = bytes[place]
      partialHeaderCount += 1
      place += 1
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
      // RFC 7692 §6.1: the bit stands on a message's first frame only.
      guard !header.isCompressed else { throw .reservedBits }
      if phase == .open { try message.resume(header) }
    case .close, .ping, .pong:
      guard !header.isCompressed else { throw .reservedBits }
    }
    frame = FrameInProgress(
      opcode: header.opcode, isFinal: header.isFinal, mask: header.mask, remaining: header.length)
  }

  /// Whether the frame is whole; if not, the bytes are used up.
  private mutating func readPayload(
    _ bytes: Span<UInt8>, at place: inout Int, into actions: inout [Action]
  ) throws(WebSocketFault) -> Bool {
    guard var current = frame else { return true }
    let count = min(current.remaining, bytes.count - place)
    let part = bytes.extracting(place..<place + count)
    place += count
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
      let payload = takeControl()
      actions.append(.ping(payload))
      actions.append(.send(encode(.pong, payload.span)))
    case .pong: actions.append(.pong(takeControl()))
    case .close: try finishClose(takeControl(), into: &actions)
    }
  }

  private mutating func takeControl() -> [UInt8] {
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
  /// The owner has performed `.closed`: nothing is sent from now on.
  public mutating func finish() { phase = .closed }

  /// A message's frame, to be sent in the order of the calls; nil once a Close is sent. When one came, what the messages
  /// before it ask for is still answered: until `finish`.
  ///
  /// - Parameter text: UTF-8.
  public mutating func send(text: [UInt8]) -> [UInt8]? { frame(.text, text) }

  public mutating func send(text: String) -> [UInt8]? { frame(.text, Array(text.utf8)) }

  public mutating func send(binary: [UInt8]) -> [UInt8]? { frame(.binary, binary) }

  /// A message to many, in the form that this session can read. A client has no use for it: it masks every frame anew.
  public func frame(of shared: SharedFrame) -> [UInt8]? {
    guard phase == .open || phase == .ending, case .server = role else { return nil }
    return shared.bytes(for: deflate)
  }

  /// A ping, to be answered with the same bytes (of which 125 at most are sent); nil once a Close is sent or came.
  public mutating func sendPing(_ payload: [UInt8] = []) -> [UInt8]? {
    guard phase == .open else { return nil }
    return encode(.ping, payload.span.extracting(..<min(payload.count, WebSocketFrame.longestControl)))
  }

  /// Starts to close: the frame to send, or nil when a Close was sent already. `.closed` follows when the peer answers.
  ///
  /// - Parameter reason: shortened to what a control frame holds.
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
    // What the deflater saw must be sent, or the peer's window would lack it: even when it did not get shorter.
    guard let payload = try? deflater?.deflate(message: message.span) else {
      deflater = nil  // the next one starts with an empty window, which refers to nothing that the peer lacks
      return nil
    }
    return payload
  }

  private func encodeClose(_ code: CloseCode, _ reason: String) -> [UInt8] {
    guard code.mayTravel else { return encode(.close, [UInt8]().span) }
    var payload = [UInt8(code.number >> 8), UInt8(code.number & 0xff)]
    for character in reason {
      guard payload.count + character.utf8.count <= WebSocketFrame.longestControl else { break }
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
