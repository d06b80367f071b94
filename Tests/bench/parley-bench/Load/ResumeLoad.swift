// Clients that were away and come back all at once, over and over: each is told what it missed, and then that this was
// all. What is measured is the time from asking for the connection until then.

import ParleyNetworking
import ParleyWire

struct ResumeLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load resume runs on one loop.") }
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let arguments = self.arguments
    let team = try await Team(arguments)
    try await team.open(arguments.connections) { crew, loop in
      ResumingClient(crew, loop.resident(Return.self) { Return(crew, arguments) })
    }
    let seconds = try await team.measure(atMost: arguments.seconds)
    let tally = await team.tally
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally)
  }
}

/// All clients, and how many of them are not back yet.
private final class Return {
  private let crew: Crew
  let events: Int
  private var clients: [ResumingClient] = []
  private var away = 0
  private var isBegun = false

  init(_ crew: Crew, _ arguments: LoadArguments) {
    self.crew = crew
    events = arguments.events
  }

  func add(_ client: ResumingClient) -> Int {
    clients.append(client)
    away += 1
    return clients.count - 1
  }

  /// The first time they come one by one, and nothing of it counts.
  func begin(on loop: isolated EventLoop) {
    guard !isBegun else { return }
    isBegun = true
    goOn(loop)
  }

  func isBack(on loop: isolated EventLoop) {
    away -= 1
    goOn(loop)
  }

  private func goOn(_ loop: isolated EventLoop) {
    guard isBegun, away == 0, crew.isMeasuring else { return }
    away = clients.count
    for client in clients { client.comeBack(on: loop) }
  }
}

private final class ResumingClient: LoadClient, SocketOwner {
  private let crew: Crew
  private let board: Return
  private var place = 0
  private var socket: SocketClient?
  private var askedAt: Int64 = 0
  private var count = 0

  init(_ crew: Crew, _ board: Return) {
    self.crew = crew
    self.board = board
    place = board.add(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    askedAt = Clock.monotonic()
    count = 0
    let socket = SocketClient(
      crew, owner: self, subprotocols: Tongue.parley.subprotocols, fields: [Crowd.authorization(place)])
    self.socket = socket
    try socket.open(on: loop)
  }

  func comeBack(on loop: isolated EventLoop) {
    socket?.leave()
    do { try open(on: loop) } catch { crew.note("\(error)") }
  }

  func begin(on loop: isolated EventLoop) { board.begin(on: loop) }

  func leave(on loop: isolated EventLoop) { socket?.leave() }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    if message.starts(with: #"{"event":"message.created""#.utf8) {
      count += 1
      return
    }
    guard message.starts(with: #"{"event":"complete""#.utf8) else { return crew.note("something else than was missed") }
    if count != board.events { crew.note("not as many events as were missed") }
    crew.done(after: Clock.monotonic() - askedAt)
    board.isBack(on: loop)
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
