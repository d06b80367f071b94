// Catch-up: the events after a cursor in the subscribed topics, one page at a time. Each page is independent: the
// transaction that reads it determines the streams and the read access. The stream heads show which streams have moved;
// only those are read, merged by event id.

public import ParleyModel
public import PubSub
import Storage

/// The position from which a client catches up.
public enum StartPoint: Sendable, Hashable {
  /// The end of the log: no history.
  case head
  /// The client has applied every event up to this id. The server may have restarted since.
  case after(Int, isOfEarlierStart: Bool = false)
  /// The events after the cursor are unknown.
  case lost(ResetReason)
}

extension StartPoint {
  /// The event of a cursor that an earlier start of the server has made.
  public var eventOfEarlierStart: Int? {
    guard case .after(let event, isOfEarlierStart: true) = self else { return nil }
    return event
  }
}

enum CatchUpLimits {
  /// The maximum number of conversations of a forum that can be followed as a whole.
  static let conversations = 20_000
}

/// The maximum size of a page.
public struct PageBounds: Sendable, Hashable {
  public var events: Int
  /// Bytes of JSON. A single event may exceed this.
  public var bytes: Int

  public init(events: Int, bytes: Int = 262_144) {
    self.events = events
    self.bytes = bytes
  }
}

extension Community {
  /// Parses a client's cursor, without a query. Nil or empty is the end of the log.
  public func startPoint(_ cursor: String?) -> StartPoint {
    guard let cursor, !cursor.isEmpty else { return .head }
    guard let cursor = EventCursor(cursor), cursor.epoch == store.epoch else { return .lost(.epoch) }
    switch store.starts.state(of: cursor.start) {
    case .current: return .after(cursor.event)
    case .ended(let last) where cursor.event <= last: return .after(cursor.event, isOfEarlierStart: true)
    case .ended, .unknown: return .lost(.rewound)
    }
  }

  public func catchUp(
    _ topics: [LiveTopic], from startPoint: StartPoint, _ bounds: PageBounds, for caller: Caller,
    cache: CatchUpCache? = nil
  ) async throws(Refusal) -> CatchUp {
    try await store.readInBackground(.catchUp, for: caller.turn) { [encodedEvents] tx throws(Refusal) in
      try tx.catchUp(topics, from: startPoint, bounds, for: try tx.revalidate(caller), encodedEvents, cache: cache)
    }
  }
}

extension CommunityView {
  /// The id of the last committed event.
  public func head() throws(Refusal) -> Int { try read { tx throws(Refusal) in try tx.lastEvent() } }
}

extension ReadTransaction {
  fileprivate func catchUp(
    _ topics: [LiveTopic], from startPoint: StartPoint, _ bounds: PageBounds, for caller: Caller,
    _ encodedEvents: EncodedEventCache,
    cache: CatchUpCache?
  ) throws(Refusal) -> CatchUp {
    let last = try lastEvent()
    let after: Int
    switch startPoint {
    case .lost(let reason): return .reset(reason, head: last)
    case .head: after = last
    case .after(let event, _): after = event
    }
    guard after <= last else { return .reset(.ahead, head: last) }
    let first = try firstEvent() ?? last + 1
    guard after >= first - 1 else { return .reset(.trimmed, head: last) }
    let key = CatchUpCache.Key(
      head: last, event: after, topics: topics, user: caller.user, role: caller.role, forums: caller.forums)
    var entry: CatchUpCache.Entry
    if let known = cache?.entry(for: key) {
      entry = known
    } else {
      entry = try self.entry(to: topics, after: after, last: last, for: caller)
    }
    var page = CatchUpPage(through: last, streams: entry.expanded.streams, lost: entry.expanded.lost)
    page.awaited = entry.expanded.awaited
    if !entry.sources.isEmpty {
      let pageKey = EncodedEventCache.PageKey(
        starts: entry.sources.map {
          EncodedEventCache.Start($0.head.stream, $0.offset, entry.expanded.reader(of: $0.head.stream))
        },
        bounds: bounds)
      let found: EncodedEventCache.Page
      if let known = encodedEvents.page(pageKey, at: last) {
        found = known
        page.isShared = true
      } else {
        let streams = entry.expanded.readStreams
        guard let read = try read(entry.sources, bounds, streams, encodedEvents, at: last) else {
          return .reset(.trimmed, head: last)
        }
        if read.isShareable { encodedEvents.add(read, for: pageKey, at: last) }
        found = read
      }
      (page.content, page.hasMore, page.through) = (found.content, found.hasMore, found.through ?? last)
      entry.advance(to: found.ends)
    }
    cache?.store(entry, for: key.moved(to: page.through))
    return .page(page)
  }

  /// Reads the streams of the topics and their positions.
  private func entry(
    to topics: [LiveTopic], after: Int, last: Int, for caller: Caller
  ) throws(Refusal) -> CatchUpCache.Entry {
    var expanded = CatchUpCache.Expanded()
    try expand(topics, into: &expanded, for: caller)
    guard after < last else { return CatchUpCache.Entry(expanded: expanded, sources: []) }
    let ends = try ends(of: topics, in: &expanded, after: after, for: caller)
    let sources = try sources(of: expanded, after: after) + ends
    return CatchUpCache.Entry(
      expanded: expanded, sources: sources.sorted { $0.head.stream.number < $1.head.stream.number })
  }

  /// Reads one page. Nil if the log no longer has all events.
  private func read(
    _ sources: [CatchUpCache.Source], _ bounds: PageBounds, _ streams: [EventStream: SubscribedStream],
    _ encodedEvents: EncodedEventCache, at last: Int
  ) throws(Refusal) -> EncodedEventCache.Page? {
    guard let merged = try merge(sources, limit: bounds.events) else { return nil }
    var page = EncodedEventCache.Page(hasMore: merged.hasMore, through: merged.hasMore ? merged.events.last?.id : nil)
    page.isShareable = merged.events.allSatisfy(\.isCacheable)
    var included: [CatchUpPage.Item] = []
    var size = 0
    for item in try items(merged.events, streams, encodedEvents, at: last) {
      size += item.text.count
      if size > bounds.bytes, let end = included.last {
        (page.hasMore, page.through) = (true, end.event)
        break
      }
      included.append(item)
    }
    page.content = CatchUpPage.Content(included)
    for event in merged.events where event.id <= page.through ?? last { page.ends[event.stream] = event.offset }
    return page
  }

  /// Encodes the events as their reader may see them, in the same order. Only events that are not in the cache are
  /// read.
  private func items(
    _ events: [Event], _ streams: [EventStream: SubscribedStream], _ encodedEvents: EncodedEventCache, at head: Int
  ) throws(Refusal) -> [CatchUpPage.Item] {
    func key(_ event: Event) -> EncodedEventCache.Key? {
      streams[event.stream].map { EncodedEventCache.Key(event: event.id, reader: $0.reader) }
    }
    let known = encodedEvents.texts(at: head)
    var texts: [Int: [UInt8]] = [:]
    var unknown: [Event] = []
    for event in events {
      if let text = key(event).flatMap({ known[$0] }) { texts[event.id] = text } else { unknown.append(event) }
    }
    var new: [EncodedEventCache.Key: [UInt8]] = [:]
    for content in try unknown.isEmpty ? [] : delivered(unknown) {
      let event = content.event
      // A stream without a subscription is not readable.
      let seen = streams[event.stream].map { content.seen(by: $0.reader) } ?? DeliveredEvent(event, .hidden)
      let text = seen.jsonBytes
      texts[event.id] = text
      if event.isCacheable, content.seq != nil, let key = key(event) { new[key] = text }
    }
    if !new.isEmpty { encodedEvents.add(new, at: head) }
    return events.compactMap { event in
      texts[event.id].map {
        CatchUpPage.Item(event: event.id, stream: event.stream, offset: event.offset, text: $0)
      }
    }
  }

  // MARK: Expanding topics

  private func expand(
    _ topics: [LiveTopic], into found: inout CatchUpCache.Expanded, for caller: Caller
  ) throws(Refusal) {
    // Every user subscribes to these: they carry the changes of the user's own rights.
    if let user = caller.user {
      let isAsked = caller.forums == nil && topics.contains(.me)
      for stream in [EventStream.user(user), .site] {
        found.streams[stream] = SubscribedStream(StreamReader(caller.role), .own, isOfMe: isAsked, isQuiet: !isAsked)
      }
    }
    for topic in Set(topics).sorted(by: { $0.description < $1.description }) {
      switch topic {
      case .me:
        guard let user = caller.user, caller.forums == nil else {
          found.lost.append(topic)
          continue
        }
        try expandOwn(user, into: &found, for: caller)
      case .conversation(let id):
        if try !expand(id, into: &found, for: caller) { found.lost.append(topic) }
      case .forum(let id):
        if let standing = try standing(of: caller, in: id),
          Permissions.rights(of: caller.role, in: standing).contains(.read)
        {
          found.streams[.forum(id)] = SubscribedStream(StreamReader(caller.role), .forum(id))
        } else {
          found.lost.append(topic)
        }
      case .forumMessages(let id):
        if try !expandMessages(of: id, into: &found, for: caller) { found.lost.append(topic) }
      case .timeline:
        guard let user = caller.user, caller.forums == nil else {
          found.lost.append(topic)
          continue
        }
        try expandTimeline(of: user, into: &found, for: caller)
      case .presence, .app: if !caller.mayFollowPresence { found.lost.append(topic) }
      }
    }
  }

  /// The streams of all conversations of a forum. Its own stream reports new topics.
  private func expandMessages(
    of forum: ID<Forum>, into found: inout CatchUpCache.Expanded, for caller: Caller
  ) throws(Refusal) -> Bool {
    guard let standing = try standing(of: caller, in: forum),
      Permissions.rights(of: caller.role, in: standing).contains(.read)
    else { return false }
    let conversations = try conversations(of: forum, limit: CatchUpLimits.conversations + 1)
    guard conversations.ids.count <= CatchUpLimits.conversations else { return false }
    let own = EventStream.forum(forum)
    if found.streams[own] == nil {
      found.streams[own] = SubscribedStream(StreamReader(caller.role), .forum(forum), isQuiet: true)
    }
    found.streams.reserveCapacity(found.streams.count + conversations.ids.count)
    for id in conversations.ids {
      let stream = EventStream.conversation(id)
      guard found.streams[stream] == nil else { continue }
      let fromSeq = conversations.haveStart ? try fromSeq(in: stream, for: caller) : 1
      found.streams[stream] = SubscribedStream(StreamReader(caller.role, fromSeq: fromSeq), .forum(forum))
    }
    return true
  }

  /// The streams of the user's own feed, and of the readable feeds of followed users.
  private func expandTimeline(
    of user: ID<User>, into found: inout CatchUpCache.Expanded, for caller: Caller
  ) throws(Refusal) {
    if let own = try feed(of: user) {
      let stream = EventStream.conversation(own)
      found.streams[stream, default: SubscribedStream(StreamReader(caller.role), .own)].isOfTimeline = true
    } else {
      found.awaited.insert(.user(user))
    }
    for feed in try timelineFeeds(of: user) {
      guard let id = feed.conversation else {
        found.awaited.insert(.user(feed.owner))
        continue
      }
      let standing = Standing(
        kind: .feed, readers: feed.readers, usersFromSeq: feed.fromSeq.users, anyoneFromSeq: feed.fromSeq.anyone)
      let stream = EventStream.conversation(id)
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else {
        found.awaited.insert(stream)
        continue
      }
      let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
      let reader = StreamReader(caller.role, fromSeq: fromSeq, isOfAudience: true)
      found.streams[stream, default: SubscribedStream(reader, .open)].isOfTimeline = true
    }
  }

  private func expandOwn(
    _ user: ID<User>, into found: inout CatchUpCache.Expanded, for caller: Caller
  ) throws(Refusal) {
    let conversations = try followedConversations(of: user)
    found.streams.reserveCapacity(found.streams.count + conversations.count)
    for conversation in conversations {
      let stream = EventStream.conversation(conversation.id)
      if conversation.fromOffset > 1 { found.fromOffsets[stream] = conversation.fromOffset }
      guard let forum = conversation.forum else {
        let reader = StreamReader(caller.role, fromSeq: conversation.fromSeq)
        found.streams[stream] = SubscribedStream(reader, .own, isOfMe: true)
        continue
      }
      guard Permissions.rights(of: caller.role, in: forum.standing).contains(.read) else { continue }
      let fromSeq = forum.hasStart ? try fromSeq(in: stream, for: caller) : 1
      found.streams[stream] = SubscribedStream(
        StreamReader(caller.role, fromSeq: fromSeq), .forum(forum.id), isOfMe: true)
    }
  }

  private func expand(
    _ id: ID<Conversation>, into found: inout CatchUpCache.Expanded, for caller: Caller
  ) throws(Refusal) -> Bool {
    let stream = EventStream.conversation(id)
    guard found.streams[stream] == nil else { return true }
    guard let standing = try standing(of: caller, in: id),
      Permissions.rights(of: caller.role, in: standing).contains(.read)
    else { return false }
    var readAccess = standing.participant == nil && !standing.isOwner ? SubscribedStream.ReadAccess.open : .own
    if standing.forum != nil, let forum = try forum(ofConversation: id) { readAccess = .forum(forum) }
    let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
    let reader = StreamReader(caller.role, fromSeq: fromSeq, isOfAudience: readAccess == .open)
    found.streams[stream] = SubscribedStream(reader, readAccess)
    if let user = caller.user, standing.participant != nil {
      found.fromOffsets[stream] = try fromOffset(of: user, in: id)
    }
    return true
  }

  // MARK: Reading the streams

  /// Events read from one stream and not yet merged.
  private struct StreamBuffer {
    let head: StreamHead
    var offset: Int
    var events: ArraySlice<Event> = []

    init(_ source: CatchUpCache.Source) { (head, offset) = (source.head, source.offset) }

    var nextID: Int { events.first?.id ?? .max }
  }

  /// The streams with new events, and the offsets to read from.
  private func sources(
    of expanded: CatchUpCache.Expanded, after: Int
  ) throws(Refusal) -> [CatchUpCache.Source] {
    let delivered = expanded.streams.lazy.filter { !$0.value.isQuiet }.map(\.key)
    var sources: [CatchUpCache.Source] = []
    for head in try heads(of: delivered, movedSince: after) {
      let offset = max(try offset(in: head.stream, at: after), (expanded.fromOffsets[head.stream] ?? 1) - 1)
      if offset < head.offset { sources.append(CatchUpCache.Source(head: head, offset: offset)) }
    }
    return sources
  }

  /// The streams that left a topic after an event, up to the event that tells clients to drop their copy: the removal of a
  /// topic, and the change of a feed that its followers may no longer read. Other events of them are hidden.
  private func ends(
    of topics: [LiveTopic], in expanded: inout CatchUpCache.Expanded, after: Int, for caller: Caller
  ) throws(Refusal) -> [CatchUpCache.Source] {
    var left: [(stream: EventStream, kind: Event.Kind)] = []
    for case .forumMessages(let forum) in Set(topics) where expanded.streams[.forum(forum)] != nil {
      let offset = try offset(in: .forum(forum), at: after)
      try each(in: .forum(forum), after: offset) { event in
        if event.kind == .conversationRemoved { left.append((.conversation(ID(event.subject)), .conversationRemoved)) }
        return true
      }
    }
    for case .conversation(let id) in expanded.awaited { left.append((.conversation(id), .conversationUpdated)) }
    guard !left.isEmpty else { return [] }
    let heads = Dictionary(
      try heads(of: left.map(\.stream), movedSince: after).map { ($0.stream, $0) }, uniquingKeysWith: { one, _ in one })
    let reader = StreamReader(caller.role, fromSeq: .max, isOfAudience: true)
    var sources: [CatchUpCache.Source] = []
    for (stream, kind) in left where heads[stream] != nil && expanded.streams[stream] == nil {
      let offset = try offset(in: stream, at: after)
      try each(in: stream, after: offset) { event in
        guard event.kind == kind else { return true }
        let head = StreamHead(stream: stream, offset: event.offset, event: event.id)
        sources.append(CatchUpCache.Source(head: head, offset: offset))
        return false
      }
      expanded.ended[stream] = SubscribedStream(reader, .open)
    }
    return sources
  }

  /// Calls `body` with the events of a stream until it returns false.
  private func each(
    in stream: EventStream, after offset: Int, _ body: (Event) -> Bool
  ) throws(Refusal) {
    var offset = offset
    while true {
      let page = try events(in: stream, after: offset, limit: EventLimits.page)
      for event in page { guard body(event) else { return } }
      guard page.count == EventLimits.page, let last = page.last else { return }
      offset = last.offset
    }
  }

  /// The next events of all streams, ordered by id. Nil if the log no longer has all of them.
  private func merge(_ all: [CatchUpCache.Source], limit: Int) throws(Refusal) -> (events: [Event], hasMore: Bool)? {
    var sources = all.map { StreamBuffer($0) }
    // With many streams, read few events of each: events that do not fit into the page are read in vain.
    let batchSize = min(limit, max(4, 2 * limit / max(sources.count, 1)))
    var merged: [Event] = []
    while !sources.isEmpty, merged.count < limit {
      for index in sources.indices where sources[index].events.isEmpty {
        let found = try events(in: sources[index].head.stream, after: sources[index].offset, limit: batchSize)
        guard let first = found.first, first.offset == sources[index].offset + 1 else { return nil }
        // A stream that became unreadable has later events.
        sources[index].events = found.prefix { [end = sources[index].head.offset] in $0.offset <= end }
        guard let last = sources[index].events.last else { return nil }
        sources[index].offset = last.offset
      }
      guard let next = sources.indices.min(by: { sources[$0].nextID < sources[$1].nextID }),
        let event = sources[next].events.popFirst()
      else { break }
      merged.append(event)
      if sources[next].events.isEmpty, sources[next].offset >= sources[next].head.offset { sources.remove(at: next) }
    }
    return (merged, !sources.isEmpty)
  }
}

extension Event {
  /// Whether to cache the encoded event. Only one user reads a user stream; nearly all other events concern messages.
  fileprivate var isCacheable: Bool {
    guard case .conversation = stream else { return false }
    return concernsMessage
  }
}
