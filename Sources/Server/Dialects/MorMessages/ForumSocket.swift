// The WebSocket of a subscription: each new message of one room as a text frame. The events come from the log by the same
// state machine as those of the API, from the event before the answer to the handshake. The protocol has no word for a gap, so a
// client with a full queue gets the rest from the log when it has read. One that does not read is disconnected. Messages of the
// client are ignored.

import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Storage
import Web

final class ForumSocket: WebSocketHandler, Subscriber, LogReader {
  /// The request that opened the socket.
  struct Start {
    let api: API
    let request: RequestID
    let subscription: MorMessagesSubscription
    let room: ID<Conversation>
    let caller: Caller
    /// The last event before the socket.
    let event: Int
  }

  private static let maxQueue = 262_144
  /// The limits of messages of the client, which are ignored: bytes of one, and their number within a second.
  private static let maxMessage = 65_536
  private static let maxReceived = 256
  private static let page = PageBounds(events: 200, bytes: 131_072)
  /// Milliseconds between two looks at the end of the subscription.
  private static let checkInterval: Int64 = 10_000

  static var options: WebSocketOptions {
    WebSocketOptions(
      messageLimit: maxMessage, inflation: InflationRate(burst: 1 << 20, perSecond: 65_536), queue: maxQueue)
  }

  private let socket: any WebSocket
  private let start: Start
  private let live: LoopBroadcasts
  private var state: SubscriptionState
  private var audiences: Set<Signal.Audience> = []
  /// The topics and the position of the next read.
  private var pending: (topics: [LiveTopic], after: Int)?
  private var mustRetry = false
  /// A message found no room in the queue: the subscription begins again at it.
  private var isLagging = false
  private var stall = SocketStall()
  private var checkedAt: Int64
  /// Messages from the client since the last tick.
  private var receivedCount = 0
  private var isClosed = false

  private var view: CommunityView { live.view }
  var session: ID<Session>? { start.caller.session }

  init(_ socket: any WebSocket, _ start: Start, _ live: LoopBroadcasts) {
    self.socket = socket
    self.start = start
    self.live = live
    state = SubscriptionState(user: start.caller.user)
    checkedAt = live.now
  }

  // MARK: WebSocketHandler

  func opened(on loop: isolated any Actor) {
    live.board.add(self)
    live.start()
    if live.isClosed { return hubClosed() }
    // The session may have ended since the request was authenticated.
    do throws(Refusal) { try view.checkSession(of: start.caller) } catch {
      return close(error == .unavailable ? .unavailable : .ended)
    }
    subscribe(after: start.event)
    live.startReading(isolation: loop)
  }

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    receivedCount += 1
    if receivedCount > Self.maxReceived { socket.close(.policy, reason: "too many messages") }
  }

  func drained(on loop: isolated any Actor) {
    if isLagging {
      isLagging = false
      subscribe(after: state.resumePosition)
    }
    perform(state.resume())
    live.startReading(isolation: loop)
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    guard !isClosed else { return }
    isClosed = true
    for audience in audiences { live.board.unsubscribe(audience, self) }
    audiences = []
    live.board.remove(self)
  }

  // MARK: Subscriber

  func receive(_ publication: Publication) {
    let event = publication.event
    // The frame is what the API sends to this reader, who may not see all of the event.
    guard let frame = state.receive(publication), event.kind == .messageCreated else { return }
    guard !send(eventOf: frame.text) else { return }
    state.markLagging(event.stream, from: event.id)
    isLagging = true
  }

  func receive(_ signal: Signal, _ frame: Frame) {}

  func accessChanged(_ change: AccessChange) { perform(state.accessChanged(change)) }

  func eventsLost() { perform(state.eventsLost()) }

  func sessionEnded() { close(.ended) }

  func hubClosed() { socket.close(.goingAway, reason: CloseCode.restartReason) }

  func tick(_ now: Int64) {
    receivedCount = 0
    if mustRetry {
      mustRetry = false
      perform(state.resume())
    }
    if stall.isTooSlow(queued: socket.queued, isWaiting: isLagging, at: now) { return close(.tooSlow) }
    guard now - checkedAt >= Self.checkInterval else { return }
    checkedAt = now
    // A renewed subscription goes on.
    do throws(Refusal) { _ = try view.getSubscription(start.subscription.id, for: start.caller) } catch {
      if error == .notFound { socket.close(.normal, reason: "subscription expired") }
    }
  }

  private func close(_ reason: CloseReason) {
    guard let code = CloseCode(UInt16(reason.rawValue)) else { return }
    socket.close(code, reason: reason.code)
  }

  // MARK: Events

  private func subscribe(after event: Int) {
    perform(state.subscribe([.conversation(start.room)], after: event, ticket: 0))
  }

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after):
        pending = (topics, after)
        live.enqueue(self)
      case .subscribe(let audience):
        if audiences.insert(audience).inserted { live.board.subscribe(audience, self) }
      case .unsubscribe(let audience):
        if audiences.remove(audience) != nil { live.board.unsubscribe(audience, self) }
      case .sendBuffered: while let publication = state.nextBuffered() { receive(publication) }
      case .answer(_, let outcome):
        if outcome.isRefused { socket.close(.policy, reason: "forum not found") }
      case .lost: socket.close(.policy, reason: "forum not found")
      // The protocol has no word for it: clients list the messages when they connect.
      case .reset: break
      }
    }
  }

  func startReading(isolation: isolated (any Actor)?) {
    guard !isClosed, let (topics, after) = pending else { return }
    pending = nil
    Task.immediate {
      _ = isolation
      do throws(Refusal) {
        let found = try await self.live.catchUp(topics, from: .after(after), Self.page, for: self.start.caller)
        self.finish(found)
      } catch {
        self.readFailed(error)
      }
      self.live.startReading(isolation: isolation)
    }
  }

  private func finish(_ found: CatchUp) {
    guard !isClosed else { return }
    switch found {
    case .reset(let reason, let head): perform(state.didReset(reason, head: head))
    case .page(let page):
      var through = 0
      for item in state.newItems(page) {
        // The rest is read again when the queue has room.
        guard send(eventOf: item.text) else {
          return perform(state.didSend(page, through: through, isWhole: false))
        }
        through = item.event
      }
      perform(state.didSend(page, through: page.through, isWhole: true))
    }
  }

  private func readFailed(_ refusal: Refusal) {
    guard !isClosed else { return }
    guard refusal != .unauthenticated else { return close(.ended) }
    state.readFailed()
    mustRetry = true
  }

  /// Sends the message of an event about a new one that the reader sees. Returns false without room for it.
  private func send(eventOf json: [UInt8]) -> Bool {
    guard !isClosed else { return true }
    do {
      guard let message = try Self.newMessage(json), try !view.hides(message.author, from: start.caller) else {
        return true
      }
      for seen in try view.morMessages([message], in: start.subscription.forum, for: start.caller) {
        var json = JSONWriter()
        json.value(seen)
        guard socket.send(.text(json.bytes)) else { return false }
      }
    } catch Refusal.unauthenticated {
      close(.ended)
    } catch {
      // Without the message, the client would not know of a gap.
      if !(error is Refusal) { start.api.logLine("\(start.request) \(error)") }
      close(.unavailable)
    }
    return true
  }

  /// The message of an event about a new one; nil for another event, and for a message that the lists leave out.
  private static func newMessage(_ json: [UInt8]) throws(JSONError) -> Message? {
    let event = try ReceivedEvent(json: JSONValue(parsing: json))
    guard event.kind == .messageCreated, case .message(let message) = event.content, message.isInMorMessages else {
      return nil
    }
    return message
  }
}
