// What one client follows, and how far it has come, as values: what it is told gives back what is to be done.
//
// A client is *live* while events are sent as they are published, or it *reads on*: then a page of the log is on its way,
// and what is published meanwhile is set aside. Reading always comes first. Interest in the streams is declared, a page
// is read afterwards, and when nothing came in between that it could have missed, what was set aside is sent, without
// what the page had, and the client is live. So what is told does not depend on who was quicker.
//
// Whatever changes what somebody may see (a conversation gained or lost, a forum that narrows, a role) makes the client
// read on from where it is: each page is read by the rights of its own moment, and says which streams there are.
//
// One thing is read at a time. A topic that is subscribed later is read by itself, from its own cursor, while the others
// wait. `position` is how far all of them are; `through` is how far one stream is, which may be further.

public import ParleyModel

public struct Following: Sendable {
  public enum Action: Sendable, Hashable {
    /// Asks for a page of these topics after an event.
    case read([LiveTopic], after: Int)
    case follow(Signal.Audience)
    case unfollow(Signal.Audience)
    /// Sends what `next` gives until there is no more.
    case goOn
    case answer(ticket: Int, Outcome)
    /// A topic is there no longer for the one who followed it.
    case lost(LiveTopic)
    /// What happened since can't be told.
    case reset(ResetReason, head: Int)
  }

  /// What became of a subscription.
  public struct Outcome: Sendable, Hashable {
    /// Everything up to here was told.
    public var through: Int
    public var reset: ResetReason?
    public var lost: [LiveTopic]
    /// Whether there was none of them.
    public var isRefused: Bool
  }

  private struct Followed {
    var stream: FollowedStream
    /// What has been sent of it, at least.
    var through: Int
    var isLagging = false
  }

  private struct Job {
    /// Nil for reading on with everything.
    var ticket: Int?
    var topics: [LiveTopic]
    var after: Int
    var reset: ResetReason?
    var lost: [LiveTopic] = []
    /// Some of its topics were unfollowed while its page was on its way.
    var hasDropped = false
  }

  private let account: ID<Account>?
  public private(set) var topics: [LiveTopic] = []
  private var streams: [EventStream: Followed] = [:]
  /// Everything up to here was sent, in every stream.
  public private(set) var position = 0
  private var job: Job?
  private var waiting: [Job] = []
  private var owed: [(ticket: Int, outcome: Outcome)] = []
  /// What was published while a page was on its way.
  private var aside: [Publication] = []
  /// The page that is on its way may lack something that the next one has.
  private var isStale = false
  /// The same of all topics, while one is read by itself.
  private var mustReadAll = false
  /// There is no room for what would be read.
  public private(set) var isBlocked = false

  /// Beyond this, what was set aside is read from the log.
  static let mostAside = 256
  /// Topics of one client, and reads that wait for each other.
  public static let mostTopics = 1_000

  public init(account: ID<Account>?) { self.account = account }

  public var isLive: Bool { job == nil }
  public var streamCount: Int { streams.count }

  // MARK: What the client asks

  /// Whether there is room for these, to be read from so many places.
  public func mayFollow(_ more: Set<LiveTopic>, from places: Int) -> Bool {
    waiting.count + places <= Self.mostTopics && asked.union(more).count <= Self.mostTopics
  }

  /// All that is followed, or is going to be.
  private var asked: Set<LiveTopic> {
    var asked = Set(topics)
    if let job { asked.formUnion(job.topics) }
    for job in waiting { asked.formUnion(job.topics) }
    return asked
  }

  /// `after` is where the client stands in these topics; `reset` why that is not where it says.
  public mutating func follow(
    _ topics: [LiveTopic], after: Int, reset: ResetReason? = nil, ticket: Int
  ) -> [Action] {
    waiting.append(Job(ticket: ticket, topics: topics, after: after, reset: reset))
    return begin()
  }

  public mutating func unfollow(_ dropped: [LiveTopic]) -> [Action] {
    topics.removeAll { dropped.contains($0) }
    for place in waiting.indices { waiting[place].topics.removeAll { dropped.contains($0) } }
    job?.topics.removeAll { dropped.contains($0) }
    job?.hasDropped = true
    var actions: [Action] = []
    for topic in dropped {
      if let audience = topic.signals { actions.append(.unfollow(audience)) }
    }
    let asked = self.asked
    for (stream, followed) in streams {
      if let rest = followed.stream.part(of: stream, in: asked) {
        streams[stream]?.stream = rest
      } else {
        streams[stream] = nil
        actions.append(.unfollow(.stream(stream)))
      }
    }
    return actions
  }

  // MARK: Reading on

  private mutating func begin() -> [Action] {
    guard job == nil else { return [] }
    if !waiting.isEmpty {
      job = waiting.removeFirst()
    } else if mustReadAll {
      mustReadAll = false
      job = Job(topics: topics, after: position)
    } else {
      defer { owed = [] }
      return [.goOn] + owed.map { .answer(ticket: $0.ticket, $0.outcome) }
    }
    return read()
  }

  private mutating func read() -> [Action] {
    guard let job else { return [] }
    isStale = false
    isBlocked = false
    return [.read(job.topics, after: job.after)]
  }

  /// Those of a page that the client is to get.
  public func fresh(_ page: CatchUpPage) -> [CatchUpPage.Item] {
    guard let job else { return [] }
    let asked = job.hasDropped ? self.asked : nil
    // Who subscribes again asks to be told again.
    guard job.ticket == nil || asked != nil else { return page.items }
    return page.items.filter { item in
      if let asked, page.streams[item.stream]?.part(of: item.stream, in: asked)?.isQuiet != false { return false }
      guard job.ticket == nil, let followed = streams[item.stream] else { return true }
      return item.event > followed.through && !followed.isLagging
    }
  }

  /// A page was sent: all of it, or as far as there was room.
  public mutating func took(_ page: CatchUpPage, through: Int, isWhole: Bool) -> [Action] {
    guard var current = job else { return [] }
    var actions = adopt(page, through: through, of: current)
    current.topics = job?.topics ?? []
    current.after = max(current.after, through)
    current.lost = page.lost
    if current.ticket == nil {
      position = max(position, through)
      aside.removeAll { $0.event.id <= position }
    }
    job = current
    guard isWhole else {
      isBlocked = true
      return actions
    }
    if page.hasMore || isStale { return actions + read() }
    actions += finish(current)
    return actions + begin()
  }

  /// Takes over which streams there are.
  private mutating func adopt(_ page: CatchUpPage, through: Int, of job: Job) -> [Action] {
    var actions: [Action] = []
    let asked = job.hasDropped ? self.asked : nil
    streams.reserveCapacity(page.streams.count)
    for (stream, read) in page.streams {
      guard let found = asked.map({ read.part(of: stream, in: $0) }) ?? read else { continue }
      guard var followed = streams[stream] else {
        // Until now nobody told us what is published of it: what came since the page was read is in the next.
        isStale = true
        streams[stream] = Followed(stream: found, through: through)
        actions.append(.follow(.stream(stream)))
        continue
      }
      let (wasOfMe, wasQuiet) = (followed.stream.isOfMe, followed.stream.isQuiet)
      followed.stream = found
      if job.ticket != nil {
        followed.stream.isOfMe = found.isOfMe || wasOfMe
        followed.stream.isQuiet = found.isQuiet && wasQuiet
        followed.isLagging = false
      }
      followed.through = max(followed.through, through)
      streams[stream] = followed
    }
    if job.ticket == nil {
      for stream in streams.keys where page.streams[stream] == nil {
        streams[stream] = nil
        actions.append(.unfollow(.stream(stream)))
      }
      for topic in page.lost where topics.contains(topic) {
        topics.removeAll { $0 == topic }
        self.job?.topics.removeAll { $0 == topic }
        if let audience = topic.signals { actions.append(.unfollow(audience)) }
        actions.append(.lost(topic))
      }
    }
    return actions
  }

  private mutating func finish(_ done: Job) -> [Action] {
    job = nil
    guard let ticket = done.ticket else { return [] }
    let found = done.topics.filter { !done.lost.contains($0) }
    let outcome = Outcome(
      through: done.after, reset: done.reset, lost: done.lost, isRefused: found.isEmpty && !done.topics.isEmpty)
    owed.append((ticket, outcome))
    // The first to be followed: there is nothing else that could be behind.
    if topics.isEmpty { position = max(position, done.after) }
    var actions: [Action] = []
    for topic in found where !topics.contains(topic) {
      topics.append(topic)
      if let audience = topic.signals { actions.append(.follow(audience)) }
    }
    return actions
  }

  /// What came after the place from which was read can't be told.
  public mutating func couldNotRead(_ reason: ResetReason, head: Int) -> [Action] {
    guard job != nil else { return [] }
    job?.after = head
    guard job?.ticket == nil else {
      job?.reset = reason
      return read()
    }
    position = head
    for stream in streams.keys { streams[stream]?.through = head }
    return [.reset(reason, head: head)] + read()
  }

  /// There is room again, or the store answers again.
  public mutating func resume() -> [Action] { isBlocked ? read() : [] }

  /// The page that was asked for can't be had now.
  public mutating func failed() { isBlocked = job != nil }

  // MARK: What is published

  /// What of it the client gets, and whether it may change what the client may see.
  public mutating func take(_ publication: Publication) -> Frame? {
    let event = publication.event
    guard let followed = streams[event.stream] else { return nil }
    if job != nil {
      setAside(publication)
      return nil
    }
    guard event.id > position, event.id > followed.through else { return nil }
    position = event.id
    guard !followed.stream.isQuiet, !followed.isLagging else { return nil }
    return publication.frame(for: followed.stream.reader)
  }

  /// The same of a run, for a client that gets all of it as it is. False where it is to be taken one by one.
  public mutating func take(_ run: Run) -> Bool {
    guard job == nil, let followed = streams[run.stream], !followed.stream.isQuiet, !followed.isLagging,
      run.first.id > position, run.first.id > followed.through, run.isOpen(to: followed.stream.reader)
    else { return false }
    position = run.last.id
    return true
  }

  /// Whether a signal of something that is followed is for this client.
  public func hears(_ signal: Signal) -> Bool {
    guard signal.sender == nil || signal.sender != account else { return false }
    switch signal.audience {
    case .stream(let stream):
      // While rights are asked anew nobody knows whether it may be heard, and nothing that passes waits.
      guard !mustReadAll, job.map({ $0.ticket != nil }) ?? true else { return false }
      return streams[stream].map { !$0.stream.isQuiet } ?? false
    case .presence, .app: return true
    }
  }

  private mutating func setAside(_ publication: Publication) {
    if aside.count == Self.mostAside {
      aside = []
      isStale = true
      if job?.ticket != nil { mustReadAll = true }
      return
    }
    aside.append(publication)
  }

  /// What was set aside, one by one, while the client is live.
  public mutating func next() -> Publication? {
    guard job == nil, !aside.isEmpty else { return nil }
    return aside.removeFirst()
  }

  /// There was no room for an event: nothing more of its stream is sent until the client asks for it.
  public mutating func lags(_ stream: EventStream) { streams[stream]?.isLagging = true }

  /// Somebody's rights have changed, of which this client may be one.
  public mutating func reconsider(_ change: AccessChange) -> [Action] {
    guard concerns(change) else { return [] }
    return readAll()
  }

  /// Something that was published is lost on its way here.
  public mutating func missed() -> [Action] { topics.isEmpty && job == nil ? [] : readAll() }

  private mutating func readAll() -> [Action] {
    if job == nil {
      mustReadAll = true
      return begin()
    }
    isStale = true
    if job?.ticket != nil { mustReadAll = true }
    return []
  }

  private func concerns(_ change: AccessChange) -> Bool {
    switch change {
    case .account(let id): return id == account
    case .conversation(let id): return streams[.conversation(id)]?.stream.ground == .open
    case .forum(let id):
      return streams[.forum(id)] != nil || streams.values.contains { $0.stream.ground == .forum(id) }
    }
  }
}

extension FollowedStream {
  /// What is left of it for who follows these topics; nil when it is nothing. One's own stream and the site's are watched
  /// in any case.
  fileprivate func part(of stream: EventStream, in topics: Set<LiveTopic>) -> FollowedStream? {
    if isOfMe, topics.contains(.me) { return self }
    var rest = self
    rest.isOfMe = false
    switch stream {
    case .conversation(let id): return topics.contains(.conversation(id)) ? rest : nil
    case .forum(let id): return topics.contains(.forum(id)) ? rest : nil
    case .user, .site:
      rest.isQuiet = true
      return rest
    }
  }
}

extension LiveTopic {
  /// Of a topic that is not in the log.
  fileprivate var signals: Signal.Audience? {
    switch self {
    case .me, .conversation, .forum: nil
    case .presence: .presence
    case .app(let name): .app(name)
    }
  }
}
