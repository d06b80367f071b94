/// The window of a peer's compressor after `no_context_takeover` was agreed. Some clients go on with their context
/// nevertheless. A message is inflated alone first, and a second time with this window if it refers to earlier messages.
struct UnagreedWindow {
  /// The maximum size of the window in bytes: DEFLATE refers no further back.
  static let maxBytes = 32_768
  /// The number of compressed messages in a row without a reference after which the window is released.
  static let maxUnneeded = 8

  /// The end of the peer's compressed messages, inflated.
  private var bytes: [UInt8] = []
  /// The compressed input of the message in progress.
  private var input: [UInt8] = []
  private var isNeeded = false
  private var unneeded = 0
  private var isReleased = false

  /// Heap memory in bytes.
  var footprint: Int { bytes.capacity + input.capacity }

  private var mayBeNeeded: Bool { !bytes.isEmpty && !isNeeded }

  /// Remaining room for kept input of a message that may inflate to `limit` bytes; nil if none is kept.
  /// Compressors never make a message longer.
  func room(limit: Int) -> Int? { mayBeNeeded ? limit - input.count : nil }

  /// Keeps inflated input of a message that may refer to the window later.
  mutating func keepInput(_ part: Span<UInt8>) { if mayBeNeeded { input.append(copying: part) } }

  /// Gives the window to the inflater, once a message. Returns the message's input with `part`, or nil if no window is
  /// kept.
  mutating func lend(to inflater: Inflater, with part: Span<UInt8>?) -> [UInt8]? {
    guard mayBeNeeded else { return nil }
    isNeeded = true
    inflater.restart(after: bytes)
    var whole = input
    if let part { whole.append(copying: part) }
    input = []
    return whole
  }

  /// Appends a complete message.
  mutating func append(_ message: [UInt8]) {
    guard !isReleased else { return }
    if !bytes.isEmpty { unneeded = isNeeded ? 0 : unneeded + 1 }
    (input, isNeeded) = ([], false)
    guard unneeded < Self.maxUnneeded else { return release() }
    bytes = Array((bytes + message).suffix(Self.maxBytes))
  }

  mutating func release() { (bytes, input, isReleased) = ([], [], true) }
}
