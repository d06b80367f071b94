// Publishes committed events. The writer enqueues each commit and continues; the publisher reads the events' subjects
// on its own thread and connection, encodes each event once and passes it to the hub. Events without subscribers are
// neither read nor encoded.

import ParleyModel
public import PubSub
public import Storage
import Synchronization

public final class Publisher: Sendable {
  public let hub: Hub
  private let queue = Mutex(Queue())
  private let worker = Mutex<Worker?>(nil)

  private struct Queue {
    var deliveries: [Delivery] = []
    var count = 0
    var hasGap = false
    var isBusy = false
  }

  /// Beyond this limit the events are dropped, and all subscribers catch up from the log.
  private static let maxQueuedEvents = 16_384

  public init(_ hub: Hub) { self.hub = hub }

  /// Starts publishing. Earlier commits are only in the log.
  func start(_ store: Store) {
    worker.withLock { worker in
      guard worker == nil else { return }
      worker = Worker(hub, store)
    }
  }

  /// Enqueues a commit. The store calls it in commit order.
  public func enqueue(_ delivery: Delivery) {
    guard let worker = worker.withLock({ $0 }) else { return }
    let mustWake = queue.withLock { queue in
      if queue.count + delivery.events.count > Self.maxQueuedEvents {
        // Session endings are kept even when events are dropped.
        queue.deliveries = queue.deliveries.map { Delivery(endedSessions: $0.endedSessions) }
        queue.count = 0
        queue.hasGap = true
      }
      queue.deliveries.append(delivery)
      queue.count += delivery.events.count
      defer { queue.isBusy = true }
      return !queue.isBusy
    }
    if mustWake { Task { await self.run(worker) } }
  }

  private func run(_ worker: Worker) async {
    while let (deliveries, hasGap) = next() { await worker.publish(deliveries, hasGap: hasGap) }
  }

  private func next() -> (deliveries: [Delivery], hasGap: Bool)? {
    queue.withLock { queue in
      guard !queue.deliveries.isEmpty else {
        queue.isBusy = false
        return nil
      }
      defer {
        queue.deliveries = []
        queue.count = 0
        queue.hasGap = false
      }
      return (queue.deliveries, queue.hasGap)
    }
  }
}

extension Publisher {
  /// Publishes one batch after the other on its own serial queue.
  fileprivate actor Worker {
    private nonisolated let executor = SerialQueue("parley.publisher")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let hub: Hub
    private let reader: Reader
    private let cursor: @Sendable (Int) -> String
    /// The last event processed, or nil before the first.
    private var last: Int?
    private var forums: [ID<Conversation>: ID<Forum>?] = [:]

    /// The maximum number of cached forums by conversation.
    private static let maxCachedForums = 10_000

    init(_ hub: Hub, _ store: Store) {
      self.hub = hub
      reader = store.reader()
      cursor = { store.cursor(at: $0) }
    }

    func publish(_ deliveries: [Delivery], hasGap: Bool) {
      let ended = Set(deliveries.flatMap(\.endedSessions))
      if !ended.isEmpty { hub.publish([.ended(ended)]) }
      var events = deliveries.flatMap(\.events)
      guard let first = events.first, let end = events.last else {
        if hasGap { hub.reportLoss() }
        return
      }
      if hasGap {
        last = end.id
        return hub.reportLoss()
      }
      do throws(Refusal) {
        if let last, first.id > last + 1 { events = try missing(after: last, before: first.id) + events }
        last = end.id
        hub.publish(try broadcasts(events))
        publishActivity(events)
      } catch {
        // The events can't be read now. Subscribers catch up from the log and get an error there if it persists.
        last = end.id
        hub.reportLoss()
      }
    }

    /// The events that were committed between two deliveries but not enqueued.
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

    private func broadcasts(_ events: [Event]) throws(Refusal) -> [Broadcast] {
      let subscribed = hub.subscribed(events)
      let published = try subscribed.isEmpty ? [:] : publications(of: subscribed)
      var broadcasts: [Broadcast] = []
      for event in events {
        if let publication = published[event.id] { broadcasts.append(.event(publication)) }
        if let change = AccessChange(event) { broadcasts.append(.access(change)) }
      }
      return broadcasts
    }

    private func publications(of events: [Event]) throws(Refusal) -> [Int: Publication] {
      let contents = try reader.read { tx throws(Refusal) in try tx.delivered(events) }
      var published: [Int: Publication] = [:]
      for content in contents {
        let cursor = cursor(content.event.id)
        published[content.event.id] = Publication(
          content, hub.frames(of: content, cursor),
          reduced: content.isOpen(to: .least) ? nil : hub.frames(of: content.reduced, cursor))
      }
      return published
    }

    /// Publishes activity signals for subscribers of a forum who do not subscribe to its conversations.
    private func publishActivity(_ events: [Event]) {
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
        if forums.count >= Self.maxCachedForums { forums = [:] }
        forums[conversation] = .some(forum)
        return forum
      } catch {
        // Signals are lossy.
        return nil
      }
    }
  }
}
