/// The data message whose frames are arriving: unmasked, inflated and validated piece by piece.
struct IncomingMessage {
  private let limit: Int
  private let streams: DeflateStreams
  /// With context takeover the inflater outlives its message and is the session's own, with a window of so many bits.
  private let ownWindowBits: Int?

  private var kind = Kind.none
  private var isCompressed = false
  private var utf8 = UTF8Validator()
  private var bytes: [UInt8] = []
  private var inflater: Inflater?

  private enum Kind { case none, text, binary }

  /// So much of a compressed payload is unmasked at a time, on its way to the inflater.
  private static let unmaskedPiece = 16384

  init(limit: Int, ownWindowBits: Int?, streams: DeflateStreams) {
    self.limit = limit
    self.ownWindowBits = ownWindowBits
    self.streams = streams
  }

  var isUnfinished: Bool { kind != .none }

  var footprint: Int { bytes.capacity + (inflater?.footprint ?? 0) }

  /// A text or binary frame begins.
  mutating func start(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard kind == .none else { throw .messageUnfinished }
    kind = header.opcode == .text ? .text : .binary
    isCompressed = header.isCompressed
    if isCompressed { try prepareInflater() }
    try checkLength(header)
  }

  /// A continuation frame begins.
  mutating func resume(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard kind != .none else { throw .nothingToContinue }
    try checkLength(header)
  }

  /// A length that cannot be met is refused before its bytes come. Of a compressed message only inflating tells.
  private func checkLength(_ header: WebSocketFrame.Header) throws(WebSocketFault) {
    guard !isCompressed else { return }
    guard header.length <= limit - bytes.count else { throw .tooLong }
  }

  /// The next bytes of a payload.
  mutating func append(_ part: Span<UInt8>, masked mask: Mask?) throws(WebSocketFault) {
    guard isCompressed else {
      let start = bytes.count
      bytes.makeRoom(for: part.count, limit: limit)
      bytes.append(part, masked: mask)
      return try validate(from: start)
    }
    guard var mask else { return try inflate(part) }
    var place = 0
    while place < part.count {
      let piece = part.extracting(place..<min(place + Self.unmaskedPiece, part.count))
      var plain: [UInt8] = []
      plain.append(piece, masked: mask)
      try inflate(plain.span)
      mask.advance(by: piece.count)
      place += piece.count
    }
  }

  /// The last frame is whole.
  mutating func finish() throws(WebSocketFault) -> WebSocketSession.Action {
    if isCompressed { try inflate(nil) }
    guard utf8.isComplete else { throw .text }
    let message = bytes
    let isText = kind == .text
    clear()
    return isText ? .text(message) : .binary(message)
  }

  /// No more messages will come of this session.
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

  /// The tail of a message is inflated when there is no part.
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
      // What came out before may hold an earlier fault.
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
