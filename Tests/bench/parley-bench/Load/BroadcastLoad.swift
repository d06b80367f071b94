// One connection publishes, and all receive, including the publisher. Some messages are in flight: the next one is
// published when all have received the oldest. All connections are on one loop, so that the counters need no locks.

import ParleyNetworking

struct BroadcastLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load broadcast runs on one loop.") }
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let arguments = self.arguments
    let loadLoops = try await LoadLoops(arguments)
    try await loadLoops.open(arguments.connections) { connections, loop in
      BroadcastSubscriber(
        connections, loop.resident(BroadcastProgress.self) { BroadcastProgress(connections, arguments) })
    }
    let seconds = try await loadLoops.measure(
      atMost: arguments.messages == nil ? arguments.seconds : 86_400, untilDone: arguments.messages != nil)
    let rest = try await outstanding(loadLoops)
    var tally = await loadLoops.tally
    if rest > 0 { tally.faults["undelivered messages", default: 0] += rest }
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally)
  }

  /// Waits for published messages. Returns the number that did not reach all subscribers.
  private func outstanding(_ loadLoops: LoadLoops) async throws -> Int {
    var rest = 0
    for _ in 0..<500 {
      rest = 0
      for loop in loadLoops.loops { rest += await Self.outstanding(on: loop) }
      if rest == 0 { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    return rest
  }

  private static func outstanding(on loop: isolated EventLoop) -> Int {
    loop.resident(BroadcastProgress.self)?.outstanding ?? 0
  }
}

/// The published messages and the number of subscribers that have not received them.
private final class BroadcastProgress {
  private struct Entry {
    var message: [UInt8]
    var sentAt: Int64 = 0
    var missing = 0
  }

  private let connections: LoopConnections
  private let subscribers: Int
  private let isBinary: Bool
  private let limit: Int
  private var entries: [Entry]
  private var published = 0
  /// All earlier messages have reached all subscribers.
  private var completed = 0
  private weak var publisher: BroadcastSubscriber?

  init(_ connections: LoopConnections, _ arguments: LoadArguments) {
    self.connections = connections
    subscribers = arguments.connections
    isBinary = arguments.isBinary
    limit = arguments.messages ?? .max
    entries = (0..<arguments.window).map { Entry(message: MessageNumber.message($0, size: arguments.size)) }
  }

  var outstanding: Int { published - completed }

  /// The first subscriber publishes.
  func join(_ subscriber: BroadcastSubscriber) {
    if publisher == nil { publisher = subscriber }
  }

  func publish() {
    guard connections.isMeasuring, let publisher else { return }
    while published - completed < entries.count, published < limit {
      let index = published % entries.count
      MessageNumber.write(published, to: &entries[index].message)
      entries[index].missing = subscribers
      entries[index].sentAt = Clock.monotonic()
      published += 1
      publisher.send(entries[index].message, isBinary: isBinary)
    }
  }

  /// A subscriber received a message, expected to be this one.
  func delivered(_ number: Int, _ message: [UInt8], at now: Int64) {
    let index = number % entries.count
    guard number >= completed, number < published, message == entries[index].message else {
      return connections.record("not the expected message")
    }
    connections.done(after: now - entries[index].sentAt)
    entries[index].missing -= 1
    guard number == completed else { return }
    while completed < published, entries[completed % entries.count].missing == 0 { completed += 1 }
    if completed == limit { connections.allDone(at: now) }
    publish()
  }
}

private final class BroadcastSubscriber: LoadClient, SocketOwner {
  private let connections: LoopConnections
  private let progress: BroadcastProgress
  private var socket: SocketClient?
  private var received = 0

  init(_ connections: LoopConnections, _ progress: BroadcastProgress) {
    self.connections = connections
    self.progress = progress
    progress.join(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let socket = SocketClient(connections, owner: self)
    self.socket = socket
    try socket.open(on: loop)
  }

  /// Only the first call publishes, the window is full afterwards.
  func begin(on loop: isolated EventLoop) {
    progress.publish()
  }

  func leave(on loop: isolated EventLoop) {
    socket?.leave()
  }

  func send(_ message: [UInt8], isBinary: Bool) {
    socket?.send(message, isBinary: isBinary)
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    progress.delivered(received, message, at: Clock.monotonic())
    received += 1
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
