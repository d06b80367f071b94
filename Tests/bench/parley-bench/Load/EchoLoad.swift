import ParleyNetworking

/// Echoed messages, some in flight per connection.
struct EchoLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let arguments = self.arguments
    let loadLoops = try await LoadLoops(arguments)
    try await loadLoops.open(arguments.connections) { connections, _ in EchoClient(connections, arguments) }
    let seconds = try await loadLoops.measure(atMost: arguments.seconds)
    let tally = await loadLoops.tally
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally)
  }
}

private final class EchoClient: LoadClient, SocketOwner {
  private let connections: LoopConnections
  private let isBinary: Bool
  /// The messages in flight and their send times, ring buffers.
  private var messages: [[UInt8]]
  private var sentAt: [Int64]
  private var sent = 0
  private var received = 0
  private var socket: SocketClient?

  init(_ connections: LoopConnections, _ arguments: LoadArguments) {
    self.connections = connections
    isBinary = arguments.isBinary
    messages = (0..<arguments.inFlight).map { MessageNumber.message($0, size: arguments.size) }
    sentAt = Array(repeating: 0, count: arguments.inFlight)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let socket = SocketClient(connections, owner: self)
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
    guard connections.isMeasuring else { return }
    let index = sent % messages.count
    MessageNumber.write(sent, to: &messages[index])
    sentAt[index] = now
    sent += 1
    socket?.send(messages[index], isBinary: isBinary)
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    let now = Clock.monotonic()
    let index = received % messages.count
    guard received < sent, message == messages[index] else { return connections.record("wrong echo") }
    received += 1
    connections.done(after: now - sentAt[index])
    send(at: now)
  }

  func socketPonged(on loop: isolated EventLoop) {}
}
