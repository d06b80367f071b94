// The subscriptions of one client and their positions, as a state machine without I/O: each input returns the actions
// to perform.
//
// A client is *live* while events are sent as they are published, or it *catches up*: then a page of the log is being
// read, and publications are buffered meanwhile. Reading always comes first. The client subscribes to the streams, then
// reads a page. If the page cannot have missed an event, the buffered publications are sent without those in the page,
// and the client is live. So the result does not depend on timing.
//
// Every change of read access (a conversation joined or left, a forum made private, a role) makes the client catch up
// from its position: each page is read with the rights of its own transaction and lists the current streams.
//
// One read runs at a time. A topic subscribed later is read by itself, from its own cursor, while the others wait.
// `position` is the position of all streams; `through` is the position of one stream, which may be ahead.
//
// An event carries its cursor if a client that stores nothing else can resume from it: every earlier event was sent and
// no later one. So none carries a cursor while a stream lags, or until the topics have passed the end of the topic that
// was read by itself.

public import ParleyModel

public struct SubscriptionState: Sendable {
  public enum Action: Sendable, Hashable {
    /// Reads a page of these topics after the event `after`.
    case read([LiveTopic], after: Int)
    case subscribe(Signal.Audience)
    case unsubscribe(Signal.Audience)
    /// Sends the publications from `nextBuffered` until it returns nil.
    case sendBuffered
    case answer(ticket: Int, Outcome)
    /// A subscribed topic is no longer readable by the client.
    case lost(LiveTopic)
    /// The log cannot replay the missed events.
    case reset(ResetReason, head: Int)
  }

  /// The result of a subscription.
  public struct Outcome: Sendable, Hashable {
    /// Every event up to this id was sent.
    public var through: Int
    public var reset: ResetReason?
    public var lost: [LiveTopic]
    /// Whether none of the topics is readable.
    public var isRefused: Bool
  }

  private struct StreamState {
    var stream: SubscribedStream
    /// Every event of the stream up to this id was sent.
    var through: Int
  }

  private struct Read {
    /// Nil for a catch-up of all topics.
    var ticket: Int?
    var topics: [LiveTopic]
    var after: Int
    var reset: ResetReason?
    var lost: [LiveTopic] = []
    /// A topic was unsubscribed while the page was being read.
    var hasDropped = false
  }

  private let user: ID<User>?
  public private(set) var topics: [LiveTopic] = []
  private var streams: [EventStream: StreamState] = [:]
  /// Every event up to this id was sent, in all streams.
  public private(set) var position = 0
  /// The users and conversations whose changes may add a feed to the timeline.
  private var awaited: Set<EventStream> = []
  /// The streams with events that the client had no room for, and the position before the first of them.
  private var lagging: [EventStream: Int] = [:]
  /// The end of the topics that were read by themselves: later events may still be missing in the others.
  private var ahead = 0
  private var activeRead: Read?
  private var queuedReads: [Read] = []
  private var pendingAnswers: [(ticket: Int, outcome: Outcome)] = []
  /// Publications received while a page is being read.
  private var buffered: [Publication] = []
  /// The page being read may lack events. Read another page before going live.
  private var isStale = false
  /// All topics need a catch-up after the current single-topic read.
  private var needsFullRead = false
  /// The output queue is full or the store is unavailable. Reading continues after `resume`.
  public private(set) var isBlocked = false

  /// Beyond this limit the buffered publications are dropped and read from the log.
  static let maxBuffered = 256
  /// The limit of topics per client, and of queued reads.
  public static let maxTopics = 1_000

  public init(user: ID<User>?) { self.user = user }

  public var isLive: Bool { activeRead == nil }

  /// The position from which the client can resume all topics.
  public var resumePosition: Int { min(position, lagging.values.min() ?? .max) }

  /// Whether the event carries its cursor.
  public func carriesCursor(_ event: Int) -> Bool {
    guard lagging.isEmpty, queuedReads.isEmpty else { return false }
    guard let activeRead, activeRead.ticket != nil else { return event > ahead }
    return topics.isEmpty
  }

  public var streamCount: Int { streams.count }

  // MARK: Subscribing

  /// Whether the limits allow these topics, read with `reads` queued reads.
  public func canSubscribe(_ more: Set<LiveTopic>, from reads: Int) -> Bool {
    queuedReads.count + reads <= Self.maxTopics && requestedTopics.union(more).count <= Self.maxTopics
  }

  /// Subscribed topics and topics of pending reads.
  private var requestedTopics: Set<LiveTopic> {
    var requestedTopics = Set(topics)
    if let activeRead { requestedTopics.formUnion(activeRead.topics) }
    for read in queuedReads { requestedTopics.formUnion(read.topics) }
    return requestedTopics
  }

  /// `after` is the client's position in these topics. `reset` is the reason if that differs from its cursor.
  public mutating func subscribe(
    _ topics: [LiveTopic], after: Int, reset: ResetReason? = nil, ticket: Int
  ) -> [Action] {
    queuedReads.append(Read(ticket: ticket, topics: topics, after: after, reset: reset))
    return begin()
  }

  public mutating func unsubscribe(_ dropped: [LiveTopic]) -> [Action] {
    topics.removeAll { dropped.contains($0) }
    for index in queuedReads.indices { queuedReads[index].topics.removeAll { dropped.contains($0) } }
    activeRead?.topics.removeAll { dropped.contains($0) }
    activeRead?.hasDropped = true
    var actions: [Action] = []
    for topic in dropped {
      if let audience = topic.signals { actions.append(.unsubscribe(audience)) }
    }
    let requestedTopics = self.requestedTopics
    for (stream, followed) in streams {
      if let rest = followed.stream.part(of: stream, in: requestedTopics) {
        streams[stream]?.stream = rest
        if rest.isQuiet { lagging[stream] = nil }
      } else {
        remove(stream)
        actions.append(.unsubscribe(.stream(stream)))
      }
    }
    return actions
  }

  private mutating func remove(_ stream: EventStream) {
    streams[stream] = nil
    lagging[stream] = nil
  }

  // MARK: Catch-up

  private mutating func begin() -> [Action] {
    guard activeRead == nil else { return [] }
    if !queuedReads.isEmpty {
      activeRead = queuedReads.removeFirst()
    } else if needsFullRead {
      needsFullRead = false
      activeRead = Read(topics: topics, after: position)
    } else {
      defer { pendingAnswers = [] }
      return [.sendBuffered] + pendingAnswers.map { .answer(ticket: $0.ticket, $0.outcome) }
    }
    return read()
  }

  private mutating func read() -> [Action] {
    guard let activeRead else { return [] }
    isStale = false
    isBlocked = false
    return [.read(activeRead.topics, after: activeRead.after)]
  }

  /// The items of a page to send to the client.
  public func newItems(_ page: CatchUpPage) -> [CatchUpPage.Item] {
    guard let activeRead else { return [] }
    let requestedTopics = activeRead.hasDropped ? self.requestedTopics : nil
    // A renewed subscription is sent from its cursor again.
    guard activeRead.ticket == nil || requestedTopics != nil else { return page.items }
    return page.items.filter { item in
      // A stream of the page without a subscription has ended.
      if let requestedTopics, let read = page.streams[item.stream],
        read.part(of: item.stream, in: requestedTopics)?.isQuiet != false
      {
        return false
      }
      guard activeRead.ticket == nil, let followed = streams[item.stream] else { return true }
      return item.event > followed.through && lagging[item.stream] == nil
    }
  }

  /// The page was sent, in full or up to the capacity of the output queue.
  public mutating func didSend(_ page: CatchUpPage, through: Int, isWhole: Bool) -> [Action] {
    guard var current = activeRead else { return [] }
    var actions = adopt(page, through: through, of: current)
    current.topics = activeRead?.topics ?? []
    current.after = max(current.after, through)
    current.lost = page.lost
    if current.ticket == nil {
      position = max(position, through)
      buffered.removeAll { $0.event.id <= position }
    } else if !topics.isEmpty {
      ahead = max(ahead, current.after)
    }
    activeRead = current
    guard isWhole else {
      isBlocked = true
      return actions
    }
    if page.hasMore || isStale { return actions + read() }
    actions += finish(current)
    return actions + begin()
  }

  /// Updates the set of streams from the page.
  private mutating func adopt(_ page: CatchUpPage, through: Int, of activeRead: Read) -> [Action] {
    var actions: [Action] = []
    let requestedTopics = activeRead.hasDropped ? self.requestedTopics : nil
    streams.reserveCapacity(page.streams.count)
    for (stream, read) in page.streams {
      guard let found = requestedTopics.map({ read.part(of: stream, in: $0) }) ?? read else { continue }
      guard var followed = streams[stream] else {
        // The stream was not subscribed until now. Events published since the page was read are in the next page.
        isStale = true
        streams[stream] = StreamState(stream: found, through: through)
        actions.append(.subscribe(.stream(stream)))
        continue
      }
      let before = followed.stream
      followed.stream = found
      if activeRead.ticket != nil {
        followed.stream.isOfMe = found.isOfMe || before.isOfMe
        followed.stream.isOfTimeline = found.isOfTimeline || before.isOfTimeline
        followed.stream.isQuiet = found.isQuiet && before.isQuiet
        lagging[stream] = nil
      }
      followed.through = max(followed.through, through)
      streams[stream] = followed
    }
    if activeRead.ticket == nil || activeRead.topics.contains(.timeline) { awaited = page.awaited }
    if activeRead.ticket == nil {
      for stream in streams.keys where page.streams[stream] == nil {
        remove(stream)
        actions.append(.unsubscribe(.stream(stream)))
      }
      for topic in page.lost where topics.contains(topic) {
        topics.removeAll { $0 == topic }
        self.activeRead?.topics.removeAll { $0 == topic }
        if let audience = topic.signals { actions.append(.unsubscribe(audience)) }
        actions.append(.lost(topic))
      }
    }
    return actions
  }

  private mutating func finish(_ done: Read) -> [Action] {
    activeRead = nil
    guard let ticket = done.ticket else { return [] }
    let found = done.topics.filter { !done.lost.contains($0) }
    let outcome = Outcome(
      through: done.after, reset: done.reset, lost: done.lost, isRefused: found.isEmpty && !done.topics.isEmpty)
    pendingAnswers.append((ticket, outcome))
    // The first subscription: no other topic can be behind.
    if topics.isEmpty { position = max(position, done.after) }
    var actions: [Action] = []
    for topic in found where !topics.contains(topic) {
      topics.append(topic)
      if let audience = topic.signals { actions.append(.subscribe(audience)) }
    }
    return actions
  }

  /// The log cannot be replayed from the requested position.
  public mutating func didReset(_ reason: ResetReason, head: Int) -> [Action] {
    guard activeRead != nil else { return [] }
    activeRead?.after = head
    guard activeRead?.ticket == nil else {
      activeRead?.reset = reason
      return read()
    }
    position = head
    for stream in streams.keys { streams[stream]?.through = head }
    return [.reset(reason, head: head)] + read()
  }

  /// The output queue has room again, or the store is available again.
  public mutating func resume() -> [Action] { isBlocked ? read() : [] }

  /// The page could not be read now.
  public mutating func readFailed() { isBlocked = activeRead != nil }

  // MARK: Published events and signals

  /// Returns the frame to send now, or nil if the publication is buffered, a duplicate or not for this client.
  public mutating func receive(_ publication: Publication) -> Frame? {
    let event = publication.event
    guard let followed = streams[event.stream] else { return nil }
    if activeRead != nil {
      buffer(publication)
      return nil
    }
    guard event.id > position, event.id > followed.through else { return nil }
    position = event.id
    guard !followed.stream.isQuiet, lagging[event.stream] == nil else { return nil }
    return publication.frame(for: followed.stream.reader, withCursor: carriesCursor(event.id))
  }

  /// Receives a batch if the client is live and may see every event unreduced, with its cursor. Otherwise returns false,
  /// and the caller passes the publications one by one.
  public mutating func receive(_ batch: StreamBatch) -> Bool {
    guard activeRead == nil, let followed = streams[batch.stream], !followed.stream.isQuiet,
      batch.first.id > position, batch.first.id > followed.through, carriesCursor(batch.first.id),
      batch.isOpen(to: followed.stream.reader)
    else { return false }
    position = batch.last.id
    return true
  }

  /// Whether a signal of a subscribed audience is sent to this client.
  public func accepts(_ signal: Signal) -> Bool {
    guard signal.sender == nil || signal.sender != user else { return false }
    switch signal.audience {
    case .stream(let stream):
      // Signals are dropped while read access is being reloaded. They are lossy and never buffered.
      guard !needsFullRead, activeRead.map({ $0.ticket != nil }) ?? true else { return false }
      return streams[stream].map { !$0.stream.isQuiet } ?? false
    case .presence, .app: return true
    }
  }

  private mutating func buffer(_ publication: Publication) {
    if buffered.count == Self.maxBuffered {
      buffered = []
      isStale = true
      if activeRead?.ticket != nil { needsFullRead = true }
      return
    }
    buffered.append(publication)
  }

  /// Returns the next buffered publication while the client is live.
  public mutating func nextBuffered() -> Publication? {
    guard activeRead == nil, !buffered.isEmpty else { return nil }
    return buffered.removeFirst()
  }

  /// The output queue was full. No events of this stream are sent from this event on, until the client subscribes again.
  public mutating func markLagging(_ stream: EventStream, from event: Int) {
    if streams[stream] != nil, lagging[stream] == nil { lagging[stream] = event - 1 }
  }

  /// The read access of some clients has changed. Catches up if this client may be one of them.
  public mutating func accessChanged(_ change: AccessChange) -> [Action] {
    guard affects(change) else { return [] }
    return catchUpAll()
  }

  /// Publications were dropped before they reached this client.
  public mutating func eventsLost() -> [Action] { topics.isEmpty && activeRead == nil ? [] : catchUpAll() }

  private mutating func catchUpAll() -> [Action] {
    if activeRead == nil {
      needsFullRead = true
      return begin()
    }
    isStale = true
    if activeRead?.ticket != nil { needsFullRead = true }
    return []
  }

  private func affects(_ change: AccessChange) -> Bool {
    switch change {
    case .user(let id): return id == user || isAwaited(.user(id))
    case .conversation(let id):
      return streams[.conversation(id)]?.stream.readAccess == .open || isAwaited(.conversation(id))
    case .forum(let id):
      return streams[.forum(id)] != nil || streams.values.contains { $0.stream.readAccess == .forum(id) }
    case .topics(let forum): return requestedTopics.contains(.forumMessages(forum))
    case .timeline(let id): return id == user && requestedTopics.contains(.timeline)
    }
  }

  private func isAwaited(_ stream: EventStream) -> Bool {
    awaited.contains(stream) && requestedTopics.contains(.timeline)
  }
}

extension SubscribedStream {
  /// The part of this stream that these topics need, or nil if none. The caller's own stream and the site stream stay
  /// subscribed for access changes.
  fileprivate func part(of stream: EventStream, in topics: Set<LiveTopic>) -> SubscribedStream? {
    if isOfMe, topics.contains(.me) { return self }
    var rest = self
    rest.isOfMe = false
    rest.isOfTimeline = isOfTimeline && topics.contains(.timeline)
    switch stream {
    case .conversation(let id):
      if topics.contains(.conversation(id)) || rest.isOfTimeline { return rest }
      guard case .forum(let forum) = readAccess, topics.contains(.forumMessages(forum)) else { return nil }
      return rest
    case .forum(let id):
      if topics.contains(.forum(id)) { return rest }
      rest.isQuiet = true
      return topics.contains(.forumMessages(id)) ? rest : nil
    case .user, .site:
      rest.isQuiet = true
      return rest
    }
  }
}

extension LiveTopic {
  /// The audience of a topic that is not in the log.
  fileprivate var signals: Signal.Audience? {
    switch self {
    case .me, .conversation, .forum, .forumMessages, .timeline: nil
    case .presence: .presence
    case .app(let name): .app(name)
    }
  }
}
