/// The data message in progress. Payload is unmasked, inflated and validated as it arrives.
struct IncomingMessage {
  private let limit: Int
  private let streams: DeflateStreams
  /// With context takeover the session owns the inflater, with a window of this many bits.
  private let ownWindowBits: Int?

  private var kind = Kind.none
  private var isCompressed = false
  private var utf8 = UTF8Validator()
  private var bytes: [UInt8] = []
  private var inflater: Inflater?

  private enum Kind { case none, text, binary }

  /// The number of compressed payload bytes that are unmasked at a time for the inflater.
  private static let chunkSize = 16384

  init(limit: Int, ownWindowBits: Int?, streams: DeflateStreams) {
    self.limit = limit
    self.ownWindowBits = ownWindowBits
    self.streams = streams
  }

  var isUnfinished: Bool { kind != .none }

  var footprint: Int { bytes.capacity + (inflater?.footprint ?? 0) }

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
    let isText = kind == .text
    clear()
    return isText ? .text(message) : .binary(message)
  }

  /// Releases the streams. No more messages follow.
  mutating func discard() {
    clear()
    inflater = nil
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
      throw Self.fault(error)
    }
  }

  /// Inflates `part`, or the tail of the message if it is nil.
  private mutating func inflate(_ part: Span<UInt8>?) throws(WebSocketFault) {
    guard let inflater else { return }
    let start = bytes.count
    do throws(CompressionFault) {
      if let part {
        try inflater.inflate(part, into: &bytes, limit: limit)
      } else {
        try inflater.finishMessage(into: &bytes, limit: limit)
      }
    } catch {
      // The inflated output may contain an earlier fault.
      try validate(from: start)
      throw Self.fault(error)
    }
    try validate(from: start)
  }

  private mutating func validate(from start: Int) throws(WebSocketFault) {
    guard kind == .text else { return }
    var validator = utf8
    guard validator.accept(bytes.span.extracting(start...)) else { throw .text }
    utf8 = validator
  }

  private static func fault(_ fault: CompressionFault) -> WebSocketFault {
    switch fault {
    case .malformed: .deflate
    case .tooLong: .tooLong
    case .outOfMemory: .outOfMemory
    }
  }
}
