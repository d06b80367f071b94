import ParleyNetworking

/// The deadline of a client that receives a response. Each progress extends it.
struct OutputDeadline {
  /// The time at which the last response was finished or the client last received bytes.
  private var lastProgress = Int64.min / 2
  private var isSet = false

  /// Sets the deadline unless it is set: otherwise a stuck client would have no timeout while the handler writes.
  mutating func start(_ stream: ParleyNetworking.Stream, seconds: Int) {
    guard !isSet else { return }
    isSet = true
    stream.setDeadline(after: seconds)
  }

  /// Starts anew behind a finished response, which may still be queued.
  mutating func restart(_ stream: ParleyNetworking.Stream, seconds: Int) {
    isSet = false
    lastProgress = stream.now
    stream.setDeadline(after: seconds)
  }

  /// Records that the deadline of the connection has expired.
  mutating func expire() { isSet = false }

  /// Extends an expired deadline to `seconds` after the last progress. Returns false if that has passed.
  mutating func extend(_ stream: ParleyNetworking.Stream, seconds: Int) -> Bool {
    let end = lastProgress + Int64(seconds) * 1_000_000_000
    isSet = end > stream.now
    if isSet { stream.setDeadline(at: end) }
    return isSet
  }

  /// Extends an expired deadline for bytes in the send queue.
  mutating func extendSending(_ stream: ParleyNetworking.Stream, seconds: Int) -> Bool {
    if stream.hasProgressed() { lastProgress = stream.now }
    return extend(stream, seconds: seconds)
  }
}
