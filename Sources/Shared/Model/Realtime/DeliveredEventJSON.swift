// An event as one JSON object: kind, id, stream and offset, data. Writer and reader list the data of each kind
// separately; tests check the round trip.

public import ParleyJSON

extension DeliveredEvent: JSONWritable {
  public func write(to json: inout JSONWriter) {
    let isHidden = content == .hidden
    json.object { json in
      json.field("event", isHidden ? "hidden" : event.kind.name)
      json.field("id", String(event.id))
      json.field("stream", event.stream.description)
      json.field("offset", event.offset)
      if isHidden { return }
      json.field("at", Timestamp(event.at))
      json.field("actor_id", event.actor == 0 ? nil : ID<User>(event.actor))
      json.field("data", content)
    }
  }
}

extension DeliveredEvent.Content: JSONWritable {
  public func write(to json: inout JSONWriter) {
    switch self {
    case .message(let message): json.value(message)
    case .conversation(let conversation): json.value(conversation)
    case .gained(let gained): json.value(gained)
    case .forum(let forum): json.value(forum)
    case .user(let user): json.value(user)
    case .settings(let settings): json.value(settings)
    case .relations(let relations): json.value(relations)
    case .later(let later): json.value(later)
    case .timelinePosition(let position): json.value(position)
    case .inbox(let entry): json.value(entry)
    case .press(let press): json.value(press)
    case .commandReply(let reply): json.value(reply)
    case .actions, .star, .poll, .vote, .receipt, .readPosition, .participant, .member, .level, .thing:
      json.object { json in writeMembers(to: &json) }
    case .hidden: json.null()
    }
  }

  private func writeMembers(to json: inout JSONWriter) {
    switch self {
    case .actions(let message, let actions):
      json.field("message_id", message)
      json.object("actions") { json in
        for action in actions { json.object(action.type) { json in json.field("count", action.count) } }
      }
    case .star(let message, let isSet):
      json.field("message_id", message)
      json.object("actions") { json in
        if isSet { json.object("star") { json in json.field("count", 1) } }
      }
    case .poll(let message, let poll):
      json.field("message_id", message)
      json.field("poll", poll)
    case .vote(let message, let options):
      json.field("message_id", message)
      json.field("mine", options)
    case .receipt(let conversation, let user, let readPosition):
      json.field("conversation_id", conversation)
      json.field("user_id", user)
      readPosition.writeMembers(to: &json)
    case .readPosition(let conversation, let readPosition):
      json.field("conversation_id", conversation)
      readPosition.writeMembers(to: &json)
    case .participant(let conversation, let user, let role):
      json.field("conversation_id", conversation)
      json.field("user_id", user)
      if let role { json.field("role", role.rawValue) }
    case .member(let forum, let user, let role):
      json.field("forum_id", forum)
      json.field("user_id", user)
      if let role { json.field("role", role.rawValue) }
    case .level(let scope, let level):
      scope.writeMember(to: &json)
      json.field("level", level.level.rawValue)
      json.field("set", level.isOwn)
    case .thing(let id): json.field("id", String(id))
    case .message, .conversation, .gained, .forum, .user, .settings, .later, .timelinePosition, .relations, .inbox,
      .press,
      .commandReply, .hidden:
      break
    }
  }
}

/// Event as received by a client.
public struct ReceivedEvent: Sendable, Hashable {
  /// Global position in the event log.
  public var id: Int
  /// The stream of the event.
  public var stream: EventStream
  /// Position in the stream, from 1, without gaps.
  public var offset: Int
  /// Nil for hidden events and for kinds of a newer server.
  public var kind: Event.Kind?
  /// The time of the change, in milliseconds since 1970; nil for hidden events.
  public var at: Int64?
  /// Nil for the server.
  public var actor: ID<User>?
  /// The object in its current state; `hidden` for kinds of a newer server.
  public var content: DeliveredEvent.Content

  /// A delivered event as its client decodes it.
  public init(_ delivered: DeliveredEvent) {
    let (event, isHidden) = (delivered.event, delivered.content == .hidden)
    id = event.id
    stream = event.stream
    offset = event.offset
    kind = isHidden ? nil : event.kind
    at = isHidden ? nil : event.at
    actor = isHidden || event.actor == 0 ? nil : ID(event.actor)
    content = delivered.content
  }
}

extension ReceivedEvent: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let name = try object.string("event")
    id = try object.value("id").number()
    guard let stream = EventStream(try object.string("stream")) else {
      throw try object.value("stream").error(.invalid)
    }
    self.stream = stream
    offset = try object.int("offset", in: 1...Int.max)
    let at: Timestamp? = try object.optional("at")
    self.at = at.map { Int64($0.milliseconds) }
    actor = try object.optional("actor_id")
    kind = Event.Kind.named[name]
    guard let kind else {
      content = .hidden
      return
    }
    content = try DeliveredEvent.Content(try object.value("data"), of: kind, in: stream)
  }
}

extension JSONValue {
  /// A positive integer, as a JSON string.
  fileprivate func number() throws(JSONError) -> Int {
    guard let number = Int(try string()), number > 0 else { throw error(.invalid) }
    return number
  }
}

extension JSONObject {
  fileprivate mutating func has(_ name: String) throws(JSONError) -> Bool {
    try optional(name) { _ in true } ?? false
  }
}

extension Event.Kind {
  fileprivate static let named = Dictionary(
    allCases.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
}

extension DeliveredEvent.Content {
  fileprivate init(_ value: JSONValue, of kind: Event.Kind, in stream: EventStream) throws(JSONError) {
    var object = try value.object()
    // A deleted object, or one to fetch, has only its id; others have one of these members, too.
    if let id: String = try object.optional("id"), try !object.has("revision"), try !object.has("kind"),
      try !object.has("invocation_id")
    {
      guard let number = Int(id), number >= 0 else { throw value.error(.invalid) }
      self = .thing(number)
      return
    }
    switch kind {
    case .messageCreated, .messageEdited, .messageDeleted, .messageRestored: self = .message(try Message(json: value))
    case .actionAdded, .actionRemoved: self = try Self.actions(&object, in: stream)
    case .pollUpdated:
      let message: ID<Message> = try object.read("message_id")
      if case .user = stream {
        self = .vote(message, try object.read("mine"))
      } else {
        self = .poll(message, try object.read("poll"))
      }
    case .receiptUpdated:
      self = .receipt(try object.read("conversation_id"), try object.read("user_id"), try ReadPosition(&object))
    case .readPositionUpdated: self = .readPosition(try object.read("conversation_id"), try ReadPosition(&object))
    case .conversationCreated, .conversationUpdated, .conversationRemoved:
      if case .user = stream {
        self = .gained(try GainedConversation(json: value))
      } else {
        self = .conversation(try Conversation(json: value))
      }
    case .participantJoined, .participantLeft, .participantChanged:
      let user: ID<User> = try object.read("user_id")
      if let forum: ID<Forum> = try object.optional("forum_id") {
        self = .member(forum, user, try object.optionalWord("role"))
      } else {
        self = .participant(try object.read("conversation_id"), user, try object.optionalWord("role"))
      }
    case .forumCreated, .forumUpdated, .forumDeleted: self = .forum(try Forum(json: value))
    case .userUpdated, .preferencesUpdated: self = .user(try User(json: value))
    case .notificationCreated: self = .inbox(try Notification(json: value))
    // Sent with the id alone.
    case .notificationRead, .timelineFiltersChanged: throw value.error(.invalid)
    case .levelChanged:
      self = .level(try LevelScope(&object), try SetLevel(json: value))
    case .laterChanged: self = .later(try Later(json: value))
    case .timelineRead: self = .timelinePosition(try TimelinePosition(json: value))
    case .buttonPressed: self = .press(try ButtonPress(json: value))
    case .commandReplied: self = .commandReply(try CommandReply(json: value))
    case .relationChanged: self = .relations(try UserRelations(json: value))
    case .settingsUpdated: self = .settings(try SiteSettings(json: value))
    }
  }

  private static func actions(_ object: inout JSONObject, in stream: EventStream) throws(JSONError) -> Self {
    let message: ID<Message> = try object.read("message_id")
    let actions = try Message.ActionCount.all(object.object("actions"))
    if case .user = stream { return .star(message, isSet: !actions.isEmpty) }
    return .actions(message, actions)
  }
}
