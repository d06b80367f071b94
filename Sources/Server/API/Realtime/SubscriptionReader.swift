// The subscriptions of one client and the reads of the log that they need. One read runs at a time; `LoopBroadcasts`
// starts it.

import Community
import ParleyModel
import PubSub

struct SubscriptionReader {
  /// Selects the events to send.
  var state: SubscriptionState
  private var requests = SubscriptionRequests()
  private var pending: (topics: [LiveTopic], after: Int)?
  /// Incremented by authentication. Drops pages requested before it.
  private var generation = 0
  /// The cache of the running catch-up.
  private var cache: CatchUpCache?
  private var mustRetry = false

  /// Topics that start from the same cursor and share one catch-up.
  struct Group {
    let startPoint: StartPoint
    var topics: [LiveTopic]
  }

  /// The read of a catch-up page.
  struct Read {
    let topics: [LiveTopic]
    let after: Int
    let cache: CatchUpCache
    fileprivate let generation: Int
  }

  init(_ user: ID<User>?) { state = SubscriptionState(user: user) }

  /// Drops all subscriptions. Returns the slots of commands that wait for one.
  mutating func restart(for user: ID<User>?) -> [Int] {
    state = SubscriptionState(user: user)
    generation += 1
    pending = nil
    return requests.cancelAll()
  }

  // MARK: Subscriptions

  static func groups(_ topics: [(topic: LiveTopic, cursor: String?)], in community: Community) -> [Group] {
    var groups: [Group] = []
    for (topic, cursor) in topics {
      let startPoint = community.startPoint(cursor)
      if let group = groups.firstIndex(where: { $0.startPoint == startPoint }) {
        if !groups[group].topics.contains(topic) { groups[group].topics.append(topic) }
      } else {
        groups.append(Group(startPoint: startPoint, topics: [topic]))
      }
    }
    return groups.isEmpty ? [Group(startPoint: .head, topics: [])] : groups
  }

  /// Subscribes to the topics of the groups. `head` is the end of the log.
  mutating func subscribe(
    _ groups: [Group], head: Int, for origin: SubscriptionRequests.Origin
  ) -> [SubscriptionState.Action] {
    let tickets = requests.open(origin, cursors: groups.count)
    return zip(tickets, groups).flatMap { ticket, group in
      switch group.startPoint {
      case .head: state.subscribe(group.topics, after: head, ticket: ticket)
      case .lost(let reason): state.subscribe(group.topics, after: head, reset: reason, ticket: ticket)
      case .after(let event, _): state.subscribe(group.topics, after: event, ticket: ticket)
      }
    }
  }

  /// Records the outcome of a ticket. Returns all outcomes of its request after the last one.
  mutating func finish(
    _ ticket: Int, _ outcome: SubscriptionState.Outcome
  ) -> (origin: SubscriptionRequests.Origin, outcomes: [SubscriptionState.Outcome])? {
    requests.finish(ticket, outcome)
  }

  // MARK: Reads

  mutating func enqueueRead(_ topics: [LiveTopic], after event: Int) { pending = (topics, event) }

  mutating func startRead() -> Read? {
    guard let (topics, event) = pending else { return nil }
    pending = nil
    let cache = self.cache ?? CatchUpCache()
    self.cache = cache
    return Read(topics: topics, after: event, cache: cache, generation: generation)
  }

  func isCurrent(_ read: Read) -> Bool { read.generation == generation }

  mutating func didRead() {
    if state.isLive { cache = nil }
  }

  /// The page could not be read now. `retry` reads it later.
  mutating func readFailed() {
    state.readFailed()
    mustRetry = true
  }

  mutating func retry() -> [SubscriptionState.Action] {
    guard mustRetry else { return [] }
    mustRetry = false
    return state.resume()
  }
}
