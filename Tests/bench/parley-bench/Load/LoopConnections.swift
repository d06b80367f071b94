import ParleyNetworking

/// One connection of a load, or several in sequence, confined to its loop.
protocol LoadClient: AnyObject {
  /// Connects. `LoopConnections.clientOpened` or `clientLost` follows.
  func open(on loop: isolated EventLoop) throws(StreamError)
  /// Called when all connections of the load are established.
  func begin(on loop: isolated EventLoop)
  func leave(on loop: isolated EventLoop)
}

/// The connections of one loop and their tally.
final class LoopConnections {
  typealias Make = @Sendable (LoopConnections, isolated EventLoop) -> any LoadClient

  let target: LoadTarget
  let tls: TLSContext?
  private(set) var isMeasuring = false
  private(set) var isClosing = false
  private(set) var tally = Tally()
  private(set) var opened = 0
  private var clients: [any LoadClient] = []
  private var startedCount = 0
  private var closedCount = 0
  private var failed = 0
  private var completedAt: Int64?

  /// Maximum connections being opened at a time, because a listener's backlog is finite.
  private static let maxOpening = 64

  init(target: LoadTarget) throws(StreamError) {
    self.target = target
    tls = try target.tls.map { configuration throws(StreamError) in try TLSContext(configuration) }
  }

  func connect(_ handler: any StreamHandler, on loop: isolated EventLoop) throws(StreamError) -> ParleyNetworking.Stream
  {
    try .connect(to: target.address, tls: tls, serverName: target.serverName, handler: handler, on: loop)
  }

  // MARK: Opening

  func open(_ count: Int, on loop: isolated EventLoop, make: Make) {
    for _ in 0..<count { clients.append(make(self, loop)) }
    openMore(loop)
  }

  private func openMore(_ loop: isolated EventLoop) {
    while startedCount < clients.count, startedCount - opened - failed < Self.maxOpening {
      startedCount += 1
      do {
        try clients[startedCount - 1].open(on: loop)
      } catch {
        failed += 1
        record("\(error)")
      }
    }
  }

  func clientOpened(on loop: isolated EventLoop) {
    opened += 1
    openMore(loop)
  }

  /// A connection was lost, or was not established.
  func clientLost(_ reason: String, wasOpen: Bool, on loop: isolated EventLoop) {
    record(reason)
    guard !wasOpen else { return }
    failed += 1
    openMore(loop)
  }

  var isOpening: Bool { opened + failed < clients.count }

  // MARK: Measuring

  func begin(on loop: isolated EventLoop) {
    isMeasuring = true
    for client in clients { client.begin(on: loop) }
  }

  func end() {
    isMeasuring = false
  }

  /// Closes all connections.
  func leave(on loop: isolated EventLoop) {
    isClosing = true
    for client in clients { client.leave(on: loop) }
  }

  /// A connection has closed and is not reopened.
  func clientClosed() {
    closedCount += 1
  }

  var areAllClosed: Bool { closedCount >= startedCount }

  func received(_ count: Int) {
    if isMeasuring { tally.bytes += count }
  }

  /// Counts an operation and its latency.
  func done(after nanoseconds: Int64) {
    guard isMeasuring else { return }
    tally.operations += 1
    tally.latency.record(nanoseconds)
  }

  /// Counts an operation of a group with one recorded latency.
  func delivered() {
    if isMeasuring { tally.operations += 1 }
  }

  func recordLatency(_ nanoseconds: Int64) {
    if isMeasuring { tally.latency.record(nanoseconds) }
  }

  func record(_ fault: String) {
    tally.faults[fault, default: 0] += 1
  }

  /// The loop has completed all operations.
  func allDone(at time: Int64) {
    completedAt = time
  }

  /// The time when the loop was done; nil before.
  var doneAt: Int64? { clients.isEmpty ? 0 : completedAt }
}
