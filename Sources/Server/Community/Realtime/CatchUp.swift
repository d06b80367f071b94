// What happened since a cursor in the topics that somebody follows, a page at a time. Every page stands for itself: which
// streams there are, and what may be read of them, is asked in the transaction that reads it. The heads of the streams say
// which of them moved, and only those are read, merged by the ids of their events.

public import ParleyModel
public import PubSub
import Storage

/// Where a client says that it is.
public enum Place: Sendable, Hashable {
  /// Nowhere yet: it begins with what comes now.
  case head
  /// It has applied everything up to this event.
  case after(Int)
  /// It has been somewhere that is not known here.
  case elsewhere
}

/// How much a page holds at most.
public struct PageBounds: Sendable, Hashable {
  public var events: Int
  /// Of JSON; a single event may be longer.
  public var bytes: Int

  public init(events: Int, bytes: Int = 262_144) {
    self.events = events
    self.bytes = bytes
  }
}

extension Community {
  /// A cursor as clients have it; nil, or nothing in it, is where things are now.
  public func place(_ cursor: String?) -> Place {
    guard let cursor, !cursor.isEmpty else { return .head }
    let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == store.epoch, let event = Int(parts[1]), event >= 0, String(event) == parts[1]
    else { return .elsewhere }
    return .after(event)
  }

  public func catchUp(
    _ topics: [LiveTopic], from place: Place, _ bounds: PageBounds, for caller: Caller, along trail: CatchUpTrail? = nil
  ) async throws(Refusal) -> CatchUp {
    try await store.readInBackground { [told] tx throws(Refusal) in
      try tx.catchUp(topics, from: place, bounds, for: try tx.admitted(caller), told, along: trail)
    }
  }
}

extension CommunityView {
  /// The last event that was committed.
  public func head() throws(Refusal) -> Int { try read { tx throws(Refusal) in try tx.lastEvent() } }
}

extension ReadTransaction {
  fileprivate func catchUp(
    _ topics: [LiveTopic], from place: Place, _ bounds: PageBounds, for caller: Caller, _ told: ToldEvents,
    along trail: CatchUpTrail?
  ) throws(Refusal) -> CatchUp {
    let last = try lastEvent()
    let after: Int
    switch place {
    case .elsewhere: return .reset(.epoch, head: last)
    case .head: after = last
    case .after(let event): after = event
    }
    guard after <= last else { return .reset(.ahead, head: last) }
    let first = try firstEvent() ?? last + 1
    guard after >= first - 1 else { return .reset(.trimmed, head: last) }
    let stand = CatchUpTrail.Stand(head: last, event: after, topics: topics, account: caller.account, role: caller.role)
    var way: CatchUpTrail.Way
    if let known = trail?.way(from: stand) {
      way = known
    } else {
      way = try self.way(to: topics, after: after, last: last, for: caller)
    }
    var page = CatchUpPage(through: last, streams: way.expanded.streams, lost: way.expanded.lost)
    if !way.sources.isEmpty {
      let missed = ToldEvents.Missed(
        starts: way.sources.map {
          ToldEvents.Start($0.head.stream, $0.offset, way.expanded.streams[$0.head.stream]?.reader)
        },
        bounds: bounds)
      let found: ToldEvents.Page
      if let known = told.page(missed, at: last) {
        found = known
        page.isShared = true
      } else {
        guard let read = try read(way.sources, bounds, way.expanded.streams, told, at: last) else {
          return .reset(.trimmed, head: last)
        }
        if read.isForMany { told.add(read, for: missed, at: last) }
        found = read
      }
      (page.content, page.hasMore, page.through) = (found.content, found.hasMore, found.through ?? last)
      way.pass(found.ends)
    }
    trail?.keep(way, at: stand.moved(to: page.through))
    return .page(page)
  }

  /// Which streams there are, and how far each was read.
  private func way(
    to topics: [LiveTopic], after: Int, last: Int, for caller: Caller
  ) throws(Refusal) -> CatchUpTrail.Way {
    var expanded = CatchUpTrail.Expanded()
    try expand(topics, into: &expanded, for: caller)
    return CatchUpTrail.Way(
      expanded: expanded, sources: after < last ? try sources(of: expanded, after: after) : [])
  }

  /// Nil where the log lacks some.
  private func read(
    _ sources: [CatchUpTrail.Source], _ bounds: PageBounds, _ streams: [EventStream: FollowedStream],
    _ told: ToldEvents, at last: Int
  ) throws(Refusal) -> ToldEvents.Page? {
    guard let merged = try merge(sources, limit: bounds.events) else { return nil }
    var page = ToldEvents.Page(hasMore: merged.hasMore, through: merged.hasMore ? merged.events.last?.id : nil)
    page.isForMany = merged.events.allSatisfy(\.isToldAlike)
    var taken: [CatchUpPage.Item] = []
    var size = 0
    for item in try items(merged.events, streams, told, at: last) {
      size += item.text.count
      if size > bounds.bytes, let end = taken.last {
        (page.hasMore, page.through) = (true, end.event)
        break
      }
      taken.append(item)
    }
    page.content = CatchUpPage.Content(taken)
    for event in merged.events where event.id <= page.through ?? last { page.ends[event.stream] = event.offset }
    return page
  }

  /// With what they are about, in the order in which they are, as the one who follows may see them. Only what nobody was
  /// told lately is read.
  private func items(
    _ events: [Event], _ streams: [EventStream: FollowedStream], _ told: ToldEvents, at head: Int
  ) throws(Refusal) -> [CatchUpPage.Item] {
    func key(_ event: Event) -> ToldEvents.Key? {
      streams[event.stream].map { ToldEvents.Key(event: event.id, reader: $0.reader) }
    }
    let known = told.texts(at: head)
    var texts: [Int: [UInt8]] = [:]
    var unknown: [Event] = []
    for event in events {
      if let text = key(event).flatMap({ known[$0] }) { texts[event.id] = text } else { unknown.append(event) }
    }
    var new: [ToldEvents.Key: [UInt8]] = [:]
    for content in try unknown.isEmpty ? [] : delivered(unknown) {
      let event = content.event
      // Whatever is not followed would be nobody's to see.
      let seen = streams[event.stream].map { content.seen(by: $0.reader) } ?? DeliveredEvent(event, .hidden)
      let text = seen.jsonBytes
      texts[event.id] = text
      if event.isToldAlike, content.seq != nil, let key = key(event) { new[key] = text }
    }
    if !new.isEmpty { told.add(new, at: head) }
    return events.compactMap { event in
      texts[event.id].map {
        CatchUpPage.Item(event: event.id, stream: event.stream, offset: event.offset, text: $0)
      }
    }
  }

  // MARK: Which streams there are

  private func expand(
    _ topics: [LiveTopic], into found: inout CatchUpTrail.Expanded, for caller: Caller
  ) throws(Refusal) {
    // Watched by everyone who is somebody: they tell of one's own rights.
    if let account = caller.account {
      let isAsked = topics.contains(.me)
      for stream in [EventStream.user(account), .site] {
        found.streams[stream] = FollowedStream(StreamReader(caller.role), .own, isOfMe: isAsked, isQuiet: !isAsked)
      }
    }
    for topic in Set(topics).sorted(by: { $0.description < $1.description }) {
      switch topic {
      case .me:
        guard let account = caller.account else {
          found.lost.append(topic)
          continue
        }
        try expandOwn(account, into: &found, for: caller)
      case .conversation(let id):
        if try !expand(id, into: &found, for: caller) { found.lost.append(topic) }
      case .forum(let id):
        if let standing = try standing(of: caller.account, in: id),
          Permissions.rights(of: caller.role, in: standing).contains(.read)
        {
          found.streams[.forum(id)] = FollowedStream(StreamReader(caller.role), .forum(id))
        } else {
          found.lost.append(topic)
        }
      // A guest knows those they were invited to, and not who else is here.
      case .presence, .app: if caller.role == nil || caller.role == .guest { found.lost.append(topic) }
      }
    }
  }

  private func expandOwn(
    _ account: ID<Account>, into found: inout CatchUpTrail.Expanded, for caller: Caller
  ) throws(Refusal) {
    let conversations = try followedConversations(of: account)
    found.streams.reserveCapacity(found.streams.count + conversations.count)
    for conversation in conversations {
      let stream = EventStream.conversation(conversation.id)
      if conversation.fromOffset > 1 { found.fromOffsets[stream] = conversation.fromOffset }
      guard let forum = conversation.forum else {
        let reader = StreamReader(caller.role, fromSeq: conversation.fromSeq)
        found.streams[stream] = FollowedStream(reader, .own, isOfMe: true)
        continue
      }
      guard Permissions.rights(of: caller.role, in: forum.standing).contains(.read) else { continue }
      let fromSeq = forum.hasStart ? try fromSeq(in: stream, for: caller) : 1
      found.streams[stream] = FollowedStream(
        StreamReader(caller.role, fromSeq: fromSeq), .forum(forum.id), isOfMe: true)
    }
  }

  private func expand(
    _ id: ID<Conversation>, into found: inout CatchUpTrail.Expanded, for caller: Caller
  ) throws(Refusal) -> Bool {
    let stream = EventStream.conversation(id)
    guard found.streams[stream] == nil else { return true }
    guard let standing = try standing(of: caller.account, in: id),
      Permissions.rights(of: caller.role, in: standing).contains(.read)
    else { return false }
    var ground = standing.participant == nil && !standing.isOwner ? FollowedStream.Ground.open : .own
    if standing.forum != nil, let forum = try forum(ofConversation: id) { ground = .forum(forum) }
    let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
    found.streams[stream] = FollowedStream(StreamReader(caller.role, fromSeq: fromSeq), ground)
    if let account = caller.account, standing.participant != nil {
      found.fromOffsets[stream] = try fromOffset(of: account, in: id)
    }
    return true
  }

  // MARK: Reading them

  /// Events of one stream that were read and not yet taken.
  private struct Stretch {
    let head: StreamHead
    var offset: Int
    var events: ArraySlice<Event> = []

    init(_ source: CatchUpTrail.Source) { (head, offset) = (source.head, source.offset) }

    var nextID: Int { events.first?.id ?? .max }
  }

  /// The streams of which something is to be told, and from where.
  private func sources(
    of expanded: CatchUpTrail.Expanded, after: Int
  ) throws(Refusal) -> [CatchUpTrail.Source] {
    let told = expanded.streams.lazy.filter { !$0.value.isQuiet }.map(\.key)
    var sources: [CatchUpTrail.Source] = []
    for head in try heads(of: told, movedSince: after) {
      let offset = max(try offset(in: head.stream, at: after), (expanded.fromOffsets[head.stream] ?? 1) - 1)
      if offset < head.offset { sources.append(CatchUpTrail.Source(head: head, offset: offset)) }
    }
    return sources.sorted { $0.head.stream.number < $1.head.stream.number }
  }

  /// The next events of all of them together. Nil where the log lacks some.
  private func merge(_ all: [CatchUpTrail.Source], limit: Int) throws(Refusal) -> (events: [Event], hasMore: Bool)? {
    var sources = all.map { Stretch($0) }
    // Few of each where there are many of them: what is not taken was read for nothing.
    let stretch = min(limit, max(4, 2 * limit / max(sources.count, 1)))
    var merged: [Event] = []
    while !sources.isEmpty, merged.count < limit {
      for place in sources.indices where sources[place].events.isEmpty {
        let found = try events(in: sources[place].head.stream, after: sources[place].offset, limit: stretch)
        guard let first = found.first, let last = found.last, first.offset == sources[place].offset + 1 else {
          return nil
        }
        sources[place].offset = last.offset
        sources[place].events = found[...]
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
  /// Whether it is worth keeping what it tells: what is in the stream of one person nobody else is told, and of the rest
  /// messages are nearly all.
  fileprivate var isToldAlike: Bool {
    guard case .conversation = stream else { return false }
    return isOfMessage
  }
}
