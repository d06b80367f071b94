import ParleyNetworking

/// Idle WebSockets: measures the server's memory per connection and checks that each one is alive.
struct IdleLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let arguments = self.arguments
    let loadLoops = try await LoadLoops(arguments)
    let empty = try memory()
    var steps: [LoadReport.Step] = []
    var opened = 0
    for step in arguments.steps {
      try await loadLoops.open(step - opened) { connections, loop in
        IdleClient(
          connections, arguments.roomProtocol, loop.resident(ConnectionCounter.self) { ConnectionCounter() }.next())
      }
      opened = step
      try await Task.sleep(for: .seconds(1))
      let now = try memory()
      steps.append(
        .init(
          connections: step, resident: difference(now?.resident, empty?.resident),
          anonymous: difference(now?.anonymous, empty?.anonymous)))
    }
    Console.progress("\(opened) connections")
    try await Task.sleep(for: .seconds(arguments.hold))
    // Measures one ping per connection.
    let seconds = try await loadLoops.measure(atMost: 10, untilDone: true)
    var tally = await loadLoops.tally
    if tally.operations < opened { tally.faults["no pong"] = opened - tally.operations }
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally, steps: steps)
  }

  private func memory() throws -> ProcessMemory? {
    try arguments.server.map { try ProcessMemory(of: $0) }
  }

  private func difference(_ now: Int?, _ before: Int?) -> Int? {
    guard let now, let before else { return nil }
    return now - before
  }
}

private final class ConnectionCounter {
  private var count = 0

  func next() -> Int {
    defer { count += 1 }
    return count
  }
}

private final class IdleClient: LoadClient, SocketOwner {
  private let connections: LoopConnections
  /// Set if the server requires authentication.
  private let roomProtocol: RoomProtocol?
  private let index: Int
  private var socket: SocketClient?
  private var pingedAt: Int64 = 0

  init(_ connections: LoopConnections, _ roomProtocol: RoomProtocol?, _ index: Int) {
    self.connections = connections
    self.roomProtocol = roomProtocol
    self.index = index
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let fields = roomProtocol == .parley ? [BenchUsers.authorization(index)] : []
    let socket = SocketClient(connections, owner: self, subprotocols: roomProtocol?.subprotocols ?? [], fields: fields)
    self.socket = socket
    try socket.open(on: loop)
  }

  func begin(on loop: isolated EventLoop) {
    pingedAt = Clock.monotonic()
    socket?.ping()
  }

  func leave(on loop: isolated EventLoop) {
    socket?.leave()
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    // The only expected message: no events were missed.
    guard roomProtocol == nil || !message.starts(with: #"{"event":"complete""#.utf8) else { return }
    connections.record("an unexpected message")
  }

  func socketPonged(on loop: isolated EventLoop) {
    let now = Clock.monotonic()
    connections.done(after: now - pingedAt)
    if connections.tally.operations == connections.opened { connections.allDone(at: now) }
  }
}
