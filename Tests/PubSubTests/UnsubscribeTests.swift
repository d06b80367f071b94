import ParleyModel
import Testing

@testable import PubSub

/// A subscriber that unsubscribes or loses access.
@Suite struct UnsubscribeTests {
  private let ada = ID<User>(1)
  private let garden = ID<Conversation>(10)
  private let kitchen = ID<Conversation>(11)

  @Test func `an unsubscribed user topic sends no further events`() {
    let ada = Client(self.ada)
    let own: [EventStream] = [.user(self.ada), .site, .conversation(garden)]
    ada.subscribe([.me, .conversation(garden)], ticket: 1)
    ada.read(own, isOfMe: true)
    for (number, stream) in own.enumerated() { #expect(ada.receives(number + 1, of: stream), "\(stream)") }
    ada.unsubscribe([.me])
    #expect(!ada.receives(4, of: .user(self.ada)) && !ada.receives(5, of: .site))
    #expect(ada.receives(6, of: .conversation(garden)))
    // The user and site streams stay subscribed, since they announce changes of access.
    #expect(ada.subscriptions.streamCount == 3)
    ada.unsubscribe([.conversation(garden)])
    #expect(!ada.receives(7, of: .conversation(garden)) && ada.subscriptions.streamCount == 2)
  }

  @Test func `a stale page does not resubscribe a topic`() {
    let ada = Client(self.ada)
    ada.subscribe([.conversation(garden), .conversation(kitchen)], ticket: 1)
    ada.unsubscribe([.conversation(garden)])
    let page = ada.page([.conversation(garden), .conversation(kitchen)], events: [1, 2])
    #expect(ada.subscriptions.newItems(page).map(\.event) == [2])
    ada.receive(page)
    #expect(ada.subscribed == [.stream(.conversation(kitchen))])
    ada.read([.conversation(kitchen)])
    #expect(ada.subscriptions.isLive && ada.subscriptions.topics == [.conversation(kitchen)])
    #expect(!ada.receives(3, of: .conversation(garden)) && ada.receives(4, of: .conversation(kitchen)))
  }

  @Test func `a stale page does not resubscribe the user topic`() {
    let ada = Client(self.ada)
    ada.subscribe([.me], ticket: 1)
    ada.unsubscribe([.me])
    let page = ada.page([.user(self.ada), .site, .conversation(garden)], events: [1, 2, 3], isOfMe: true)
    #expect(ada.subscriptions.newItems(page).isEmpty)
    ada.receive(page)
    ada.read([.user(self.ada), .site], isQuiet: true)
    #expect(!ada.receives(4, of: .site) && !ada.receives(5, of: .conversation(garden)))
  }

  @Test func `topics and pending reads are limited`() {
    let ada = Client(self.ada)
    let names = (1...SubscriptionState.maxTopics).map { LiveTopic.app("\($0)") }
    #expect(ada.subscriptions.canSubscribe(Set(names), from: 1))
    ada.subscribe(Array(names.dropLast()), ticket: 1)
    #expect(
      ada.subscriptions.canSubscribe([.presence], from: 1)
        && !ada.subscriptions.canSubscribe([.presence, .me], from: 1))
    #expect(ada.subscriptions.canSubscribe([names[0], .presence], from: 1))
    ada.read([])
    #expect(!ada.subscriptions.canSubscribe([.presence, .me], from: 1))
    ada.unsubscribe([names[0]])
    #expect(ada.subscriptions.canSubscribe([.presence, .me], from: 1))
    ada.subscribe([names[1]], ticket: 2)
    for number in 1..<SubscriptionState.maxTopics { ada.subscribe([names[1]], ticket: 2 + number) }
    #expect(ada.subscriptions.canSubscribe([names[1]], from: 1) && !ada.subscriptions.canSubscribe([names[1]], from: 2))
    ada.subscribe([names[1]], ticket: 2 + SubscriptionState.maxTopics)
    #expect(!ada.subscriptions.canSubscribe([names[1]], from: 1))
  }

  @Test func `typing signals are dropped while access is re-read`() {
    let ada = Client(self.ada)
    let typing = Signal.typing(garden, by: ID(2), isTyping: true)
    ada.subscribe([.conversation(garden)], ticket: 1)
    ada.read([.conversation(garden)])
    #expect(ada.subscriptions.accepts(typing))
    #expect(!ada.subscriptions.accepts(.typing(garden, by: self.ada, isTyping: true)))
    // A read of another topic has no effect; a change of access during the read has.
    ada.subscribe([.conversation(kitchen)], ticket: 2)
    #expect(ada.subscriptions.accepts(typing))
    ada.accessChanged(.user(self.ada))
    #expect(!ada.subscriptions.accepts(typing))
    ada.read([.conversation(kitchen)])
    #expect(!ada.subscriptions.accepts(typing))
    ada.read([.conversation(kitchen)], lost: [.conversation(garden)])
    #expect(ada.subscriptions.isLive && !ada.subscriptions.accepts(typing))
  }

  @Test func `a user without access is unsubscribed from presence and app topics`() {
    let ada = Client(self.ada)
    ada.subscribe([.presence, .app("chess")], ticket: 1)
    ada.read([])
    #expect(ada.subscribed == [.presence, .app("chess")])
    ada.accessChanged(.user(self.ada))
    ada.read([], lost: [.presence, .app("chess")])
    #expect(ada.subscribed.isEmpty && ada.lost == [.presence, .app("chess")])
  }
}

/// A client with log reads answered by the test.
private final class Client {
  var subscriptions: SubscriptionState
  private(set) var subscribed: Set<Signal.Audience> = []
  private(set) var lost: [LiveTopic] = []
  private var reads = 0

  init(_ user: ID<User>) { subscriptions = SubscriptionState(user: user) }

  func subscribe(_ topics: [LiveTopic], ticket: Int) {
    perform(subscriptions.subscribe(topics, after: 0, ticket: ticket))
  }

  func unsubscribe(_ topics: [LiveTopic]) { perform(subscriptions.unsubscribe(topics)) }

  func accessChanged(_ change: AccessChange) { perform(subscriptions.accessChanged(change)) }

  func page(
    _ streams: [EventStream], events: [Int] = [], isOfMe: Bool = false, isQuiet: Bool = false, lost: [LiveTopic] = []
  ) -> CatchUpPage {
    let items = zip(events, streams).map { CatchUpPage.Item(event: $0, stream: $1, offset: $0, text: []) }
    var page = CatchUpPage(CatchUpPage.Content(items), through: events.last ?? 0, lost: lost)
    for stream in streams {
      page.streams[stream] = SubscribedStream(StreamReader(.member), .own, isOfMe: isOfMe, isQuiet: isQuiet)
    }
    return page
  }

  func receive(_ page: CatchUpPage) {
    reads -= 1
    perform(subscriptions.didSend(page, through: page.through, isWhole: true))
  }

  /// Completes the pending read with equal pages.
  func read(
    _ streams: [EventStream], isOfMe: Bool = false, isQuiet: Bool = false, lost: [LiveTopic] = []
  ) {
    for _ in 0..<2 where reads > 0 { receive(page(streams, isOfMe: isOfMe, isQuiet: isQuiet, lost: lost)) }
  }

  /// Whether the client receives an event of the stream.
  func receives(_ id: Int, of stream: EventStream) -> Bool {
    let event = Event(
      id: id, stream: stream, offset: id, kind: .messageCreated, subject: id, revision: 1, actor: 1, at: 0)
    let frames = EventFrames([], cursor: "") { Frame(text: $0, framed: [], deflated: nil) }
    return subscriptions.receive(Publication(DeliveredEvent(event, .actions(ID(id), [])), frames)) != nil
  }

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read: reads += 1
      case .subscribe(let audience): subscribed.insert(audience)
      case .unsubscribe(let audience): subscribed.remove(audience)
      case .lost(let topic): lost.append(topic)
      case .sendBuffered: while subscriptions.nextBuffered() != nil {}
      case .answer, .reset: break
      }
    }
  }
}
