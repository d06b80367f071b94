// A room whose members are all online. A few of them write, each one message at a time: the next when everybody has got
// the one before and the server has taken it. Everybody must get every message once, and all in the same order, where the
// server promises one. All stand on one loop, so that the count needs no locks.

import ParleyJSON
import ParleyNetworking
import ParleyWire

struct RoomLoad {
  private let arguments: LoadArguments
  private let tongue: Tongue

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.loops == 1 else { throw UsageError("load room runs on one loop.") }
    guard let tongue = arguments.tongue else { throw UsageError("load room needs --as.") }
    guard !arguments.room.isEmpty else { throw UsageError("load room needs --room.") }
    guard arguments.window <= arguments.connections else { throw UsageError("Nobody writes two messages at once.") }
    self.arguments = arguments
    self.tongue = tongue
  }

  func run() async throws -> Report {
    let (arguments, tongue) = (self.arguments, self.tongue)
    let team = try await Team(arguments)
    try await team.open(arguments.connections) { crew, loop in
      let board = loop.resident(RoomBoard.self) { RoomBoard(crew, arguments) }
      return RoomMember(crew, board, arguments, tongue)
    }
    if tongue == .parley {
      try await team.open(arguments.window) { crew, loop in
        RoomPoster(crew, loop.resident(RoomBoard.self) { RoomBoard(crew, arguments) }, arguments)
      }
    }
    guard try await wait(for: team, { $0.missing }) == 0 else {
      throw LoadError(description: "not all members came into the room")
    }
    let seconds = try await team.measure(atMost: arguments.seconds)
    let rest = try await wait(for: team) { $0.underWay }
    var tally = await team.tally
    if rest > 0 { tally.faults["messages that did not reach everybody", default: 0] += rest }
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally)
  }

  /// Until a count is nought; at most so long that nothing more is to be expected.
  private func wait(for team: Team, _ count: @Sendable (RoomBoard) -> Int) async throws -> Int {
    var rest = 0
    var before = -1
    var idle = 0
    while idle < 1_000 {
      rest = 0
      for loop in team.loops { rest += await Self.count(on: loop, count) }
      if rest == 0 { break }
      idle = rest == before ? idle + 1 : 0
      before = rest
      try await Task.sleep(for: .milliseconds(10))
    }
    return rest
  }

  private static func count(on loop: isolated EventLoop, _ count: (RoomBoard) -> Int) -> Int {
    loop.resident(RoomBoard.self).map(count) ?? 0
  }
}

/// Who speaks when it is somebody's turn.
protocol RoomSpeaker: AnyObject {
  /// True when that is all; false when the server's answer is waited for.
  func say(_ number: Int, _ text: String) -> Bool
}

/// What is under way, and who has not got it yet.
final class RoomBoard {
  private struct Turn {
    var number: Int
    var sentAt: Int64 = 0
    var missing = 0
    var isTaken = true
  }

  private let crew: Crew
  private let members: Int
  private var places = 0
  private var joined = 0
  private var turns: [Turn]
  private var speakers: [any RoomSpeaker] = []
  /// The messages in the order in which the first one got them, as far as others are behind.
  private var order: [Int] = []
  /// NATS passes on what each one says, in the order in which it comes to it.
  private let hasOrder: Bool
  private let filler: String

  init(_ crew: Crew, _ arguments: LoadArguments) {
    self.crew = crew
    members = arguments.connections
    hasOrder = arguments.tongue != .nats
    turns = (0..<arguments.window).map { Turn(number: $0 - arguments.window) }
    filler = String(repeating: "x", count: max(0, arguments.size - NumberScanner.mark(0).utf8.count))
  }

  var missing: Int { members - joined }
  var underWay: Int { turns.count { $0.missing > 0 || !$0.isTaken } }

  /// Members first, then those who post for them.
  func nextPlace() -> Int {
    defer { places += 1 }
    return places
  }

  func joins() { joined += 1 }

  /// The first of those who could are those who do.
  func add(_ speaker: any RoomSpeaker) {
    if speakers.count < turns.count { speakers.append(speaker) }
  }

  func begin() {
    for place in turns.indices { next(place) }
  }

  private func next(_ place: Int) {
    guard crew.isMeasuring, turns[place].missing == 0, turns[place].isTaken, speakers.indices.contains(place) else {
      return
    }
    turns[place].number += turns.count
    turns[place].missing = members
    turns[place].isTaken = false
    turns[place].sentAt = Clock.monotonic()
    let number = turns[place].number
    if speakers[place].say(number, NumberScanner.mark(number) + filler) { turns[place].isTaken = true }
  }

  /// The server has answered whoever has this turn.
  func taken(_ number: Int) {
    let place = number % turns.count
    turns[place].isTaken = true
    next(place)
  }

  /// Somebody got this, after so many others.
  func delivered(_ number: Int, after count: Int) {
    let place = number % turns.count
    guard turns[place].number == number, turns[place].missing > 0 else {
      return crew.note("a message that is not under way")
    }
    if hasOrder {
      if count == order.count { order.append(number) }
      guard count < order.count, order[count] == number else { return crew.note("another order") }
    }
    crew.delivered()
    turns[place].missing -= 1
    guard turns[place].missing == 0 else { return }
    crew.took(Clock.monotonic() - turns[place].sentAt)
    next(place)
  }
}

private final class RoomMember: LoadClient, SocketOwner, RoomSpeaker {
  private let crew: Crew
  private let board: RoomBoard
  private let tongue: Tongue
  private let room: String
  private let place: Int
  private var entrance: Entrance
  private var scanner = NumberScanner()
  private var received = 0
  private var socket: SocketClient?

  init(_ crew: Crew, _ board: RoomBoard, _ arguments: LoadArguments, _ tongue: Tongue) {
    self.crew = crew
    self.board = board
    self.tongue = tongue
    room = arguments.room
    place = board.nextPlace()
    entrance = Entrance(tongue, room: arguments.room, member: place)
    if tongue != .parley { board.add(self) }
  }

  func open(on loop: isolated EventLoop) throws(StreamError) {
    let fields = tongue == .parley ? [Crowd.authorization(place)] : []
    let socket = SocketClient(crew, owner: self, subprotocols: tongue.subprotocols, fields: fields)
    self.socket = socket
    try socket.open(on: loop)
  }

  func begin(on loop: isolated EventLoop) {
    if place == 0 { board.begin() }
  }

  func leave(on loop: isolated EventLoop) { socket?.leave() }

  func socketOpened(on loop: isolated EventLoop) {
    if let opening = entrance.opening { say(opening) }
  }

  func socketReceived(_ message: [UInt8], on loop: isolated EventLoop) {
    guard entrance.isIn else {
      if let answer = entrance.answer(to: String(decoding: message, as: UTF8.self)) { say(answer) }
      if entrance.isIn { board.joins() }
      return
    }
    scanner.scan(message) { number in
      board.delivered(number, after: received)
      received += 1
    }
  }

  func socketPonged(on loop: isolated EventLoop) {}

  private func say(_ text: String) { socket?.send(Array(text.utf8), isBinary: tongue.isBinary) }

  func say(_ number: Int, _ text: String) -> Bool {
    switch tongue {
    case .parley: return false
    case .xmpp:
      say(
        #"<message xmlns="jabber:client" to="\#(room)" type="groupchat" id="\#(number)">"#
          + "<body>\(text)</body></message>")
    case .nats: say("PUB \(room) \(text.utf8.count)\r\n\(text)\r\n")
    }
    return true
  }
}

/// Posts over REST, as one of the members.
private final class RoomPoster: StreamHandler, LoadClient, RoomSpeaker {
  private let crew: Crew
  private let board: RoomBoard
  private let place: Int
  private let page: WebAddress?
  private let run = UInt64.random(in: .min ... .max)
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  private var rest: [UInt8] = []
  private var number: Int?

  init(_ crew: Crew, _ board: RoomBoard, _ arguments: LoadArguments) {
    self.crew = crew
    self.board = board
    place = board.nextPlace() - arguments.connections
    page = crew.target.pages.first.flatMap {
      WebAddress("http://\($0.authority)/api/v1/conversations/\(arguments.room)/messages")
    }
    board.add(self)
  }

  func open(on loop: isolated EventLoop) throws(StreamError) { stream = try crew.connect(self, on: loop) }

  func begin(on loop: isolated EventLoop) {}

  func leave(on loop: isolated EventLoop) { stream?.finish() }

  func say(_ number: Int, _ text: String) -> Bool {
    guard let page else { return false }
    self.number = number
    var json = JSONWriter()
    json.object { json in
      json.field("client_id", "\(run)-\(number)")
      json.field("text", text)
    }
    let fields = [Crowd.authorization(place), (name: "Content-Type", value: "application/json")]
    stream?.write(crew.target.request(.post, page, fields, body: json.bytes))
    return false
  }

  func opened(on loop: isolated EventLoop) { crew.clientOpened(on: loop) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    rest.append(copying: bytes)
    do {
      guard let (head, length) = try parser.parse(rest.span, to: .post), case .length(let size) = head.framing,
        rest.count >= length + Int(size), let number
      else { return }
      rest = []
      parser = ResponseParser()
      self.number = nil
      if head.status.code != 201 { crew.note("status \(head.status.code)") }
      board.taken(number)
    } catch {
      crew.note("an answer that is none: \(error)")
      stream?.abort()
    }
  }

  func ended(on loop: isolated EventLoop) { stream?.finish() }
  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    crew.clientGone()
    if !crew.isLeaving { crew.clientLost(error?.description ?? "closed by the server", wasOpen: true, on: loop) }
  }
}
