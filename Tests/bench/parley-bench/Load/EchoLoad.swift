import ParleyNetworking

/// Messages that come back, a few under way on each connection.
struct EchoLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let arguments = self.arguments
    let team = try await Team(arguments)
    try await team.open(arguments.connections) { crew, _ in EchoClient(crew, arguments) }
    let seconds = try await team.measure(atMost: arguments.seconds)
    let tally = await team.tally
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally)
  }
}

private final class EchoClient: LoadClient, SocketOwner {
  private let crew: Crew
  private let isBinary: Bool
  /// The messages under way and when each was sent, in a ring.
  private var messages: [[UInt8]]
  private var sentAt: [Int64]
  private var sent = 0
  private var received = 0
  private var socket: SocketClient?

  init(_ crew: Crew, _ arguments: LoadArguments) {
    self.crew = crew
    isBinary = arguments.isBinary
    messages = (0..<arguments.inFlight).map { MessageNumber.message($0, size: arguments.size) }
    sentAt = Array(repeating: 0, count: arguments.inFlight)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let socket = SocketClient(crew, owner: self)
    self.socket = socket
    try socket.open(on: loop)
  }

  func begin(on loop: isolated EventLoop) {
    for _ in messages { send(at: Clock.monotonic()) }
  }

  func leave(on loop: isolated EventLoop) {
    socket?.leave()
  }

  private func send(at now: Int64) {
    guard crew.isMeasuring else { return }
    let place = sent % messages.count
    MessageNumber.write(sent, to: &messages[place])
    sentAt[place] = now
    sent += 1
    socket?.send(messages[place], isBinary: isBinary)
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    let now = Clock.monotonic()
    let place = received % messages.count
    guard received < sent, message == messages[place] else { return crew.note("not what was sent") }
    received += 1
    crew.done(after: now - sentAt[place])
    send(at: now)
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
