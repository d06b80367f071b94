// The output of one client. Answers and control messages wait for room in the socket's queue, in order. Events, pages and
// signals are refused while one waits, so that none overtakes an answer.

import Community
import ParleyModel
import ParleyWire
import PubSub
import Web

struct SocketOutput {
  private let socket: any WebSocket
  private var waiting: [[UInt8]] = []
  private var waitingBytes = 0
  /// Present users with an unsent presence.
  private var unsentPresence: [ID<User>] = []
  private var stall = SocketStall()

  init(_ socket: any WebSocket) { self.socket = socket }

  /// Whether an answer waits for room.
  var isBlocked: Bool { !waiting.isEmpty }

  // MARK: Answers

  mutating func enqueue(_ messages: [[UInt8]]) {
    waiting += messages
    for message in messages { waitingBytes += message.count }
  }

  /// Sends waiting answers while the queue has room. Stops reading from a client that does not read its answers.
  mutating func flush(whileReading mayRead: Bool) {
    while let next = waiting.first, socket.send(.text(next)) { waitingBytes -= waiting.removeFirst().count }
    socket.charge(waitingBytes)
    if isBlocked || !mayRead { socket.pause() } else { socket.resume() }
  }

  // MARK: Events

  /// Sends an event. Returns false without room for it.
  func send(_ frame: Frame) -> Bool { waiting.isEmpty && socket.send(SharedFrame(frame)) }

  func send(_ batch: StreamBatch) -> Bool {
    waiting.isEmpty && socket.send(SharedFrame(plain: batch.framed, deflated: batch.deflated))
  }

  func hasRoom(for batch: StreamBatch) -> Bool {
    waiting.isEmpty && socket.queued + batch.framed.count <= RealtimeLimits.queue
  }

  /// Sends a signal, or drops it if the queue is long.
  func send(signal frame: Frame) {
    guard waiting.isEmpty, socket.queued < RealtimeLimits.signalQueue else { return }
    socket.send(SharedFrame(frame))
  }

  /// Sends the new items of a page while the queue has room. Returns the position that the client has reached.
  func send(
    _ items: [CatchUpPage.Item], of page: CatchUpPage, _ community: Community, carriesCursor: (Int) -> Bool
  ) -> (through: Int, isWhole: Bool) {
    guard let first = items.first else { return (page.through, true) }
    if page.isShared, items.count == page.items.count, carriesCursor(first.event), send(page.content, community) {
      return (page.through, true)
    }
    var through = 0
    for item in items {
      let text = carriesCursor(item.event) ? community.withCursor(item) : item.text
      guard waiting.isEmpty, socket.send(.text(text)) else { return (through, false) }
      through = item.event
    }
    return (page.through, true)
  }

  /// Sends a page shared by all clients at the same cursor in one write, each event with its cursor. Returns false if
  /// the queue has no room for it.
  private func send(_ content: CatchUpPage.Content, _ community: Community) -> Bool {
    guard waiting.isEmpty else { return false }
    let plain = content.frames(isCompressed: false) { SharedFrame(text: community.withCursor($0)).plain }
    guard socket.queued + plain.count <= RealtimeLimits.queue else { return false }
    guard socket.isCompressed else { return socket.send(SharedFrame(plain: plain, deflated: nil)) }
    let deflated = content.frames(isCompressed: true) { community.hub.makeFrame(community.withCursor($0)).shortest }
    return socket.send(SharedFrame(plain: plain, deflated: deflated))
  }

  // MARK: Presence

  /// Sends the presence of all present users.
  mutating func startPresence(_ hub: Hub) {
    unsentPresence = hub.present
    sendPresence(hub)
  }

  mutating func stopPresence() { unsentPresence = [] }

  /// Sends the presence of present users while the queue has room; the rest follows later. Users that left meanwhile
  /// are skipped: their signal was sent already.
  mutating func sendPresence(_ hub: Hub) {
    while let user = unsentPresence.last, waiting.isEmpty, socket.queued < RealtimeLimits.signalQueue {
      unsentPresence.removeLast()
      guard let presence = hub.presence(of: user) else { continue }
      socket.send(.text(Signal.presence(user, presence, lastSeenAt: nil).jsonBytes))
    }
  }

  // MARK: Timeout

  /// Whether the client has not read from a long queue during the send timeout.
  mutating func isTooSlow(at now: Int64) -> Bool {
    stall.isTooSlow(queued: socket.queued, isWaiting: isBlocked, at: now)
  }
}

extension Community {
  /// The JSON of the event with its cursor.
  fileprivate func withCursor(_ item: CatchUpPage.Item) -> [UInt8] {
    EventFrames.adding(cursor(at: item.event), to: item.text)
  }
}
