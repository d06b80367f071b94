/// The data message in progress. Payload is unmasked, inflated and validated as it arrives.
struct IncomingMessage {
  /// The maximum size in bytes, after inflating.
  var limit: Int
  /// The number of bytes that compressed messages may still inflate to.
  var inflatable = Int.max
  /// The number of bytes by which the message may grow now.
  var room = Int.max
  private let streams: DeflateStreams
  /// With context takeover the session owns the inflater, with a window of this many bits.
  private let ownWindowBits: Int?

  private var kind = Kind.none
  private var isCompressed = false
  private var utf8 = UTF8Validator()
  private var bytes: [UInt8] = []
  private var inflater: Inflater?
  /// Without context takeover: the bytes that the peer's compressor may still refer to.
  private var window = UnagreedWindow()

  private enum Kind { case none, text, binary }

  /// The number of compressed payload bytes that are unmasked at a time for the inflater.
  private static let chunkSize = 16384

  init(limit: Int, ownWindowBits: Int?, streams: DeflateStreams) {
    self.limit = limit
    self.ownWindowBits = ownWindowBits
    self.streams = streams
  }

  var isUnfinished: Bool { kind != .none }

  var footprint: Int { bytes.capacity + (inflater?.footprint ?? 0) + window.footprint }

  /// Begins a text or binary message.
  mutating func start(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard kind == .none else { throw .messageIncomplete }
    kind = header.opcode == .text ? .text : .binary
    isCompressed = header.isCompressed
    if isCompressed { try prepareInflater() }
    try checkLength(header)
  }

  /// Begins a continuation frame.
  mutating func resume(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard kind != .none else { throw .unexpectedContinuation }
    try checkLength(header)
  }

  /// Rejects a payload length above the limit before the payload arrives. Compressed messages are checked while
  /// inflating.
  private func checkLength(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard !isCompressed else { return }
    guard header.length <= limit - bytes.count else { throw .tooLong }
  }

  /// Receives the next bytes of a payload.
  mutating func append(_ part: Span<UInt8>, masked mask: Mask?) throws(WebSocketFault) {
    guard isCompressed else {
      let start = bytes.count
      guard part.count <= room else { throw .outOfMemory }
      room -= part.count
      bytes.makeRoom(for: part.count, limit: limit)
      bytes.append(part, masked: mask)
      return try validate(from: start)
    }
    guard var mask else { return try inflate(part) }
    var offset = 0
    while offset < part.count {
      let chunk = part.extracting(offset..<min(offset + Self.chunkSize, part.count))
      var plain: [UInt8] = []
      plain.append(chunk, masked: mask)
      try inflate(plain.span)
      mask.advance(by: chunk.count)
      offset += chunk.count
    }
  }

  /// Ends the message after its last frame.
  mutating func finish() throws(WebSocketFault) -> WebSocketSession.Action {
    if isCompressed { try inflate(nil) }
    guard utf8.isComplete else { throw .text }
    let message = bytes
    if isCompressed, ownWindowBits == nil { window.append(message) }
    let isText = kind == .text
    clear()
    return isText ? .text(message) : .binary(message)
  }

  /// Releases the streams. No more messages follow.
  mutating func discard() {
    clear()
    inflater = nil
    window = UnagreedWindow()
  }

  private mutating func clear() {
    kind = .none
    isCompressed = false
    utf8 = UTF8Validator()
    bytes = []
    if ownWindowBits == nil, let lent = inflater {
      inflater = nil
      streams.giveBack(lent)
    }
  }

  private mutating func prepareInflater() throws(WebSocketFault) {
    guard inflater == nil else { return }
    do throws(CompressionFault) {
      inflater =
        if let ownWindowBits { try Inflater(windowBits: ownWindowBits) } else { try streams.borrowInflater() }
    } catch {
      throw fault(error)
    }
  }

  /// Inflates `part`, or the tail of the message if it is nil.
  private mutating func inflate(_ part: Span<UInt8>?) throws(WebSocketFault) {
    guard let inflater else { return }
    // The window decides by the number of bytes, however they are split.
    if let part, let room = window.room(limit: limit), room < part.count {
      try inflate(part.extracting(..<room))
      window.release()
      return try inflate(part.extracting(room...))
    }
    let start = bytes.count
    do throws(CompressionFault) {
      try inflate(part, by: inflater)
    } catch {
      // The inflated output may contain an earlier fault.
      try validate(from: start)
      guard error == .malformed, let input = window.lend(to: inflater, with: part) else { throw fault(error) }
      return try inflateAgain(input, inflater, isWhole: part == nil)
    }
    if let part { window.keepInput(part) }
    try validate(from: start)
  }

  /// Inflates the message from its start, with the peer's window.
  private mutating func inflateAgain(
    _ input: [UInt8], _ inflater: Inflater, isWhole: Bool
  ) throws(WebSocketFault) {
    // The output so far was correct: only a reference to the window stopped it.
    let start = bytes.count
    bytes.removeAll(keepingCapacity: true)
    do throws(CompressionFault) {
      try inflate(input.span, by: inflater)
      if isWhole { try inflate(nil, by: inflater) }
    } catch {
      // Shorter than before if only fewer bytes may be inflated.
      if bytes.count > start { try validate(from: start) }
      throw fault(error)
    }
    try validate(from: start)
  }

  private mutating func inflate(_ part: Span<UInt8>?, by inflater: Inflater) throws(CompressionFault) {
    let start = bytes.count
    defer {
      inflatable -= bytes.count - start
      room -= bytes.count - start
    }
    let bound = start + min(limit - start, inflatable, room)
    if let part {
      try inflater.inflate(part, into: &bytes, limit: bound)
    } else {
      try inflater.finishMessage(into: &bytes, limit: bound)
    }
  }

  private mutating func validate(from start: Int) throws(WebSocketFault) {
    guard kind == .text else { return }
    var validator = utf8
    guard validator.accept(bytes.span.extracting(start...)) else { throw .text }
    utf8 = validator
  }

  private func fault(_ fault: CompressionFault) -> WebSocketFault {
    switch fault {
    case .malformed: .deflate
    case .tooLong: bytes.count > limit ? .tooLong : inflatable < 0 ? .tooManyInflated : .outOfMemory
    case .outOfMemory: .outOfMemory
    }
  }
}
