import ParleyModel
import Testing

@testable import PubSub

/// One client that lets go of something, by itself or because it has to.
@Suite struct UnfollowingTests {
  private let ada = ID<User>(1)
  private let garden = ID<Conversation>(10)
  private let kitchen = ID<Conversation>(11)

  @Test func `who no longer follows what is theirs is told nothing more of it`() {
    let ada = Client(self.ada)
    let own: [EventStream] = [.user(self.ada), .site, .conversation(garden)]
    ada.subscribe([.me, .conversation(garden)], ticket: 1)
    ada.read(own, isOfMe: true)
    for (number, stream) in own.enumerated() { #expect(ada.takes(number + 1, of: stream), "\(stream)") }
    ada.unsubscribe([.me])
    #expect(!ada.takes(4, of: .user(self.ada)) && !ada.takes(5, of: .site))
    #expect(ada.takes(6, of: .conversation(garden)))
    // These say what may be seen, and are watched all the same.
    #expect(ada.following.streamCount == 3)
    ada.unsubscribe([.conversation(garden)])
    #expect(!ada.takes(7, of: .conversation(garden)) && ada.following.streamCount == 2)
  }

  @Test func `a page that was on its way brings nothing back`() {
    let ada = Client(self.ada)
    ada.subscribe([.conversation(garden), .conversation(kitchen)], ticket: 1)
    ada.unsubscribe([.conversation(garden)])
    let page = ada.page([.conversation(garden), .conversation(kitchen)], events: [1, 2])
    #expect(ada.following.newItems(page).map(\.event) == [2])
    ada.receive(page)
    #expect(ada.followed == [.stream(.conversation(kitchen))])
    ada.read([.conversation(kitchen)])
    #expect(ada.following.isLive && ada.following.topics == [.conversation(kitchen)])
    #expect(!ada.takes(3, of: .conversation(garden)) && ada.takes(4, of: .conversation(kitchen)))
  }

  @Test func `what is theirs comes back with no page that was on its way`() {
    let ada = Client(self.ada)
    ada.subscribe([.me], ticket: 1)
    ada.unsubscribe([.me])
    let page = ada.page([.user(self.ada), .site, .conversation(garden)], events: [1, 2, 3], isOfMe: true)
    #expect(ada.following.newItems(page).isEmpty)
    ada.receive(page)
    ada.read([.user(self.ada), .site], isQuiet: true)
    #expect(!ada.takes(4, of: .site) && !ada.takes(5, of: .conversation(garden)))
  }

  @Test func `there is room for so many topics, and for so many reads`() {
    let ada = Client(self.ada)
    let names = (1...SubscriptionState.maxTopics).map { LiveTopic.app("\($0)") }
    #expect(ada.following.canSubscribe(Set(names), from: 1))
    ada.subscribe(Array(names.dropLast()), ticket: 1)
    #expect(ada.following.canSubscribe([.presence], from: 1) && !ada.following.canSubscribe([.presence, .me], from: 1))
    #expect(ada.following.canSubscribe([names[0], .presence], from: 1))
    ada.read([])
    #expect(!ada.following.canSubscribe([.presence, .me], from: 1))
    ada.unsubscribe([names[0]])
    #expect(ada.following.canSubscribe([.presence, .me], from: 1))
    ada.subscribe([names[1]], ticket: 2)
    for number in 1..<SubscriptionState.maxTopics { ada.subscribe([names[1]], ticket: 2 + number) }
    #expect(ada.following.canSubscribe([names[1]], from: 1) && !ada.following.canSubscribe([names[1]], from: 2))
    ada.subscribe([names[1]], ticket: 2 + SubscriptionState.maxTopics)
    #expect(!ada.following.canSubscribe([names[1]], from: 1))
  }

  @Test func `nobody is heard to write while rights are asked anew`() {
    let ada = Client(self.ada)
    let typing = Signal.typing(garden, by: ID(2), isTyping: true)
    ada.subscribe([.conversation(garden)], ticket: 1)
    ada.read([.conversation(garden)])
    #expect(ada.following.accepts(typing))
    #expect(!ada.following.accepts(.typing(garden, by: self.ada, isTyping: true)))
    // Reading something else changes nothing, but a change meanwhile does.
    ada.subscribe([.conversation(kitchen)], ticket: 2)
    #expect(ada.following.accepts(typing))
    ada.accessChanged(.user(self.ada))
    #expect(!ada.following.accepts(typing))
    ada.read([.conversation(kitchen)])
    #expect(!ada.following.accepts(typing))
    ada.read([.conversation(kitchen)], lost: [.conversation(garden)])
    #expect(ada.following.isLive && !ada.following.accepts(typing))
  }

  @Test func `whoever may hear others no longer is no part of their audience`() {
    let ada = Client(self.ada)
    ada.subscribe([.presence, .app("chess")], ticket: 1)
    ada.read([])
    #expect(ada.followed == [.presence, .app("chess")])
    ada.accessChanged(.user(self.ada))
    ada.read([], lost: [.presence, .app("chess")])
    #expect(ada.followed.isEmpty && ada.lost == [.presence, .app("chess")])
  }
}

/// What is asked of the log is answered by hand.
private final class Client {
  var following: SubscriptionState
  private(set) var followed: Set<Signal.Audience> = []
  private(set) var lost: [LiveTopic] = []
  private var reads = 0

  init(_ user: ID<User>) { following = SubscriptionState(user: user) }

  func subscribe(_ topics: [LiveTopic], ticket: Int) { perform(following.subscribe(topics, after: 0, ticket: ticket)) }

  func unsubscribe(_ topics: [LiveTopic]) { perform(following.unsubscribe(topics)) }

  func accessChanged(_ change: AccessChange) { perform(following.accessChanged(change)) }

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
    perform(following.didSend(page, through: page.through, isWhole: true))
  }

  /// The job that is under way, to its end: all of its pages are alike.
  func read(
    _ streams: [EventStream], isOfMe: Bool = false, isQuiet: Bool = false, lost: [LiveTopic] = []
  ) {
    for _ in 0..<2 where reads > 0 { receive(page(streams, isOfMe: isOfMe, isQuiet: isQuiet, lost: lost)) }
  }

  /// Whether an event is for this client.
  func takes(_ id: Int, of stream: EventStream) -> Bool {
    let event = Event(
      id: id, stream: stream, offset: id, kind: .messageCreated, subject: id, revision: 1, actor: 1, at: 0)
    let frame = Frame(text: [], framed: [], deflated: nil)
    return following.receive(Publication(DeliveredEvent(event, .actions(ID(id), [])), frame)) != nil
  }

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read: reads += 1
      case .subscribe(let audience): followed.insert(audience)
      case .unsubscribe(let audience): followed.remove(audience)
      case .lost(let topic): lost.append(topic)
      case .sendBuffered: while following.nextBuffered() != nil {}
      case .answer, .reset: break
      }
    }
  }
}
