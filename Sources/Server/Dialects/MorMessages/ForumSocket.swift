// The WebSocket of a subscription: each new message of one room as a text frame. The events come from the log by the same
// state machine as those of the API, from the event before the answer to the handshake. A client that does not read is
// disconnected, since the protocol has no word for a gap. What the client sends is ignored.

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
    let subscription: MorMessagesSubscription
    let room: ID<Conversation>
    let caller: Caller
    /// The last event before the socket.
    let event: Int
  }

  private static let maxQueue = 262_144
  /// Clients have nothing to say: bytes of a message, and messages within a second.
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
    perform(state.subscribe([.conversation(start.room)], after: start.event, ticket: 0))
    live.startReading(isolation: loop)
  }

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    receivedCount += 1
    if receivedCount > Self.maxReceived { socket.close(.policy, reason: "too many messages") }
  }

  func drained(on loop: isolated any Actor) {}

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    guard !isClosed else { return }
    isClosed = true
    for audience in audiences { live.board.unsubscribe(audience, self) }
    audiences = []
    live.board.remove(self)
  }

  // MARK: Subscriber

  func receive(_ publication: Publication) {
    // The frame is what the API sends to this reader, who may not see all of the event.
    guard let frame = state.receive(publication), publication.event.kind == .messageCreated,
      let message = Self.newMessage(frame.text)
    else { return }
    send(message)
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
      for item in state.newItems(page) {
        if let message = Self.newMessage(item.text) { send(message) }
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

  /// The message of an event about a new one; nil for another event.
  private static func newMessage(_ json: [UInt8]) -> Message? {
    do throws(JSONError) {
      let event = try ReceivedEvent(json: JSONValue(parsing: json))
      guard event.kind == .messageCreated, case .message(let message) = event.content else { return nil }
      return message
    } catch {
      return nil
    }
  }

  private func send(_ message: Message) {
    // Deleted since.
    guard !isClosed, message.isInMorMessages else { return }
    do throws(Refusal) {
      if try view.hides(message.author, from: start.caller) { return }
      for seen in try view.morMessages([message], in: start.subscription.forum, for: start.caller) {
        var json = JSONWriter()
        json.value(seen)
        guard socket.send(.text(json.bytes)) else { return close(.tooSlow) }
      }
    } catch {
      close(error == .unauthenticated ? .ended : .unavailable)
    }
  }
}
