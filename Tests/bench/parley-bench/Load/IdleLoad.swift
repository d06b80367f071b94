import ParleyNetworking

/// WebSockets that do nothing: what each costs the server, and whether it still stands after a while.
struct IdleLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let arguments = self.arguments
    let team = try await Team(arguments)
    let empty = try memory()
    var steps: [Report.Step] = []
    var standing = 0
    for step in arguments.steps {
      try await team.open(step - standing) { crew, loop in
        IdleClient(crew, arguments.tongue, loop.resident(IdlePlaces.self) { IdlePlaces() }.next())
      }
      standing = step
      try await Task.sleep(for: .seconds(1))
      let now = try memory()
      steps.append(
        .init(
          connections: step, resident: difference(now?.resident, empty?.resident),
          anonymous: difference(now?.anonymous, empty?.anonymous)))
    }
    Console.progress("\(standing) connections stand")
    try await Task.sleep(for: .seconds(arguments.hold))
    // What is measured is the answer to one ping on each connection.
    let seconds = try await team.measure(atMost: 10, untilDone: true)
    var tally = await team.tally
    if tally.operations < standing { tally.faults["no answer to a ping"] = standing - tally.operations }
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally, steps: steps)
  }

  private func memory() throws -> ProcessMemory? {
    try arguments.server.map { try ProcessMemory(of: $0) }
  }

  private func difference(_ now: Int?, _ before: Int?) -> Int? {
    guard let now, let before else { return nil }
    return now - before
  }
}

private final class IdlePlaces {
  private var count = 0

  func next() -> Int {
    defer { count += 1 }
    return count
  }
}

private final class IdleClient: LoadClient, SocketOwner {
  private let crew: Crew
  /// Where the server expects somebody.
  private let tongue: Tongue?
  private let place: Int
  private var socket: SocketClient?
  private var pingedAt: Int64 = 0

  init(_ crew: Crew, _ tongue: Tongue?, _ place: Int) {
    self.crew = crew
    self.tongue = tongue
    self.place = place
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let fields = tongue == .parley ? [Crowd.authorization(place)] : []
    let socket = SocketClient(crew, owner: self, subprotocols: tongue?.subprotocols ?? [], fields: fields)
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
    // That it is told what it missed, which is nothing.
    guard tongue == nil || !message.starts(with: #"{"event":"complete""#.utf8) else { return }
    crew.note("a message that nobody sent")
  }

  func socketPonged(on loop: isolated EventLoop) {
    let now = Clock.monotonic()
    crew.done(after: now - pingedAt)
    if crew.tally.operations == crew.opened { crew.allDone(at: now) }
  }
}
