// Clients that reconnect at once, repeatedly: each receives the missed events and then `complete`. Measures the time
// from connecting to `complete`.

import ParleyNetworking
import ParleyWire

struct ResumeLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load resume runs on one loop.") }
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let arguments = self.arguments
    let loadLoops = try await LoadLoops(arguments)
    try await loadLoops.open(arguments.connections) { connections, loop in
      ResumingClient(connections, loop.resident(ResumeRound.self) { ResumeRound(connections, arguments) })
    }
    let seconds = try await loadLoops.measure(atMost: arguments.seconds)
    let tally = await loadLoops.tally
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally)
  }
}

/// All clients and the number that have not resumed.
private final class ResumeRound {
  private let connections: LoopConnections
  let events: Int
  private var clients: [ResumingClient] = []
  private var pending = 0
  private var isBegun = false

  init(_ connections: LoopConnections, _ arguments: LoadArguments) {
    self.connections = connections
    events = arguments.events
  }

  func add(_ client: ResumingClient) -> Int {
    clients.append(client)
    pending += 1
    return clients.count - 1
  }

  /// The first round, connecting one by one, is not measured.
  func begin(on loop: isolated EventLoop) {
    guard !isBegun else { return }
    isBegun = true
    startRound(loop)
  }

  func didResume(on loop: isolated EventLoop) {
    pending -= 1
    startRound(loop)
  }

  private func startRound(_ loop: isolated EventLoop) {
    guard isBegun, pending == 0, connections.isMeasuring else { return }
    pending = clients.count
    for client in clients { client.reconnect(on: loop) }
  }
}

private final class ResumingClient: LoadClient, SocketOwner {
  private let connections: LoopConnections
  private let progress: ResumeRound
  private var index = 0
  private var socket: SocketClient?
  private var requestedAt: Int64 = 0
  private var count = 0

  init(_ connections: LoopConnections, _ progress: ResumeRound) {
    self.connections = connections
    self.progress = progress
    index = progress.add(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    requestedAt = Clock.monotonic()
    count = 0
    let socket = SocketClient(
      connections, owner: self, subprotocols: RoomProtocol.parley.subprotocols,
      fields: [BenchUsers.authorization(index)])
    self.socket = socket
    try socket.open(on: loop)
  }

  func reconnect(on loop: isolated EventLoop) {
    socket?.leave()
    do { try open(on: loop) } catch { connections.record("\(error)") }
  }

  func begin(on loop: isolated EventLoop) { progress.begin(on: loop) }

  func leave(on loop: isolated EventLoop) { socket?.leave() }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    if message.starts(with: #"{"event":"message.created""#.utf8) {
      count += 1
      return
    }
    guard message.starts(with: #"{"event":"complete""#.utf8) else { return connections.record("not a missed event") }
    if count != progress.events { connections.record("wrong number of missed events") }
    connections.done(after: Clock.monotonic() - requestedAt)
    progress.didResume(on: loop)
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
