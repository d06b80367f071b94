import ParleyJSON
import ParleyModel
import TestSupport
import Testing

/// A client's copy of a conversation of ada (1) and grace (2).
struct Copy {
  var replica: Replica
  static let conversation = ID<Conversation>(12)
  static let stream = EventStream.conversation(conversation)
  static let own = EventStream.user(ID(1))

  init(unread: Int = 0, readSeq: Int = 0, lastSeq: Int = 0, joinedSeq: Int = 0, offset: Int = 10) {
    let user = UserSummary(id: ID(1), name: "ada", role: .owner, createdAt: 1)
    let me = User(
      user, standing: .init(state: .active), own: .init())
    var snapshot = Snapshot(EventCursor(epoch: "e", start: "s", event: 100), me: me, settings: SiteSettings())
    snapshot.conversations = [
      Self.own(unread: unread, readSeq: readSeq, lastSeq: lastSeq, joinedSeq: joinedSeq, offset: offset)
    ]
    snapshot.users = [User(UserSummary(id: ID(2), name: "grace", role: .member, createdAt: 1))]
    snapshot.offsets = [.site: 4, Self.own: 6]
    replica = Replica(snapshot)
  }

  static func own(
    unread: Int, readSeq: Int = 0, lastSeq: Int, joinedSeq: Int = 0, offset: Int
  ) -> OwnConversation {
    let conversation = Conversation(
      id: conversation, kind: .group, title: "seeds", lastSeq: lastSeq, createdBy: ID(1), createdAt: 1,
      participantCount: 2, participants: [Participant(ID(1), .admin), Participant(ID(2))])
    return OwnConversation(
      conversation, lastMessage: nil, unread: unread, readSeq: readSeq, deliveredSeq: readSeq, lastOffset: offset,
      level: .everything,
      participation: .init(role: .admin, fromSeq: 1, fromOffset: 1, joinedSeq: joinedSeq, isRequest: false))
  }

  var known: ReplicaConversation? { replica.conversations[Self.conversation] }

  static func event(
    _ id: Int, _ stream: EventStream, _ offset: Int, _ kind: Event.Kind, _ content: DeliveredEvent.Content,
    by actor: Int = 2
  ) -> ReceivedEvent {
    ReceivedEvent(
      DeliveredEvent(
        Event(id: id, stream: stream, offset: offset, kind: kind, subject: 1, revision: 1, actor: actor, at: 1), content
      ))
  }

  static func message(
    _ seq: Int, by author: Int = 2, revision: Int = 1, _ text: String? = "x", machineOnly: Bool = false
  ) -> Message {
    Message(
      id: ID(1_000 + seq), conversation: conversation, author: ID(author), seq: seq,
      previous: seq > 1 ? ID(999 + seq) : nil, isMachineOnly: machineOnly, createdAt: 1, revision: revision,
      state: text.map { .live(Message.Content(text: $0)) }
        ?? .deleted(Message.Tombstone(at: 2, by: ID(author), deletion: .author)))
  }

  @discardableResult
  mutating func applyMessage(_ id: Int, _ offset: Int, _ kind: Event.Kind, _ message: Message) -> Replica.Step {
    replica.apply(Self.event(id, Self.stream, offset, kind, .message(message)))
  }
}

@Suite struct ReplicaTests {
  @Test func `an edit event does not make stale actions newer`() throws {
    var copy = Copy(lastSeq: 3)
    copy.replica.merge([MessageView(Copy.message(3))], asOf: 90)
    copy.applyMessage(110, 11, .messageEdited, Copy.message(3, revision: 2, "y"))
    let known = try #require(copy.known?.messages[3])
    #expect(known.asOf == 110 && known.actionsAsOf == 90)
    // A response from before the edit has the older text and the newer actions.
    copy.replica.merge([MessageView(Copy.message(3, "x"), mine: ["repost"])], asOf: 105)
    #expect(copy.known?.messages[3]?.message.content?.text == "y")
    #expect(copy.known?.messages[3]?.mine == ["repost"])
  }

  @Test func `totals and the own vote of a poll arrive in two streams`() throws {
    var copy = Copy(lastSeq: 3)
    var message = Copy.message(3)
    var content = try #require(message.content)
    content.poll = Poll([.init("park", votes: 1), .init("lake")], voters: 1)
    message.state = .live(content)
    copy.replica.merge([MessageView(message)], asOf: 90)
    let totals = Poll([.init("park", votes: 1), .init("lake", votes: 1)], voters: 2)
    _ = copy.replica.apply(Copy.event(102, Copy.own, 7, .pollUpdated, .vote(message.id, [1])))
    _ = copy.replica.apply(Copy.event(101, Copy.stream, 11, .pollUpdated, .poll(message.id, totals)))
    #expect(copy.known?.messages[3]?.message.content?.poll == totals && copy.known?.messages[3]?.vote == [1])
    // An older response.
    copy.replica.merge([MessageView(message)], asOf: 100)
    #expect(copy.known?.messages[3]?.message.content?.poll == totals && copy.known?.messages[3]?.vote == [1])
    copy.replica.merge([MessageView(message, vote: [0])], asOf: 110)
    #expect(copy.known?.messages[3]?.message.content?.poll == content.poll && copy.known?.messages[3]?.vote == [0])
  }

  @Test func `a replaced conversation gets the events after its position`() throws {
    var copy = Copy(lastSeq: 1, offset: 10)
    // The response includes event 11, and the held message does not.
    copy.replica.replace(Copy.own(unread: 0, lastSeq: 1, offset: 11), asOf: 100)
    copy.replica.merge([MessageView(Copy.message(1))], asOf: 90)
    let reposts = [Message.ActionCount(type: "repost", count: 1)]
    let added = Copy.event(101, Copy.stream, 11, .actionAdded, .actions(ID(1_001), reposts))
    #expect(copy.replica.apply(added) == .applied)
    #expect(copy.known?.messages[1]?.message.content?.actions == reposts)
    // The server went back in time: the stream has fewer events than the position.
    copy.replica.replace(Copy.own(unread: 0, lastSeq: 1, offset: 5), asOf: 100)
    let message = Copy.message(2)
    #expect(copy.applyMessage(102, 6, .messageCreated, message) == .applied)
  }

  /// A gained conversation has no position: its first event begins the stream.
  @Test(arguments: [false, true])
  func `the messages of a gained conversation get the events that a response was faster than`(_ isReplaced: Bool) throws
  {
    var copy = Copy()
    copy.replica.drop(Copy.conversation)
    let own = Copy.own(unread: 0, lastSeq: 0, offset: 1)
    let gained = GainedConversation(own.conversation, own.participation)
    _ = copy.replica.apply(Copy.event(101, Copy.own, 7, .conversationCreated, .gained(gained)))
    copy.replica.merge([MessageView(Copy.message(1, by: 1))], asOf: 101)
    let newer = Copy.own(unread: 0, readSeq: 1, lastSeq: 1, offset: 3)
    if isReplaced {
      copy.replica.replace(newer, asOf: 101)
      copy.replica.merge([MessageView(Copy.message(1, by: 1))], asOf: 101)
    } else {
      copy.replica.merge(newer, asOf: 101)
    }
    copy.applyMessage(102, 2, .messageCreated, Copy.message(1, by: 1))
    let like = [Message.ActionCount(type: "like", count: 1)]
    _ = copy.replica.apply(Copy.event(103, Copy.stream, 3, .actionAdded, .actions(Copy.message(1).id, like)))
    let known = try #require(copy.known?.messages[1])
    #expect(known.message.content?.actions == like)
  }

  @Test func `an old event corrects a count of the known messages`() {
    var copy = Copy(unread: 3, readSeq: 0, lastSeq: 3, offset: 8)
    copy.replica.merge((1...3).map { MessageView(Copy.message($0)) }, asOf: 90)
    // The row includes the deletion of message 3, and the held message does not.
    copy.replica.merge(Copy.own(unread: 2, lastSeq: 3, offset: 10), asOf: 100)
    let position = DeliveredEvent.Content.readPosition(Copy.conversation, ReadPosition(readSeq: 1, deliveredSeq: 1))
    _ = copy.replica.apply(Copy.event(101, Copy.own, 7, .readPositionUpdated, position))
    #expect(copy.known?.unread == 2)
    #expect(copy.applyMessage(95, 9, .messageDeleted, Copy.message(3, revision: 2, nil)) == .applied)
    #expect(copy.known?.unread == 1)
  }

  @Test func `participant events update the list`() {
    var copy = Copy()
    func apply(_ id: Int, _ offset: Int, _ user: Int, _ role: ParticipantRole?) {
      _ = copy.replica.apply(
        Copy.event(id, Copy.stream, offset, .participantChanged, .participant(Copy.conversation, ID(user), role)))
    }
    apply(101, 11, 3, .member)
    #expect(copy.known?.conversation.participantCount == 3 && copy.replica.needs == [.user(ID(3))])
    apply(102, 12, 2, nil)
    apply(103, 13, 1, .member)
    #expect(copy.known?.conversation.participants == [Participant(ID(1)), Participant(ID(3))])
    #expect(copy.known?.participation?.role == .member)
  }

  @Test func `a removed conversation is dropped with its stream`() {
    var copy = Copy()
    copy.applyMessage(101, 11, .messageCreated, Copy.message(1))
    _ = copy.replica.apply(Copy.event(102, Copy.own, 7, .conversationRemoved, .thing(12)))
    #expect(copy.known == nil && copy.replica.positions[Copy.stream] == nil)
    // Later events of it are ignored.
    copy.applyMessage(103, 12, .messageCreated, Copy.message(2))
    #expect(copy.known == nil && copy.replica.positions[Copy.stream] == nil)
  }

  @Test func `a conversation that is changed to its id alone is dropped with its stream`() {
    var copy = Copy()
    copy.applyMessage(101, 11, .messageCreated, Copy.message(1))
    _ = copy.replica.apply(Copy.event(102, Copy.stream, 12, .conversationUpdated, .thing(12)))
    #expect(copy.known == nil && copy.replica.positions[Copy.stream] == nil)
  }

  @Test func `a forum event with only an id requests the forum, and drop removes its room`() {
    var copy = Copy()
    let forum = Forum(id: ID(20), title: "g", visibility: .public, room: ID(21), createdBy: ID(1), createdAt: 1)
    _ = copy.replica.apply(Copy.event(101, .site, 5, .forumCreated, .forum(forum)))
    let room = Conversation(id: ID(21), kind: .room, forum: ID(20), createdBy: ID(1), createdAt: 1)
    _ = copy.replica.apply(
      Copy.event(102, Copy.own, 7, .conversationCreated, .gained(GainedConversation(room, nil))))
    #expect(copy.replica.forums[ID(20)] != nil && copy.replica.conversations[ID(21)]?.unread == 0)
    copy.replica.merge(InboxCounts())
    _ = copy.replica.apply(Copy.event(103, .site, 6, .forumUpdated, .thing(20)))
    #expect(copy.replica.needs == [.forum(ID(20))])
    copy.replica.drop(ID<Forum>(20))
    #expect(copy.replica.forums.isEmpty && copy.replica.conversations[ID(21)] == nil && copy.replica.needs.isEmpty)
  }

  @Test func `events that may change the inbox counts request them`() {
    var copy = Copy()
    func apply(_ offset: Int, _ kind: Event.Kind, _ content: DeliveredEvent.Content) {
      _ = copy.replica.apply(Copy.event(94 + offset, Copy.own, offset, kind, content))
    }
    let entry = Notification(
      id: ID(50), kind: .mention, conversation: Copy.conversation, message: ID(1_001), createdAt: 1)
    apply(7, .notificationCreated, .inbox(entry))
    #expect(copy.replica.needs == [.inbox] && copy.replica.inbox == InboxCounts())
    var counts = InboxCounts()
    counts.add(.mention)
    copy.replica.merge(counts)
    #expect(copy.replica.needs.isEmpty && copy.replica.inbox == counts)
    apply(8, .notificationRead, .thing(50))
    #expect(copy.replica.needs == [.inbox])
    copy.replica.merge(InboxCounts())
    // Notifications of unreadable conversations do not count.
    apply(9, .conversationRemoved, .thing(12))
    #expect(copy.replica.needs == [.inbox])
  }

  @Test(arguments: [
    (Event.Kind.messageCreated, Copy.message(4), 3), (.messageCreated, Copy.message(4, by: 1), 2),
    (.messageCreated, Copy.message(4, machineOnly: true), 2), (.messageCreated, Copy.message(4, nil), 2),
    (.messageEdited, Copy.message(3, revision: 2), 2), (.messageDeleted, Copy.message(3, revision: 2, nil), 1),
    (.messageRestored, Copy.message(3, revision: 3), 3), (.messageDeleted, Copy.message(1, revision: 2, nil), 2),
    (.messageEdited, Copy.message(3, revision: 3, nil), 1),
  ])
  fileprivate func `message events update the unread count`(kind: Event.Kind, message: Message, unread: Int) {
    var copy = Copy(unread: 2, readSeq: 1, lastSeq: 3)
    copy.applyMessage(101, 11, kind, message)
    #expect(copy.known?.unread == unread)
    // A later event with the same state does not change the count.
    copy.applyMessage(102, 12, .messageEdited, message)
    #expect(copy.known?.unread == unread)
  }

  @Test func `a read position recounts cached messages, and requests the count otherwise`() {
    var copy = Copy(unread: 0, readSeq: 3, lastSeq: 3)
    for seq in 4...6 { copy.applyMessage(97 + seq, 7 + seq, .messageCreated, Copy.message(seq)) }
    #expect(copy.known?.unread == 3)
    func move(_ id: Int, _ offset: Int, to seq: Int) {
      let readPosition = DeliveredEvent.Content.readPosition(
        Copy.conversation, ReadPosition(readSeq: seq, deliveredSeq: seq))
      _ = copy.replica.apply(Copy.event(id, Copy.own, offset, .readPositionUpdated, readPosition))
    }
    move(110, 7, to: 5)
    #expect(copy.known?.unread == 1 && copy.replica.needs.isEmpty)
    move(111, 8, to: 6)
    #expect(copy.known?.unread == 0)
    var unknown = Copy(unread: 3, readSeq: 0, lastSeq: 3)
    let readPosition = DeliveredEvent.Content.readPosition(Copy.conversation, ReadPosition(readSeq: 1, deliveredSeq: 1))
    _ = unknown.replica.apply(Copy.event(101, Copy.own, 7, .readPositionUpdated, readPosition))
    #expect(unknown.known?.unread == nil && unknown.replica.needs == [.conversation(Copy.conversation)])
  }

  @Test(arguments: [(3, nil, true), (1, nil, false), (3, "x", false), (4, "x", true)])
  func `a page ahead of the events requests the unread count`(
    seq: Int, text: String?, isRequested: Bool
  ) {
    for isHeld in [false, true] {
      var copy = Copy(unread: 2, readSeq: 1, lastSeq: 3)
      if isHeld, seq <= 3 { copy.replica.merge([MessageView(Copy.message(seq))], asOf: 100) }
      let message = Copy.message(seq, revision: text == nil ? 2 : 1, text)
      copy.replica.merge(ahead: [MessageView(message)], asOf: 101)
      #expect(copy.replica.needs == (isRequested ? [.conversation(Copy.conversation)] : []))
      // A known message is not requested again.
      copy.replica.merge(ahead: [MessageView(message)], asOf: 102)
      #expect(copy.replica.needs == (isRequested ? [.conversation(Copy.conversation)] : []))
    }
  }

  @Test func `a later revision wins over a later response`() {
    var copy = Copy(lastSeq: 3)
    copy.replica.merge([MessageView(Copy.message(3))], asOf: 110)
    copy.replica.merge([MessageView(Copy.message(3, revision: 2, "y"))], asOf: 100)
    #expect(copy.known?.messages[3]?.message.content?.text == "y" && copy.known?.messages[3]?.asOf == 110)
    copy.replica.merge([MessageView(Copy.message(3, "x"))], asOf: 120)
    #expect(copy.known?.messages[3]?.message.content?.text == "y")
  }

  @Test func `a response older than the applied events is dropped`() throws {
    var copy = Copy()
    copy.applyMessage(101, 11, .messageCreated, Copy.message(1))
    var own = OwnConversation(
      try #require(copy.known?.conversation), lastMessage: nil, unread: 7, readSeq: 0, deliveredSeq: 0, lastOffset: 10,
      level: .everything, participation: copy.known?.participation)
    copy.replica.merge(own, asOf: 100)
    #expect(copy.known?.unread == 1)
    own.lastOffset = 11
    copy.replica.merge(own, asOf: 101)
    #expect(copy.known?.unread == 7)
  }

  /// The state does not depend on repeated events.
  @Test(arguments: 0..<20)
  fileprivate func `repeated events in any order change nothing`(seed: UInt64) {
    var random = Seeded(seed: seed)
    var events: [ReceivedEvent] = []
    for number in 1...60 {
      let seq = Int.random(in: 1...10, using: &random)
      let message = Copy.message(seq, revision: Int.random(in: 1...5, using: &random), "\(number)")
      events.append(Copy.event(100 + number, Copy.stream, 10 + number, .messageEdited, .message(message)))
    }
    var once = Copy()
    for event in events { _ = once.replica.apply(event) }
    var often = Copy()
    var next = 0
    while next < events.count {
      let index = Int.random(in: 0...min(next + 1, events.count - 1), using: &random)
      switch often.replica.apply(events[index]) {
      case .applied: next += 1
      case .known: #expect(index < next)
      case .missing(let offset): #expect(index > next && offset == 10 + next)
      }
    }
    #expect(often.replica == once.replica)
  }

  @Test func `a snapshot survives a JSON round trip`() throws {
    var snapshot = Snapshot(
      EventCursor(epoch: "a1", start: "s9", event: 7),
      me: User(UserSummary(id: ID(1), name: "ada", role: .owner, createdAt: 1)), settings: SiteSettings())
    snapshot.forums = [
      ForumView(
        Forum(id: ID(20), title: "g", visibility: .public, room: ID(21), createdBy: ID(1), createdAt: 1), role: .admin)
    ]
    snapshot.hasMoreForums = true
    snapshot.levels = [.forum(ID(20)): .nothing, .conversation(ID(21)): .everything]
    snapshot.relations = [ID(2): [.follow, .mute], ID(3): [.block]]
    snapshot.users = [User(UserSummary(id: ID(2), name: nil, role: .member, createdAt: 1))]
    snapshot.offsets = [.site: 3, .user(ID(1)): 0]
    var json = JSONWriter()
    json.value(snapshot)
    #expect(try Snapshot(json: JSONValue(parsing: json.bytes)) == snapshot)
    for text in [
      "", "a", "a.", ".1", "a.01", "a.-1", "a.x", "a.9999999999999999999", "a..1", ".b.1", "a.b.c.1", "a.b.", "a.b.01",
    ] {
      #expect(EventCursor(text) == nil, "\(text)")
    }
    #expect(EventCursor("a.b.12") == EventCursor(epoch: "a", start: "b", event: 12))
    // Stored by an older client.
    let old = EventCursor(epoch: "a", start: "", event: 12)
    #expect(EventCursor("a.12") == old && old.description == "a.12")
  }
}
