import ParleyNetworking

/// One connection of a load, or a row of them one after another. It stays on its loop.
protocol LoadClient: AnyObject {
  /// Connects; `Crew.opened` or `Crew.lost` follows.
  func open(on loop: isolated EventLoop) throws(StreamError)
  /// All connections of the load stand.
  func begin(on loop: isolated EventLoop)
  func leave(on loop: isolated EventLoop)
}

/// One loop's connections and what they count together.
final class Crew {
  typealias Make = @Sendable (Crew, isolated EventLoop) -> any LoadClient

  let target: Target
  let tls: TLSContext?
  private(set) var isMeasuring = false
  private(set) var isLeaving = false
  private(set) var tally = Tally()
  private(set) var opened = 0
  private var clients: [any LoadClient] = []
  private var asked = 0
  private var gone = 0
  private var failed = 0
  private var lastDoneAt: Int64?

  /// How many connections are opened at the same time: a listener's backlog is finite.
  private static let openingAtOnce = 64

  init(target: Target) throws(StreamError) {
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
    while asked < clients.count, asked - opened - failed < Self.openingAtOnce {
      asked += 1
      do {
        try clients[asked - 1].open(on: loop)
      } catch {
        failed += 1
        note("\(error)")
      }
    }
  }

  func clientOpened(on loop: isolated EventLoop) {
    opened += 1
    openMore(loop)
  }

  /// A connection broke, or never stood.
  func clientLost(_ reason: String, wasOpen: Bool, on loop: isolated EventLoop) {
    note(reason)
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

  /// Says goodbye on all connections.
  func leave(on loop: isolated EventLoop) {
    isLeaving = true
    for client in clients { client.leave(on: loop) }
  }

  /// A connection has closed for good.
  func clientGone() {
    gone += 1
  }

  var isDeserted: Bool { gone >= asked }

  func received(_ count: Int) {
    if isMeasuring { tally.bytes += count }
  }

  /// An operation is complete, after so many nanoseconds.
  func done(after nanoseconds: Int64) {
    guard isMeasuring else { return }
    tally.operations += 1
    tally.latency.record(nanoseconds)
  }

  /// The same of what takes its time together with others.
  func delivered() {
    if isMeasuring { tally.operations += 1 }
  }

  func took(_ nanoseconds: Int64) {
    if isMeasuring { tally.latency.record(nanoseconds) }
  }

  func note(_ fault: String) {
    tally.faults[fault, default: 0] += 1
  }

  /// All that was to be done is done.
  func allDone(at time: Int64) {
    lastDoneAt = time
  }

  /// When all was done; nil while it is not.
  var doneAt: Int64? { clients.isEmpty ? 0 : lastDoneAt }
}
