// A client that does not read its socket.

/// The progress of the output queue of one client.
package struct SocketStall {
  private var last: (queued: Int, since: Int64)?

  package init() {}

  /// Whether the client has not read from a long queue during the send timeout.
  ///
  /// - Parameters:
  ///   - queued: the bytes in the queue.
  ///   - isWaiting: whether output waits for room in the queue.
  package mutating func isTooSlow(queued: Int, isWaiting: Bool, at now: Int64) -> Bool {
    guard queued > RealtimeLimits.signalQueue || isWaiting else {
      last = nil
      return false
    }
    guard let before = last, queued >= before.queued else {
      last = (queued, now)
      return false
    }
    return now - before.since >= RealtimeLimits.sendTimeout
  }
}
