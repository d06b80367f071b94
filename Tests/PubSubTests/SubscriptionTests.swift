import ParleyModel
import TestSupport
import Testing

@testable import PubSub

/// One subscriber and a growing event log with all possible delays. The sent events are compared with the log.
@Suite struct SubscriptionTests {
  @Test func `a subscription from the head sends new events, and each once`() {
    let world = World()
    world.log(.conversation(1))
    world.subscribe([.conversation(1)], after: 1, ticket: 7)
    world.answerReads()
    #expect(world.answers[7]?.through == 1 && world.sent == [])
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [2])
    world.publish(2)
    #expect(world.sent == [2])
  }

  @Test func `an event published during a log read is sent once, after the page`() {
    let world = World()
    for _ in 0..<3 { world.log(.conversation(1)) }
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    // The first page returns the streams, the second is read after subscribing to them.
    world.answerRead()
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [1, 2, 3] && !world.subscriptions.isLive)
    world.answerRead()
    #expect(world.sent == [1, 2, 3, 4] && world.subscriptions.isLive)
    #expect(world.answers[1]?.through == 4)
  }

  @Test func `events beyond the buffer limit are read from the log`() {
    let world = World()
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.answerRead()
    for _ in 0..<(SubscriptionState.maxBuffered * 2 + 10) { world.log(.conversation(1)) }
    world.staleRead {
      world.publishAll()
    }
    world.answerReads()
    #expect(world.sent == Array(1...(SubscriptionState.maxBuffered * 2 + 10)))
  }

  @Test func `catch-up pauses when the socket is full and resumes there`() {
    let world = World()
    for _ in 0..<25 { world.log(.conversation(1)) }
    world.room = 7
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.answerReads()
    #expect(world.sent == Array(1...7) && world.subscriptions.isBlocked)
    world.drain(100)
    world.answerReads()
    #expect(world.sent == Array(1...25) && world.answers[1]?.through == 25)
  }

  @Test func `a lagging stream sends no events until the next subscribe`() {
    let world = World()
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.room = 0
    world.log(.conversation(1))
    world.publishAll()
    world.room = 100
    world.log(.conversation(2))
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [2] && world.lagging == [.conversation(ID(1))])
    world.subscribe([.conversation(1)], after: 0, ticket: 2)
    world.answerReads()
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [2, 1, 3, 4])
  }

  @Test func `a topic is read from its own cursor while others are buffered`() {
    let world = World()
    for _ in 0..<4 { world.log(.conversation(1)) }
    world.log(.conversation(2))
    world.subscribe([.conversation(2)], after: 5, ticket: 1)
    world.answerReads()
    world.subscribe([.conversation(1)], after: 2, ticket: 2)
    world.log(.conversation(2))
    world.publishAll()
    #expect(world.sent == [])
    world.answerReads()
    #expect(world.sent == [3, 4, 6])
  }

  @Test func `an unreadable topic fails a subscribe alone and is reported as lost with others`() {
    let world = World()
    world.unreadable = [.conversation(ID(9))]
    world.subscribe([.conversation(9)], after: 0, ticket: 1)
    world.answerReads()
    #expect(world.answers[1]?.isRefused == true)
    world.subscribe([.conversation(9), .conversation(1)], after: 0, ticket: 2)
    world.answerReads()
    #expect(world.answers[2]?.isRefused == false && world.answers[2]?.lost == [.conversation(ID(9))])
    #expect(world.subscriptions.topics == [.conversation(ID(1))])
  }

  @Test func `a subscriber without access loses the stream and its later events`() {
    let world = World()
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.log(.conversation(1))
    world.unreadable = [.conversation(ID(1))]
    world.publishAll()
    world.perform(world.subscriptions.accessChanged(.user(World.me)))
    world.log(.conversation(1))
    world.log(.conversation(2))
    world.publishAll()
    world.answerReads()
    #expect(world.sent == [1, 3] && world.lost == [.conversation(ID(1))])
  }

  @Test func `an unsubscribed topic sends no further events`() {
    let world = World()
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.perform(world.subscriptions.unsubscribe([.conversation(ID(1))]))
    world.log(.conversation(1))
    world.log(.conversation(2))
    world.publishAll()
    #expect(world.sent == [2])
  }

  @Test func `a trimmed cursor resets the subscription to the head`() {
    let world = World()
    for _ in 0..<9 { world.log(.conversation(1)) }
    world.floor = 5
    world.subscribe([.conversation(1)], after: 2, ticket: 1)
    world.answerReads()
    #expect(world.answers[1]?.reset == .trimmed && world.answers[1]?.through == 9 && world.sent == [])
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [10])
  }

  @Test func `messages before the readable history are hidden`() {
    let world = World()
    world.fromSeq = 3
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.answerReads()
    for seq in [2, 3, 0] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3] && world.hidden == [1])
  }

  @Test func `a batch is sent whole only if the subscriber may read all of it`() {
    let world = World()
    world.fromSeq = 3
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.log(.conversation(1), seq: 3)
    world.log(.conversation(1), seq: 4)
    world.publishAll()
    #expect(world.batches == 0)
    world.answerReads()
    #expect(world.sent == [1, 2] && world.batches == 0)
    for seq in [5, 6, 7] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3, 4, 5] && world.batches == 1)
    // The second event is reduced to its offset.
    for seq in [8, 2] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3, 4, 5, 6, 7] && world.hidden == [7] && world.batches == 1)
    // The socket has room for one event.
    world.room = 1
    for seq in [9, 10] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent.last == 8 && world.lagging == [.conversation(ID(1))] && world.batches == 1)
    world.room = 100
    for seq in [11, 12] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent.last == 8 && world.batches == 1)
  }

  @Test(arguments: 0..<300)
  func `each stream is sent complete and in order after any delays`(seed: UInt64) {
    var random = Seeded(seed: seed)
    let world = World(pageSize: .random(in: 1...5, using: &random))
    var cursor = 0
    var ticket = 0
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: ticket)
    for _ in 0..<400 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...4: world.log(.conversation(.random(in: 1...4, using: &random)))
      case 5, 6: world.publishSome(.random(in: 1...4, using: &random))
      case 7: world.answerRead()
      case 8: world.beginRead()
      case 9:
        world.room = .random(in: 0...3, using: &random)
        if world.subscriptions.isBlocked { world.drain(.random(in: 1...10, using: &random)) }
      case 10: world.perform(world.subscriptions.eventsLost())
      default:
        guard ticket < 2 else { continue }
        ticket += 1
        cursor = world.events.count
        world.subscribe([.conversation(ticket + 2)], after: cursor, ticket: ticket)
        world.starts[ticket + 2] = cursor
      }
    }
    world.room = .max
    while world.isBusy {
      world.publishSome(100)
      if world.subscriptions.isBlocked { world.drain(.max) }
      world.answerReads()
    }
    world.publishAll()
    for conversation in 1...(ticket + 2) {
      let stream = EventStream.conversation(ID(conversation))
      let start = world.starts[conversation] ?? 0
      let all = world.events.filter { $0.stream == stream && $0.id > start }.map(\.id)
      let received = world.sent.filter { world.events[$0 - 1].stream == stream }
      let isLagging = world.lagging.contains(stream)
      #expect(isLagging ? all.starts(with: received) : received == all, "seed \(seed), conversation \(conversation)")
    }
  }

  // MARK: Cursors

  @Test func `no event carries a cursor while a stream lags`() {
    let world = World()
    world.starts = [1: 0, 2: 0]
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.log(.conversation(1))
    world.publishAll()
    world.room = 0
    world.log(.conversation(1))
    world.publishAll()
    world.room = .max
    world.log(.conversation(2))
    world.publishAll()
    #expect(world.sent == [1, 3] && world.cursors == [0, 1])
    world.subscribe([.conversation(1)], after: 1, ticket: 2)
    world.log(.conversation(2))
    world.staleRead { world.publishAll() }
    world.answerReads()
    #expect(world.sent == [1, 3, 2, 4] && world.cursors == [0, 1, 4])
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.cursors == [0, 1, 4, 5] && world.unsafeCursors == [])
  }

  @Test func `no event carries a cursor while topics are at different ones`() {
    let world = World()
    for conversation in [1, 2, 1, 2, 1] { world.log(.conversation(conversation)) }
    world.starts = [1: 0, 2: 2]
    world.perform(world.subscriptions.subscribe([.conversation(ID(1))], after: 0, ticket: 1))
    world.perform(world.subscriptions.subscribe([.conversation(ID(2))], after: 2, ticket: 2))
    world.answerReads()
    #expect(world.sent == [1, 3, 5, 4] && Set(world.cursors) == [5])
    world.log(.conversation(2))
    world.publishAll()
    #expect(world.cursors.last == 6 && world.unsafeCursors == [])
  }

  /// The client pulls lagging streams from the last cursor it has stored.
  @Test(arguments: 0..<100)
  func `a client that stores only the last cursor misses nothing`(seed: UInt64) {
    var random = Seeded(seed: seed)
    let world = World(pageSize: 4)
    for _ in 0..<10 { world.log(.conversation(.random(in: 1...4, using: &random))) }
    var ticket = 0
    for _ in 0..<300 {
      switch Int.random(in: 0...13, using: &random) {
      case 0...4: world.log(.conversation(.random(in: 1...4, using: &random)))
      case 5, 6: world.publishSome(.random(in: 1...4, using: &random))
      case 7, 8: world.answerRead()
      case 9: world.beginRead()
      case 10:
        world.room = .random(in: 0...20, using: &random)
        if world.subscriptions.isBlocked { world.drain(.random(in: 1...10, using: &random)) }
      case 11: world.perform(world.subscriptions.eventsLost())
      case 12:
        guard ticket < 4 else { continue }
        ticket += 1
        let cursor = Int.random(in: 0...world.events.count, using: &random)
        world.starts[ticket] = cursor
        world.subscribe([.conversation(ticket)], after: cursor, ticket: ticket)
      default:
        guard let stream = world.lagging.popFirst(), case .conversation(let id) = stream else { continue }
        let from = max(world.cursors.last ?? 0, world.starts[id.number] ?? 0)
        world.room = .max
        world.perform(world.subscriptions.subscribe([.conversation(id)], after: from, ticket: 100 + id.number))
      }
    }
    #expect(world.unsafeCursors == [], "seed \(seed)")
  }
}

/// An event log, a delayed publisher and pending pages.
private final class World {
  static let me = ID<User>(1)
  var subscriptions = SubscriptionState(user: me)
  var events: [Event] = []
  var seqs: [Int: Int] = [:]
  var sent: [Int] = []
  var hidden: [Int] = []
  var lagging: Set<EventStream> = []
  var answers: [Int: SubscriptionState.Outcome] = [:]
  var lost: [LiveTopic] = []
  /// The cursors of frames and answers, in order.
  private(set) var cursors: [Int] = []
  private(set) var unsafeCursors: [Int] = []
  var starts: [Int: Int] = [:]
  var unreadable: Set<LiveTopic> = []
  var floor = 0
  var fromSeq = 1
  /// Free events in the output queue of the socket.
  var room = Int.max
  private(set) var batches = 0
  private let pageSize: Int
  private var published = 0
  private var subscribed: Set<EventStream> = []
  private var requested: [(topics: [LiveTopic], after: Int)] = []
  private var pendingPage: CatchUp?

  init(pageSize: Int = 10) { self.pageSize = pageSize }

  var isBusy: Bool { !requested.isEmpty || pendingPage != nil || subscriptions.isBlocked || published < events.count }

  enum Name {
    case conversation(Int)
    var stream: EventStream { if case .conversation(let id) = self { .conversation(ID(id)) } else { .site } }
    var topic: LiveTopic { if case .conversation(let id) = self { .conversation(ID(id)) } else { .me } }
  }

  func log(_ name: Name, seq: Int = 0) {
    let offset = events.count { $0.stream == name.stream } + 1
    let id = events.count + 1
    seqs[id] = seq
    events.append(
      Event(
        id: id, stream: name.stream, offset: offset, kind: .messageCreated, subject: id, revision: 1, actor: 1, at: 0))
  }

  func subscribe(_ names: [Name], after: Int, ticket: Int) {
    perform(subscriptions.subscribe(names.map(\.topic), after: after, ticket: ticket))
  }

  // MARK: The publisher

  func publishAll() { publishSome(.max) }

  func publishSome(_ count: Int) {
    let next = events[published...].prefix(count)
    published += next.count
    var run: [Publication] = []
    for event in next where subscribed.contains(event.stream) {
      if let last = run.last, last.event.stream != event.stream {
        receive(run)
        run = []
      }
      run.append(publication(of: event))
    }
    receive(run)
  }

  func publish(_ id: Int) {
    guard subscribed.contains(events[id - 1].stream) else { return }
    receive(publication(of: events[id - 1]))
  }

  private func publication(of event: Event) -> Publication {
    let seq = seqs[event.id].flatMap { $0 > 0 ? $0 : nil }
    return Publication(
      DeliveredEvent(event, .actions(ID(event.subject), []), seq: seq), frames(of: event),
      reduced: frames(of: event, -1))
  }

  /// Sends the publications of one stream as a batch, if there is room and none is reduced.
  private func receive(_ publications: [Publication]) {
    guard let stream = publications.first?.event.stream, let batch = StreamBatch(of: stream, publications),
      room >= publications.count, subscriptions.receive(batch)
    else { return publications.forEach(receive) }
    batches += 1
    for publication in publications { _ = send(publication.frames.withCursor.text) }
  }

  private func receive(_ publication: Publication) {
    guard let frame = subscriptions.receive(publication) else { return }
    guard send(frame.text) else {
      lagging.insert(publication.event.stream)
      return subscriptions.markLagging(publication.event.stream, from: publication.event.id)
    }
  }

  private func frames(of event: Event, _ sign: Int = 1) -> EventFrames {
    EventFrames(Self.json(sign * event.id), cursor: "\(event.id)") { Frame(text: $0, framed: [], deflated: nil) }
  }

  /// An event; the number of a reduced one is negative.
  private static func json(_ number: Int) -> [UInt8] { Array(#"{"id":\#(number)}"#.utf8) }

  private func send(_ text: [UInt8]) -> Bool {
    guard room > 0 else { return false }
    if room < .max { room -= 1 }
    let members = String(decoding: text, as: UTF8.self).dropFirst().dropLast().split(separator: ",")
    let number = members.first.flatMap { Int($0.dropFirst(5)) } ?? 0
    sent.append(abs(number))
    if number < 0 { hidden.append(-number) }
    if members.count > 1 { storedCursor(abs(number), isExact: true) }
    return true
  }

  /// The client stores a cursor. It must have every earlier event, and no later one if `isExact`.
  private func storedCursor(_ cursor: Int, isExact: Bool) {
    cursors.append(cursor)
    for (conversation, start) in starts {
      let stream = EventStream.conversation(ID(conversation))
      // An incomplete topic is requested again from its own cursor.
      guard subscriptions.topics.isEmpty || subscriptions.topics.contains(.conversation(ID(conversation))) else {
        continue
      }
      let received = Set(sent.filter { events[$0 - 1].stream == stream })
      let expected = Set(events.filter { $0.stream == stream && $0.id > start && $0.id <= cursor }.map(\.id))
      if isExact ? received != expected : !expected.isSubset(of: received) { unsafeCursors.append(cursor) }
    }
  }

  // MARK: The log

  /// Reads a page and delays its arrival.
  func beginRead() {
    guard pendingPage == nil, let (topics, after) = requested.first else { return }
    requested.removeFirst()
    guard after >= floor else {
      pendingPage = .reset(.trimmed, head: events.count)
      return
    }
    let readable = topics.filter { !unreadable.contains($0) }
    let streams = readable.compactMap { topic -> EventStream? in
      if case .conversation(let id) = topic { .conversation(id) } else { nil }
    }
    let found = events.filter { streams.contains($0.stream) && $0.id > after }
    let items = found.prefix(pageSize)
    var page = CatchUpPage(through: events.count)
    page.hasMore = found.count > items.count
    if page.hasMore, let last = items.last { page.through = last.id }
    page.content = CatchUpPage.Content(
      items.map { .init(event: $0.id, stream: $0.stream, offset: $0.offset, text: Self.json($0.id)) })
    for stream in streams { page.streams[stream] = SubscribedStream(StreamReader(.member, fromSeq: fromSeq), .own) }
    page.lost = topics.filter { unreadable.contains($0) }
    pendingPage = .page(page)
  }

  func answerRead() {
    beginRead()
    guard let result = pendingPage else { return }
    pendingPage = nil
    switch result {
    case .reset(let reason, let head): perform(subscriptions.didReset(reason, head: head))
    case .page(let page):
      var through = 0
      let state = subscriptions
      for item in state.newItems(page) {
        let text = state.carriesCursor(item.event) ? EventFrames.adding("\(item.event)", to: item.text) : item.text
        guard send(text) else { return perform(subscriptions.didSend(page, through: through, isWhole: false)) }
        through = item.event
      }
      perform(subscriptions.didSend(page, through: page.through, isWhole: true))
    }
  }

  func answerReads() { while pendingPage != nil || !requested.isEmpty { answerRead() } }

  /// Runs `body` between the read of a page and its arrival.
  func staleRead(_ body: () -> Void) {
    beginRead()
    body()
    answerRead()
  }

  func drain(_ room: Int) {
    self.room = room
    perform(subscriptions.resume())
  }

  func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after): requested.append((topics, after))
      case .subscribe(.stream(let stream)): subscribed.insert(stream)
      case .unsubscribe(.stream(let stream)): subscribed.remove(stream)
      case .subscribe, .unsubscribe, .reset: break
      case .sendBuffered: while let publication = subscriptions.nextBuffered() { receive(publication) }
      case .answer(let ticket, let outcome):
        answers[ticket] = outcome
        storedCursor(subscriptions.resumePosition, isExact: false)
      case .lost(let topic): lost.append(topic)
      }
    }
  }
}
