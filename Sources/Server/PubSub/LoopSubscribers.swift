// The subscribers of one event loop. All access is confined to that loop.

public import ParleyModel

/// A receiver of events and signals on one event loop.
public protocol Subscriber: AnyObject {
  /// The session of the client, or nil for a visitor.
  var session: ID<Session>? { get }
  func receive(_ publication: Publication)
  /// Delivers several events of one stream. Only called while no other stream of this subscriber has events in the same
  /// batch.
  func receive(_ batch: StreamBatch)
  func receive(_ signal: Signal, _ frame: Frame)
  func accessChanged(_ change: AccessChange)
  /// Events were dropped before they reached this subscriber.
  func eventsLost()
  /// The subscriber's session was revoked or expired.
  func sessionEnded()
  /// Called every second with the current time in milliseconds.
  func tick(_ now: Int64)
  /// The hub was closed. No further calls follow.
  func hubClosed()
}

extension Subscriber {
  public func receive(_ batch: StreamBatch) {
    for publication in batch.publications { receive(publication) }
  }
}

public final class LoopSubscribers {
  private let mailbox: Mailbox
  private var subscribers: [ObjectIdentifier: any Subscriber] = [:]
  private var audiences: [Signal.Audience: [any Subscriber]] = [:]
  /// The contents last taken from the mailbox; `next` is the index of the next broadcast to deliver.
  private var contents = Mailbox.Contents()
  private var next = 0

  /// The result of one `deliver` call.
  public enum Progress {
    case done
    /// More broadcasts are pending. The caller yields to the event loop first.
    case more
    /// The hub was closed. No further broadcasts follow.
    case closed
  }

  /// Broadcasts delivered per turn of the event loop.
  private static let maxPerTurn = 64

  public init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  public var count: Int { subscribers.count }

  public func add(_ subscriber: any Subscriber) {
    if subscribers.isEmpty { mailbox.setHasSubscribers(true) }
    subscribers[ObjectIdentifier(subscriber)] = subscriber
  }

  /// The subscriber must have removed all its subscriptions before.
  public func remove(_ subscriber: any Subscriber) {
    subscribers[ObjectIdentifier(subscriber)] = nil
    if subscribers.isEmpty { mailbox.setHasSubscribers(false) }
  }

  public func subscribe(_ audience: Signal.Audience, _ subscriber: any Subscriber) {
    if audiences[audience] == nil { mailbox.subscribe(audience) }
    audiences[audience, default: []].append(subscriber)
  }

  public func unsubscribe(_ audience: Signal.Audience, _ subscriber: any Subscriber) {
    guard let index = audiences[audience]?.firstIndex(where: { $0 === subscriber }) else { return }
    // The order of the subscribers is irrelevant, so swap with the last instead of shifting.
    let last = (audiences[audience]?.count ?? 1) - 1
    audiences[audience]?.swapAt(index, last)
    audiences[audience]?.removeLast()
    if last == 0 {
      audiences[audience] = nil
      mailbox.unsubscribe(audience)
    }
  }

  private func subscriberCount(_ audience: Signal.Audience) -> Int { audiences[audience]?.count ?? 0 }

  /// Delivers at most `maxPerTurn` pending broadcasts.
  public func deliver() -> Progress {
    if next == contents.broadcasts.count {
      contents = mailbox.take()
      next = 0
      // Report the gap first: it may include an access change, and the broadcasts below may be newer than the gap.
      if contents.hasGap { for subscriber in all { subscriber.eventsLost() } }
    }
    deliverBroadcasts(upTo: min(next + Self.maxPerTurn, contents.broadcasts.count))
    guard next == contents.broadcasts.count else { return .more }
    let last = contents
    contents = Mailbox.Contents()
    next = 0
    if let now = last.now { for subscriber in all { subscriber.tick(now) } }
    guard last.isClosed else { return .done }
    for subscriber in all { subscriber.hubClosed() }
    return .closed
  }

  private var all: [any Subscriber] { Array(subscribers.values) }

  /// Delivers the pending broadcasts below the index `end`. Consecutive events are delivered as a batch.
  private func deliverBroadcasts(upTo end: Int) {
    var events: [Publication] = []
    func flushEvents() {
      deliver(events)
      events = []
    }
    while next < end {
      switch contents.broadcasts[next] {
      case .event(let publication): events.append(publication)
      case .signal(let signal, let frame):
        flushEvents()
        for subscriber in audiences[signal.audience] ?? [] { subscriber.receive(signal, frame) }
      case .access(let change):
        flushEvents()
        for subscriber in all { subscriber.accessChanged(change) }
      case .ended(let sessions):
        flushEvents()
        for subscriber in all {
          if let session = subscriber.session, sessions.contains(session) { subscriber.sessionEnded() }
        }
      }
      next += 1
    }
    flushEvents()
  }

  private func deliver(_ publication: Publication) {
    for subscriber in audiences[.stream(publication.event.stream)] ?? [] { subscriber.receive(publication) }
  }

  /// Delivers consecutive events. A subscriber to the stream with the largest audience, and to none of the other
  /// streams in `events`, receives that stream's events as one `StreamBatch`. All others receive single publications in
  /// order.
  private func deliver(_ events: [Publication]) {
    guard events.count > 1 else { return events.forEach(deliver) }
    let streams = Dictionary(grouping: events, by: \.event.stream)
    let largest = streams.filter { $0.value.count > 1 }.max {
      subscriberCount(.stream($0.key)) < subscriberCount(.stream($1.key))
    }
    guard let (stream, publications) = largest, let audience = audiences[.stream(stream)],
      let batch = StreamBatch(of: stream, publications)
    else { return events.forEach(deliver) }
    var others: Set<ObjectIdentifier> = []
    for other in streams.keys where other != stream {
      for subscriber in audiences[.stream(other)] ?? [] { others.insert(ObjectIdentifier(subscriber)) }
    }
    var both: [any Subscriber] = []
    for subscriber in audience {
      if others.contains(ObjectIdentifier(subscriber)) { both.append(subscriber) } else { subscriber.receive(batch) }
    }
    for publication in events {
      let subscribers = publication.event.stream == stream ? both : audiences[.stream(publication.event.stream)] ?? []
      for subscriber in subscribers { subscriber.receive(publication) }
    }
  }
}
