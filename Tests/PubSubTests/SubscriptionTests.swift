import ParleyModel
import TestSupport
import Testing

@testable import PubSub

/// One client against a log that grows, with everything late that can be late. What it was sent is compared with the log.
@Suite struct FollowingTests {
  @Test func `what is followed from now on begins with what comes, and nothing comes twice`() {
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

  @Test func `what is published while the log is read is sent once, behind it`() {
    let world = World()
    for _ in 0..<3 { world.log(.conversation(1)) }
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    // The first page says which streams there are, the second is read after they are followed.
    world.answerRead()
    world.log(.conversation(1))
    world.publishAll()
    #expect(world.sent == [1, 2, 3] && !world.following.isLive)
    world.answerRead()
    #expect(world.sent == [1, 2, 3, 4] && world.following.isLive)
    #expect(world.answers[1]?.through == 4)
  }

  @Test func `more than is set aside is read from the log`() {
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

  @Test func `pages stop where there is no room, and go on from there`() {
    let world = World()
    for _ in 0..<25 { world.log(.conversation(1)) }
    world.room = 7
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.answerReads()
    #expect(world.sent == Array(1...7) && world.following.isBlocked)
    world.drain(100)
    world.answerReads()
    #expect(world.sent == Array(1...25) && world.answers[1]?.through == 25)
  }

  @Test func `a stream that lags is silent until it is asked for again`() {
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

  @Test func `a topic is read from its own cursor while the others wait`() {
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

  @Test func `what is not there is refused where nothing else was asked for, else told`() {
    let world = World()
    world.unreadable = [.conversation(ID(9))]
    world.subscribe([.conversation(9)], after: 0, ticket: 1)
    world.answerReads()
    #expect(world.answers[1]?.isRefused == true)
    world.subscribe([.conversation(9), .conversation(1)], after: 0, ticket: 2)
    world.answerReads()
    #expect(world.answers[2]?.isRefused == false && world.answers[2]?.lost == [.conversation(ID(9))])
    #expect(world.following.topics == [.conversation(ID(1))])
  }

  @Test func `who loses a stream is told, and gets nothing that was published later`() {
    let world = World()
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.log(.conversation(1))
    world.unreadable = [.conversation(ID(1))]
    world.publishAll()
    world.perform(world.following.accessChanged(.user(World.me)))
    world.log(.conversation(1))
    world.log(.conversation(2))
    world.publishAll()
    world.answerReads()
    #expect(world.sent == [1, 3] && world.lost == [.conversation(ID(1))])
  }

  @Test func `an unsubscribed topic is silent at once`() {
    let world = World()
    world.subscribe([.conversation(1), .conversation(2)], after: 0, ticket: 1)
    world.answerReads()
    world.perform(world.following.unsubscribe([.conversation(ID(1))]))
    world.log(.conversation(1))
    world.log(.conversation(2))
    world.publishAll()
    #expect(world.sent == [2])
  }

  @Test func `a place that can't be told from is said to be so, and it goes on from the head`() {
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

  @Test func `messages from before one's history are hidden`() {
    let world = World()
    world.fromSeq = 3
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.answerReads()
    for seq in [2, 3, 0] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3] && world.hidden == [1])
  }

  @Test func `a run is taken at once by whom it is all for, and by nobody else`() {
    let world = World()
    world.fromSeq = 3
    world.subscribe([.conversation(1)], after: 0, ticket: 1)
    world.log(.conversation(1), seq: 3)
    world.log(.conversation(1), seq: 4)
    world.publishAll()
    #expect(world.runs == 0)
    world.answerReads()
    #expect(world.sent == [1, 2] && world.runs == 0)
    for seq in [5, 6, 7] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3, 4, 5] && world.runs == 1)
    // Of one of these only its place is told.
    for seq in [8, 2] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent == [1, 2, 3, 4, 5, 6, 7] && world.hidden == [7] && world.runs == 1)
    // There is room for one of them.
    world.room = 1
    for seq in [9, 10] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent.last == 8 && world.lagging == [.conversation(ID(1))] && world.runs == 1)
    world.room = 100
    for seq in [11, 12] { world.log(.conversation(1), seq: seq) }
    world.publishAll()
    #expect(world.sent.last == 8 && world.runs == 1)
  }

  @Test(arguments: 0..<300)
  func `whatever is late, each stream is told whole and in order`(seed: UInt64) {
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
        if world.following.isBlocked { world.drain(.random(in: 1...10, using: &random)) }
      case 10: world.perform(world.following.eventsLost())
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
      if world.following.isBlocked { world.drain(.max) }
      world.answerReads()
    }
    world.publishAll()
    for conversation in 1...(ticket + 2) {
      let stream = EventStream.conversation(ID(conversation))
      let start = world.starts[conversation] ?? 0
      let all = world.events.filter { $0.stream == stream && $0.id > start }.map(\.id)
      let got = world.sent.filter { world.events[$0 - 1].stream == stream }
      let isLagging = world.lagging.contains(stream)
      #expect(isLagging ? all.starts(with: got) : got == all, "seed \(seed), conversation \(conversation)")
    }
  }
}

/// A log, a publisher that is late, and pages that are on their way.
private final class World {
  static let me = ID<User>(1)
  var following = SubscriptionState(user: me)
  var events: [Event] = []
  var seqs: [Int: Int] = [:]
  var sent: [Int] = []
  var hidden: [Int] = []
  var lagging: Set<EventStream> = []
  var answers: [Int: SubscriptionState.Outcome] = [:]
  var lost: [LiveTopic] = []
  var starts: [Int: Int] = [:]
  var unreadable: Set<LiveTopic> = []
  var floor = 0
  var fromSeq = 1
  /// How many events fit before the socket refuses.
  var room = Int.max
  private(set) var runs = 0
  private let pageSize: Int
  private var published = 0
  private var followed: Set<EventStream> = []
  private var asked: [(topics: [LiveTopic], after: Int)] = []
  private var begun: CatchUp?

  init(pageSize: Int = 10) { self.pageSize = pageSize }

  var isBusy: Bool { !asked.isEmpty || begun != nil || following.isBlocked || published < events.count }

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
    perform(following.subscribe(names.map(\.topic), after: after, ticket: ticket))
  }

  // MARK: The publisher

  func publishAll() { publishSome(.max) }

  func publishSome(_ count: Int) {
    let next = events[published...].prefix(count)
    published += next.count
    var run: [Publication] = []
    for event in next where followed.contains(event.stream) {
      if let last = run.last, last.event.stream != event.stream {
        receive(run)
        run = []
      }
      run.append(publication(of: event))
    }
    receive(run)
  }

  func publish(_ id: Int) {
    guard followed.contains(events[id - 1].stream) else { return }
    receive(publication(of: events[id - 1]))
  }

  private func publication(of event: Event) -> Publication {
    let seq = seqs[event.id].flatMap { $0 > 0 ? $0 : nil }
    return Publication(
      DeliveredEvent(event, .actions(ID(event.subject), []), seq: seq), frame("\(event.id)"),
      reduced: frame("-\(event.id)"))
  }

  /// Those of one stream at once, where there is room for all of them and each is sent as it is.
  private func receive(_ publications: [Publication]) {
    guard let stream = publications.first?.event.stream, let run = StreamBatch(of: stream, publications),
      room >= publications.count, following.receive(run)
    else { return publications.forEach(receive) }
    runs += 1
    for publication in publications { _ = send(publication.frame.text) }
  }

  private func receive(_ publication: Publication) {
    guard let frame = following.receive(publication) else { return }
    guard send(frame.text) else {
      lagging.insert(publication.event.stream)
      return following.markLagging(publication.event.stream)
    }
  }

  private func frame(_ text: String) -> Frame { Frame(text: Array(text.utf8), framed: [], deflated: nil) }

  private func send(_ text: [UInt8]) -> Bool {
    guard room > 0 else { return false }
    if room < .max { room -= 1 }
    let number = Int(String(decoding: text, as: UTF8.self)) ?? 0
    sent.append(abs(number))
    if number < 0 { hidden.append(-number) }
    return true
  }

  // MARK: The log

  /// The page is read now, and comes later.
  func beginRead() {
    guard begun == nil, let (topics, after) = asked.first else { return }
    asked.removeFirst()
    guard after >= floor else {
      begun = .reset(.trimmed, head: events.count)
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
      items.map { .init(event: $0.id, stream: $0.stream, offset: $0.offset, text: Array("\($0.id)".utf8)) })
    for stream in streams { page.streams[stream] = SubscribedStream(StreamReader(.member, fromSeq: fromSeq), .own) }
    page.lost = topics.filter { unreadable.contains($0) }
    begun = .page(page)
  }

  func answerRead() {
    beginRead()
    guard let result = begun else { return }
    begun = nil
    switch result {
    case .reset(let reason, let head): perform(following.didReset(reason, head: head))
    case .page(let page):
      var through = 0
      for item in following.newItems(page) {
        guard send(item.text) else { return perform(following.didSend(page, through: through, isWhole: false)) }
        through = item.event
      }
      perform(following.didSend(page, through: page.through, isWhole: true))
    }
  }

  func answerReads() { while begun != nil || !asked.isEmpty { answerRead() } }

  /// Something happens between the reading of a page and its arrival.
  func staleRead(_ body: () -> Void) {
    beginRead()
    body()
    answerRead()
  }

  func drain(_ room: Int) {
    self.room = room
    perform(following.resume())
  }

  func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after): asked.append((topics, after))
      case .subscribe(.stream(let stream)): followed.insert(stream)
      case .unsubscribe(.stream(let stream)): followed.remove(stream)
      case .subscribe, .unsubscribe, .reset: break
      case .sendBuffered: while let publication = following.nextBuffered() { receive(publication) }
      case .answer(let ticket, let outcome): answers[ticket] = outcome
      case .lost(let topic): lost.append(topic)
      }
    }
  }
}
