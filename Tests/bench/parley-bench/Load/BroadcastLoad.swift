// One connection publishes and all receive, the publisher among them. A few messages are under way at a time: the next
// is published when everybody has got the oldest. All stand on one loop, so that the count needs no locks.

import ParleyNetworking

struct BroadcastLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load broadcast runs on one loop.") }
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let arguments = self.arguments
    let team = try await Team(arguments)
    try await team.open(arguments.connections) { crew, loop in
      Subscriber(crew, loop.resident(Board.self) { Board(crew, arguments) })
    }
    let seconds = try await team.measure(
      atMost: arguments.messages == nil ? arguments.seconds : 86_400, untilDone: arguments.messages != nil)
    let rest = try await outstanding(team)
    var tally = await team.tally
    if rest > 0 { tally.faults["messages that did not reach everybody", default: 0] += rest }
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally)
  }

  /// Waits for what was published to arrive; how many messages did not reach everybody.
  private func outstanding(_ team: Team) async throws -> Int {
    var rest = 0
    for _ in 0..<500 {
      rest = 0
      for loop in team.loops { rest += await Self.outstanding(on: loop) }
      if rest == 0 { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    return rest
  }

  private static func outstanding(on loop: isolated EventLoop) -> Int { loop.resident(Board.self)?.outstanding ?? 0 }
}

/// What was published and how many have not got it yet.
private final class Board {
  private struct Entry {
    var message: [UInt8]
    var sentAt: Int64 = 0
    var missing = 0
  }

  private let crew: Crew
  private let subscribers: Int
  private let isBinary: Bool
  private let limit: Int
  private var entries: [Entry]
  private var published = 0
  /// All before this one have reached everybody.
  private var completed = 0
  private weak var publisher: Subscriber?

  init(_ crew: Crew, _ arguments: LoadArguments) {
    self.crew = crew
    subscribers = arguments.connections
    isBinary = arguments.isBinary
    limit = arguments.messages ?? .max
    entries = (0..<arguments.window).map { Entry(message: MessageNumber.message($0, size: arguments.size)) }
  }

  var outstanding: Int { published - completed }

  /// The first one publishes.
  func join(_ subscriber: Subscriber) {
    if publisher == nil { publisher = subscriber }
  }

  func publish() {
    guard crew.isMeasuring, let publisher else { return }
    while published - completed < entries.count, published < limit {
      let place = published % entries.count
      MessageNumber.write(published, to: &entries[place].message)
      entries[place].missing = subscribers
      entries[place].sentAt = Clock.monotonic()
      published += 1
      publisher.send(entries[place].message, isBinary: isBinary)
    }
  }

  /// A subscriber got what should be this message.
  func delivered(_ number: Int, _ message: [UInt8], at now: Int64) {
    let place = number % entries.count
    guard number >= completed, number < published, message == entries[place].message else {
      return crew.note("not the next message")
    }
    crew.done(after: now - entries[place].sentAt)
    entries[place].missing -= 1
    guard number == completed else { return }
    while completed < published, entries[completed % entries.count].missing == 0 { completed += 1 }
    if completed == limit { crew.allDone(at: now) }
    publish()
  }
}

private final class Subscriber: LoadClient, SocketOwner {
  private let crew: Crew
  private let board: Board
  private var socket: SocketClient?
  private var received = 0

  init(_ crew: Crew, _ board: Board) {
    self.crew = crew
    self.board = board
    board.join(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let socket = SocketClient(crew, owner: self)
    self.socket = socket
    try socket.open(on: loop)
  }

  /// Only the publisher's call finds room in the window.
  func begin(on loop: isolated EventLoop) {
    board.publish()
  }

  func leave(on loop: isolated EventLoop) {
    socket?.leave()
  }

  func send(_ message: [UInt8], isBinary: Bool) {
    socket?.send(message, isBinary: isBinary)
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    board.delivered(received, message, at: Clock.monotonic())
    received += 1
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
