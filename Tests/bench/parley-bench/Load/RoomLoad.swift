// A room with all members online. Some of them post, each one message at a time: the next one when all members have
// received the previous one and the server has acknowledged it. Every member must receive every message once, in the
// same order if the server guarantees one. All connections are on one loop, so that the counters need no locks.

import ParleyJSON
import ParleyNetworking
import ParleyWire

struct RoomLoad {
  private let arguments: LoadArguments
  private let roomProtocol: RoomProtocol

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load room runs on one loop.") }
    guard let roomProtocol = arguments.roomProtocol else { throw UsageError("load room needs --as.") }
    guard !arguments.room.isEmpty else { throw UsageError("load room needs --room.") }
    guard arguments.window <= arguments.connections else { throw UsageError("--window must not exceed --connections.") }
    self.arguments = arguments
    self.roomProtocol = roomProtocol
  }

  func run() async throws -> LoadReport {
    let (arguments, roomProtocol) = (self.arguments, self.roomProtocol)
    let loadLoops = try await LoadLoops(arguments)
    try await loadLoops.open(arguments.connections) { connections, loop in
      let progress = loop.resident(RoomProgress.self) { RoomProgress(connections, arguments) }
      return RoomMember(connections, progress, arguments, roomProtocol)
    }
    if roomProtocol == .parley {
      try await loadLoops.open(arguments.window) { connections, loop in
        RoomPoster(connections, loop.resident(RoomProgress.self) { RoomProgress(connections, arguments) }, arguments)
      }
    }
    guard try await wait(for: loadLoops, { $0.missing }) == 0 else {
      throw LoadError(description: "not all members joined the room")
    }
    let seconds = try await loadLoops.measure(atMost: arguments.seconds)
    let rest = try await wait(for: loadLoops) { $0.inFlight }
    var tally = await loadLoops.tally
    if rest > 0 { tally.faults["undelivered messages", default: 0] += rest }
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally)
  }

  /// Waits until the count is 0, or has not changed for 10 s.
  private func wait(for loadLoops: LoadLoops, _ count: @Sendable (RoomProgress) -> Int) async throws -> Int {
    var rest = 0
    var before = -1
    var idle = 0
    while idle < 1_000 {
      rest = 0
      for loop in loadLoops.loops { rest += await Self.count(on: loop, count) }
      if rest == 0 { break }
      idle = rest == before ? idle + 1 : 0
      before = rest
      try await Task.sleep(for: .milliseconds(10))
    }
    return rest
  }

  private static func count(on loop: isolated EventLoop, _ count: (RoomProgress) -> Int) -> Int {
    loop.resident(RoomProgress.self).map(count) ?? 0
  }
}

/// Sends the messages of one turn.
protocol RoomSender: AnyObject {
  /// Returns false if a response of the server follows.
  func send(_ number: Int, _ text: String) -> Bool
}

/// The messages in flight and the number of members that have not received them.
final class RoomProgress {
  private struct Turn {
    var number: Int
    var sentAt: Int64 = 0
    var missing = 0
    var isAccepted = true
  }

  private let connections: LoopConnections
  private let members: Int
  private var nextFreeIndex = 0
  private var joined = 0
  private var turns: [Turn]
  private var senders: [any RoomSender] = []
  /// The message order, as the first member received them.
  private var order: [Int] = []
  /// NATS has an order per sender, not per room.
  private let hasOrder: Bool
  private let filler: String

  init(_ connections: LoopConnections, _ arguments: LoadArguments) {
    self.connections = connections
    members = arguments.connections
    hasOrder = arguments.roomProtocol != .nats
    turns = (0..<arguments.window).map { Turn(number: $0 - arguments.window) }
    filler = String(repeating: "x", count: max(0, arguments.size - NumberScanner.marker(0).utf8.count))
  }

  var missing: Int { members - joined }
  var inFlight: Int { turns.count { $0.missing > 0 || !$0.isAccepted } }

  /// Members first, then their posters.
  func nextIndex() -> Int {
    defer { nextFreeIndex += 1 }
    return nextFreeIndex
  }

  func memberJoined() { joined += 1 }

  /// Adds a sender. Only the first `window` of them send.
  func add(_ sender: any RoomSender) {
    if senders.count < turns.count { senders.append(sender) }
  }

  func begin() {
    for index in turns.indices { next(index) }
  }

  private func next(_ index: Int) {
    guard connections.isMeasuring, turns[index].missing == 0, turns[index].isAccepted, senders.indices.contains(index)
    else {
      return
    }
    turns[index].number += turns.count
    turns[index].missing = members
    turns[index].isAccepted = false
    turns[index].sentAt = Clock.monotonic()
    let number = turns[index].number
    if senders[index].send(number, NumberScanner.marker(number) + filler) { turns[index].isAccepted = true }
  }

  /// The server has acknowledged the message.
  func accepted(_ number: Int) {
    let index = number % turns.count
    turns[index].isAccepted = true
    next(index)
  }

  /// A member received the message, after `count` others.
  func delivered(_ number: Int, after count: Int) {
    let index = number % turns.count
    guard turns[index].number == number, turns[index].missing > 0 else {
      return connections.record("a message that is not in flight")
    }
    if hasOrder {
      if count == order.count { order.append(number) }
      guard count < order.count, order[count] == number else { return connections.record("wrong order") }
    }
    connections.delivered()
    turns[index].missing -= 1
    guard turns[index].missing == 0 else { return }
    connections.recordLatency(Clock.monotonic() - turns[index].sentAt)
    next(index)
  }
}

private final class RoomMember: LoadClient, SocketOwner, RoomSender {
  private let connections: LoopConnections
  private let progress: RoomProgress
  private let roomProtocol: RoomProtocol
  private let room: String
  private let index: Int
  private var handshake: RoomHandshake
  private var scanner = NumberScanner()
  private var received = 0
  private var socket: SocketClient?

  init(
    _ connections: LoopConnections, _ progress: RoomProgress, _ arguments: LoadArguments, _ roomProtocol: RoomProtocol
  ) {
    self.connections = connections
    self.progress = progress
    self.roomProtocol = roomProtocol
    room = arguments.room
    index = progress.nextIndex()
    handshake = RoomHandshake(roomProtocol, room: arguments.room, member: index)
    if roomProtocol != .parley { progress.add(self) }
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let fields = roomProtocol == .parley ? [BenchUsers.authorization(index)] : []
    let socket = SocketClient(connections, owner: self, subprotocols: roomProtocol.subprotocols, fields: fields)
    self.socket = socket
    try socket.open(on: loop)
  }

  func begin(on loop: isolated EventLoop) {
    if index == 0 { progress.begin() }
  }

  func leave(on loop: isolated EventLoop) { socket?.leave() }

  func socketOpened(on loop: isolated EventLoop) {
    if let opening = handshake.opening { send(opening) }
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    guard handshake.hasJoined else {
      if let answer = handshake.answer(to: String(decoding: message, as: UTF8.self)) { send(answer) }
      if handshake.hasJoined { progress.memberJoined() }
      return
    }
    scanner.scan(message) { number in
      progress.delivered(number, after: received)
      received += 1
    }
  }

  func socketPonged(on loop: isolated EventLoop) {}

  private func send(_ text: String) { socket?.send(Array(text.utf8), isBinary: roomProtocol.isBinary) }

  func send(_ number: Int, _ text: String) -> Bool {
    switch roomProtocol {
    case .parley: return false
    case .xmpp:
      send(
        #"<message xmlns="jabber:client" to="\#(room)" type="groupchat" id="\#(number)">"#
          + "<body>\(text)</body></message>")
    case .nats: send("PUB \(room) \(text.utf8.count)\r\n\(text)\r\n")
    }
    return true
  }
}

/// Posts over REST as a member.
private final class RoomPoster: StreamHandler, LoadClient, RoomSender {
  private let connections: LoopConnections
  private let progress: RoomProgress
  private let index: Int
  private let page: WebAddress?
  private let run = UInt64.random(in: .min ... .max)
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  private var buffer: [UInt8] = []
  private var number: Int?

  init(_ connections: LoopConnections, _ progress: RoomProgress, _ arguments: LoadArguments) {
    self.connections = connections
    self.progress = progress
    index = progress.nextIndex() - arguments.connections
    page = connections.target.pages.first.flatMap {
      WebAddress("http://\($0.authority)/api/v1/conversations/\(arguments.room)/messages")
    }
    progress.add(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) { stream = try connections.connect(self, on: loop) }

  func begin(on loop: isolated EventLoop) {}

  func leave(on loop: isolated EventLoop) { stream?.finish() }

  func send(_ number: Int, _ text: String) -> Bool {
    guard let page else { return false }
    self.number = number
    var json = JSONWriter()
    json.object { json in
      json.field("client_id", "\(run)-\(number)")
      json.field("text", text)
    }
    let fields = [BenchUsers.authorization(index), (name: "Content-Type", value: "application/json")]
    stream?.write(connections.target.request(.post, page, fields, body: json.bytes))
    return false
  }

  func opened(on loop: isolated EventLoop) { connections.clientOpened(on: loop) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    buffer.append(copying: bytes)
    do {
      guard let (head, length) = try parser.parse(buffer.span, to: .post), case .length(let size) = head.framing,
        buffer.count >= length + Int(size), let number
      else { return }
      buffer = []
      parser = ResponseParser()
      self.number = nil
      if head.status.code != 201 { connections.record("status \(head.status.code)") }
      progress.accepted(number)
    } catch {
      connections.record("invalid response: \(error)")
      stream?.abort()
    }
  }

  func ended(on loop: isolated EventLoop) { stream?.finish() }
  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    connections.clientClosed()
    if !connections.isClosing {
      connections.clientLost(error?.description ?? "closed by the server", wasOpen: true, on: loop)
    }
  }
}
