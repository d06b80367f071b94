import ParleyJSON
import ParleyModel
import Testing

private func raw(_ text: String) -> JSONRaw { JSONRaw(trusted: Array(text.utf8)) }

private func received(_ text: String) throws -> ReceivedEvent {
  try ReceivedEvent(json: JSONValue(parsing: Array(text.utf8)))
}

private func text(_ delivered: DeliveredEvent) -> String {
  var json = JSONWriter()
  json.value(delivered)
  return String(decoding: json.bytes, as: UTF8.self)
}

@Suite struct DeliveredEventTests {
  private static var conversation: Conversation {
    var conversation = Conversation(
      id: ID(12), kind: .group, title: "seeds", lastSeq: 4, lastMessage: ID(40), createdBy: ID(7),
      createdAt: 1_795_187_801_123, revision: 3, participantCount: 2,
      participants: [Participant(ID(7), .admin), Participant(ID(8))])
    conversation.annotations = raw(#"[{"type":"com.example.a","value":1}]"#)
    return conversation
  }
  private static let message = Message(
    id: ID(40), conversation: ID(12), author: ID(7), clientID: "c", seq: 4, previous: ID(39), replyTo: ID(38),
    createdAt: 1_795_187_801_123, revision: 2,
    state: .live(
      Message.Content(
        text: "plums 🍑", actions: [.init(type: "like", count: 2)],
        buttons: [MessageButton("yes", "Yes", style: .danger, isPressed: true, isDisabled: true)])))
  private static let user = UserSummary(
    id: ID(7), name: "ada", displayName: "Ada", bio: "b", role: .owner, createdAt: 1_795_187_801_000, revision: 5)
  private static let settingsOfAda: Patch<User.Own> = [
    .set(\.isDiscoverable, true), .set(\.reachableBy, .shared), .set(\.showsReceipts, false),
    .set(\.preferences, raw(#"{"a":[1]}"#)),
  ]
  private static let me = User(
    user, standing: .init(state: .active, lastSeenAt: 1_795_187_801_000), own: settingsOfAda.applied(to: .blank))
  private static var forum: Forum {
    var forum = Forum(
      id: ID(20), title: "garden", visibility: .members, room: ID(21), createdBy: ID(7), createdAt: 1_795_187_801_000,
      lastMessage: ID(40), revision: 2)
    forum.section = "s"
    return forum
  }
  private static var settings: SiteSettings {
    var settings = SiteSettings()
    settings.welcome = "come in"
    settings.revision = 9
    return settings
  }
  private static let participation = OwnConversation.Participation(
    role: .member, fromSeq: 3, fromOffset: 5, joinedSeq: 2, isRequest: true)

  /// Each kind of event, for each stream with a different shape, full and reduced.
  private static let all: [(Event.Kind, EventStream, DeliveredEvent.Content)] = {
    let chat = EventStream.conversation(ID(12))
    let garden = EventStream.forum(ID(20))
    let own = EventStream.user(ID(7))
    return [
      (.messageCreated, chat, .message(message)), (.messageEdited, chat, .message(message)),
      (.messageDeleted, chat, .hidden), (.messageRestored, chat, .message(message)),
      (.actionAdded, chat, .actions(ID(40), [.init(type: "like", count: 2), .init(type: "reaction:👍", count: 1)])),
      (.actionRemoved, chat, .actions(ID(40), [])), (.actionAdded, own, .star(ID(40), isSet: true)),
      (.actionRemoved, own, .star(ID(40), isSet: false)),
      (.pollUpdated, chat, .poll(ID(40), Poll([.init("park", votes: 2), .init("lake")], closesAt: 9, voters: 2))),
      (.pollUpdated, own, .vote(ID(40), [0])), (.pollUpdated, own, .vote(ID(40), [])),
      (
        .buttonPressed, own,
        .press(
          ButtonPress(
            id: ID(61), message: ID(40), conversation: ID(12), button: "yes", user: ID(8), bot: ID(7), revision: 2,
            createdAt: 1_795_187_801_123))
      ), (.buttonPressed, own, .thing(61)),
      (
        .commandReplied, own,
        .commandReply(
          CommandReply(
            id: ID(63), invocation: ID(62), name: "weather", conversation: ID(12), bot: ID(8), audience: .caller,
            text: "18", createdAt: 1_795_187_801_123))
      ), (.commandReplied, own, .thing(63)),
      (.receiptUpdated, chat, .receipt(ID(12), ID(8), ReadPosition(readSeq: 3, deliveredSeq: 4))),
      (.conversationCreated, chat, .conversation(conversation)),
      (.conversationUpdated, garden, .conversation(conversation)), (.conversationUpdated, chat, .thing(12)),
      (.conversationCreated, own, .gained(GainedConversation(conversation, participation))),
      (.conversationCreated, own, .gained(GainedConversation(conversation, nil))),
      (.conversationCreated, own, .thing(12)), (.conversationRemoved, own, .thing(12)),
      (.participantJoined, chat, .participant(ID(12), ID(8), .reader)),
      (.participantLeft, chat, .participant(ID(12), ID(8), nil)),
      (.participantChanged, garden, .member(ID(20), ID(8), .moderator)),
      (.participantLeft, garden, .member(ID(20), ID(8), nil)), (.forumCreated, garden, .forum(forum)),
      (.forumUpdated, .site, .forum(forum)), (.forumUpdated, .site, .thing(20)), (.forumDeleted, .site, .thing(20)),
      (.userUpdated, .site, .user(User(user))), (.userUpdated, .site, .thing(7)),
      (.readPositionUpdated, own, .readPosition(ID(12), ReadPosition(readSeq: 3, deliveredSeq: 4))),
      (.levelChanged, own, .level(.forum(ID(20)), SetLevel(.nothing, isOwn: true))),
      (.levelChanged, own, .level(.conversation(ID(12)), SetLevel(.everything, isOwn: false))),
      (.laterChanged, own, .later(Later(ID(12), until: 1_795_187_801_123))),
      (.laterChanged, own, .later(Later(ID(12), until: nil))),
      (.timelineRead, own, .timelinePosition(TimelinePosition(message: ID(9), readAt: 1_795_187_801_123))),
      (.timelineFiltersChanged, own, .thing(7)),
      (.relationChanged, own, .relations(UserRelations(ID(8), [.follow, .mute], requests: [ID(12), ID(13)]))),
      (.preferencesUpdated, own, .user(me)), (.settingsUpdated, .site, .settings(settings)),
      (
        .notificationCreated, own,
        .inbox(Notification(id: ID(50), kind: .request, conversation: ID(12), createdAt: 1, readAt: 2))
      ),
      (
        .notificationCreated, own,
        .inbox(Notification(id: ID(51), kind: .report, report: ID(9), actor: ID(8), createdAt: 1))
      ),
      (.notificationCreated, own, .thing(50)), (.notificationRead, own, .thing(50)),
    ]
  }()

  @Test func `every kind of event survives a JSON round trip`() throws {
    for (kind, stream, content) in Self.all {
      let event = Event(
        id: 88_123, stream: stream, offset: 731, kind: kind, subject: 40, revision: 2, actor: 7, at: 1_795_187_801_123)
      let delivered = DeliveredEvent(event, content)
      #expect(try received(text(delivered)) == ReceivedEvent(delivered), "\(text(delivered))")
    }
  }

  @Test func `the round trip covers every kind of event`() {
    #expect(Set(Self.all.map(\.0)) == Set(Event.Kind.allCases))
  }

  @Test func `a hidden event has only id, stream and offset`() throws {
    let event = Event(
      id: 9, stream: .conversation(ID(12)), offset: 3, kind: .messageCreated, subject: 40, revision: 1, actor: 7, at: 1)
    let hidden = DeliveredEvent(event, .message(Self.message), seq: 4).seen(by: StreamReader(.member, fromSeq: 5))
    #expect(text(hidden) == #"{"event":"hidden","id":"9","stream":"conversation:12","offset":3}"#)
    let read = try received(text(hidden))
    #expect(read.kind == nil && read.content == .hidden && read.at == nil && read.actor == nil)
  }

  @Test func `an unknown kind of event keeps its offset`() throws {
    let read = try received(
      #"{"event":"poll.closed","id":"9","stream":"forum:12","offset":3,"at":"2026-11-20T15:16:41.123Z","data":[1]}"#)
    #expect(read.kind == nil && read.content == .hidden && read.offset == 3 && read.stream == .forum(ID(12)))
  }

  @Test(arguments: [
    #"{"event":"hidden","id":"0","stream":"site","offset":3}"#, #"{"event":"hidden","id":"9","stream":"s","offset":3}"#,
    #"{"event":"hidden","id":"9","stream":"site","offset":0}"#,
    #"{"event":"hidden","id":9,"stream":"site","offset":1}"#,
    #"{"event":"user.updated","id":"9","stream":"site","offset":1,"data":{"id":"x"}}"#,
    #"{"event":"user.updated","id":"9","stream":"site","offset":1}"#,
    #"{"event":"read_position.updated","id":"9","stream":"user:1","offset":1,"data":{"conversation_id":"2","read_up_to":-1,"delivered_up_to":1}}"#,
  ])
  func `an invalid event is refused`(text: String) {
    #expect(throws: JSONError.self) { try received(text) }
  }

  @Test(
    arguments: [
      (.listed, .owner, false), (.users, .member, true), (.users, .guest, false),
      (.anyone, nil, true),
    ] as [(Audience, Role?, Bool)])
  func `a conversation outside the reader's audience is its id alone`(audience: Audience, role: Role?, isOpen: Bool) {
    let event = Event(
      id: 1, stream: .conversation(ID(12)), offset: 1, kind: .conversationUpdated, subject: 12, revision: 2, actor: 8,
      at: 1)
    let feed = Conversation(
      id: ID(12), kind: .feed, owner: ID(8), readers: .init(audience), createdBy: ID(8), createdAt: 1)
    let delivered = DeliveredEvent(event, .conversation(feed))
    let seen = delivered.seen(by: StreamReader(role, isOfAudience: true))
    #expect(seen.content == (isOpen ? delivered.content : .thing(12)))
    #expect(delivered.isOpen(to: StreamReader(role)), "the owner and participants read on")
  }

  @Test(arguments: [
    (Role?.none, false, false, false, true), (.guest, true, false, false, true), (.member, true, true, true, true),
    (.owner, true, true, true, true),
  ])
  func `access to the full event depends on the role`(
    role: Role?, participants: Bool, users: Bool, forums: Bool, ofOne: Bool
  ) {
    func opens(_ content: DeliveredEvent.Content, _ stream: EventStream) -> Bool {
      let event = Event(id: 1, stream: stream, offset: 1, kind: .userUpdated, subject: 7, revision: 1, actor: 1, at: 1)
      return DeliveredEvent(event, content).isOpen(to: StreamReader(role))
    }
    #expect(opens(.participant(ID(12), ID(8), .member), .conversation(ID(12))) == participants)
    #expect(opens(.user(User(Self.user)), .site) == users)
    #expect(opens(.forum(Self.forum), .site) == forums)
    #expect(opens(.forum(Self.forum), .forum(ID(20))) == ofOne)
    #expect(opens(.user(Self.me), .user(ID(7))) == ofOne)
  }
}
