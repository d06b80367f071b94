// From the commit to those who follow along. The writer hands over what it has committed and goes on; this reads what the
// events are about, on a thread and a connection of its own, encodes each once, and gives it to the hub. What nobody
// follows is neither read nor encoded.

import ParleyModel
public import PubSub
public import Storage
import Synchronization

public final class Publisher: Sendable {
  public let hub: Hub
  private let inbox = Mutex(Inbox())
  private let desk = Mutex<Desk?>(nil)

  private struct Inbox {
    var deliveries: [Delivery] = []
    var count = 0
    var hasMissed = false
    var isBusy = false
  }

  /// Beyond this everyone looks into the log instead.
  private static let mostWaiting = 16_384

  public init(_ hub: Hub) { self.hub = hub }

  /// Begins to publish. What was committed before is in the log for whoever asks.
  func start(_ store: Store) {
    desk.withLock { desk in
      guard desk == nil else { return }
      desk = Desk(hub, store.reader())
    }
  }

  /// For the store: what was just committed, in order.
  public func take(_ delivery: Delivery) {
    guard let desk = desk.withLock({ $0 }) else { return }
    let mustWake = inbox.withLock { inbox in
      if inbox.count + delivery.events.count > Self.mostWaiting {
        // Who has to go goes all the same.
        inbox.deliveries = inbox.deliveries.map { Delivery(endedSessions: $0.endedSessions) }
        inbox.count = 0
        inbox.hasMissed = true
      }
      inbox.deliveries.append(delivery)
      inbox.count += delivery.events.count
      defer { inbox.isBusy = true }
      return !inbox.isBusy
    }
    if mustWake { Task { await self.work(at: desk) } }
  }

  private func work(at desk: Desk) async {
    while let (deliveries, hasMissed) = next() { await desk.publish(deliveries, hasMissed: hasMissed) }
  }

  private func next() -> (deliveries: [Delivery], hasMissed: Bool)? {
    inbox.withLock { inbox in
      guard !inbox.deliveries.isEmpty else {
        inbox.isBusy = false
        return nil
      }
      defer {
        inbox.deliveries = []
        inbox.count = 0
        inbox.hasMissed = false
      }
      return (inbox.deliveries, inbox.hasMissed)
    }
  }
}

/// Where it is done, one batch after the other.
private actor Desk {
  private nonisolated let executor = SerialQueue("parley.publisher")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let hub: Hub
  private let reader: Reader
  /// The last event that was looked at; nil before the first.
  private var last: Int?
  private var forums: [ID<Conversation>: ID<Forum>?] = [:]

  /// How many conversations are remembered with their forums.
  private static let mostForums = 10_000

  init(_ hub: Hub, _ reader: sending Reader) {
    self.hub = hub
    self.reader = reader
  }

  func publish(_ deliveries: [Delivery], hasMissed: Bool) {
    let ended = Set(deliveries.flatMap(\.endedSessions))
    if !ended.isEmpty { hub.publish([.ended(ended)]) }
    var events = deliveries.flatMap(\.events)
    guard let first = events.first, let end = events.last else {
      if hasMissed { hub.lose() }
      return
    }
    if hasMissed {
      last = end.id
      return hub.lose()
    }
    do throws(Refusal) {
      if let last, first.id > last + 1 { events = try missing(after: last, before: first.id) + events }
      last = end.id
      hub.publish(try postings(events))
      tellActivity(events)
    } catch {
      // It can't be read now. Who follows asks for it, and hears when it can be told.
      last = end.id
      hub.lose()
    }
  }

  /// What was committed in between and did not come to us.
  private func missing(after last: Int, before next: Int) throws(Refusal) -> [Event] {
    var found: [Event] = []
    var after = last
    while after + 1 < next {
      let page = try reader.read { tx throws(Refusal) in try tx.events(after: after, limit: EventLimits.page) }
      guard let end = page.last else { break }
      found += page.filter { $0.id < next }
      after = end.id
    }
    return found
  }

  private func postings(_ events: [Event]) throws(Refusal) -> [Posting] {
    let wanted = hub.wanted(events)
    let published = try wanted.isEmpty ? [:] : publications(of: wanted)
    var postings: [Posting] = []
    for event in events {
      if let publication = published[event.id] { postings.append(.event(publication)) }
      if let change = AccessChange(event) { postings.append(.access(change)) }
    }
    return postings
  }

  private func publications(of events: [Event]) throws(Refusal) -> [Int: Publication] {
    let contents = try reader.read { tx throws(Refusal) in try tx.delivered(events) }
    var published: [Int: Publication] = [:]
    for content in contents {
      let isForAll = content.isOpen(to: .least)
      published[content.event.id] = Publication(
        content, hub.makeFrame(content.jsonBytes),
        reduced: isForAll ? nil : hub.makeFrame(content.reduced.jsonBytes))
    }
    return published
  }

  /// Where somebody wrote, to those who follow the forum and not all that is in it.
  private func tellActivity(_ events: [Event]) {
    var newest: [ID<Conversation>: Int] = [:]
    for event in events where event.kind == .messageCreated {
      guard case .conversation(let conversation) = event.stream else { continue }
      newest[conversation] = event.subject
    }
    for (conversation, message) in newest {
      guard let forum = forum(of: conversation) else { continue }
      hub.publish(.activity(forum, conversation, lastMessage: ID(message)))
    }
  }

  private func forum(of conversation: ID<Conversation>) -> ID<Forum>? {
    if let known = forums[conversation] { return known }
    do throws(Refusal) {
      let forum = try reader.read { tx throws(Refusal) in try tx.forum(ofConversation: conversation) }
      if forums.count >= Self.mostForums { forums = [:] }
      forums[conversation] = .some(forum)
      return forum
    } catch {
      // A signal may be left out.
      return nil
    }
  }
}
