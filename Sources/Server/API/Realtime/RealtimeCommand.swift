import ParleyJSON
import ParleyModel
import PubSub

/// A client's command over a WebSocket.
enum RealtimeCommand {
  /// Authenticates the client and resumes all topics from one cursor.
  case hello(token: String?, cursor: String?, topics: [LiveTopic])
  case subscribe([(topic: LiveTopic, cursor: String?)])
  case unsubscribe([LiveTopic])
  case send(MessageDraft, in: ID<Conversation>)
  case edit(ID<Message>, MessageChange)
  case delete(ID<Message>)
  case setAction(ID<Message>, ActionType)
  case removeAction(ID<Message>, ActionType)
  case read(ID<Conversation>, upTo: ID<Message>)
  case typing(ID<Conversation>)
  case presence(Signal.Presence)
  case publish(app: String, JSONRaw)
  case ping

  /// The maximum number of topics in one command.
  static let maxTopics = SubscriptionState.maxTopics

  /// The `re` of an answer to a command without a readable `id`.
  static let noID = JSONRaw(trusted: Array("null".utf8))

  /// Parses the object of a command and its `id`.
  static func open(_ bytes: [UInt8]) throws(JSONError) -> (JSONObject, id: JSONRaw) {
    var object = try JSONValue(parsing: bytes, nullIsAbsent: false).object()
    let id = try object.value("id")
    guard id.kind == .number || id.kind == .string, id.raw.bytes.count <= 64 else { throw id.error(.invalid) }
    return (object, id.raw)
  }

  /// The values of `do`.
  enum Name: String, CaseIterable {
    case hello, subscribe, unsubscribe, send, edit, delete, read, typing, presence, publish, ping
    case setAction = "set_action"
    case removeAction = "remove_action"
  }

  /// Parses a command without its `id`. Unknown members are refused, as in the body of a request.
  init(_ object: inout JSONObject) throws(JSONError) {
    let name = try object.value("do")
    guard let command = Name(rawValue: try name.string()) else { throw name.error(.invalid) }
    switch command {
    case .hello:
      self = .hello(
        token: try object.optional("token"), cursor: try object.optional("cursor"),
        topics: try object.optional("topics") { value throws(JSONError) in try Self.topics(value) } ?? [])
    case .subscribe:
      let value = try object.value("topics")
      var topics: [(LiveTopic, String?)] = []
      for element in try value.array() {
        guard topics.count < Self.maxTopics else { throw value.error(.invalid) }
        if element.kind == .string {
          topics.append((try LiveTopic(json: element), nil))
        } else {
          var entry = try element.object()
          topics.append((try entry.read("topic"), try entry.optional("cursor")))
          try entry.finish()
        }
      }
      self = .subscribe(topics)
    case .unsubscribe: self = .unsubscribe(try Self.topics(try object.value("topics")))
    case .send:
      let conversation: ID<Conversation> = try object.read("conversation_id")
      self = .send(try MessageDraft(&object), in: conversation)
    case .edit:
      let message: ID<Message> = try object.read("message_id")
      self = .edit(message, try MessageChange(&object))
    case .delete: self = .delete(try object.read("message_id"))
    case .setAction: self = .setAction(try object.read("message_id"), try Self.action(try object.value("type")))
    case .removeAction: self = .removeAction(try object.read("message_id"), try Self.action(try object.value("type")))
    case .read: self = .read(try object.read("conversation_id"), upTo: try object.read("message_id"))
    case .typing: self = .typing(try object.read("conversation_id"))
    case .presence:
      let state = try object.value("state")
      switch try state.string() {
      case "online": self = .presence(.online)
      case "away": self = .presence(.away)
      default: throw state.error(.invalid)
      }
    case .publish:
      let topic = try object.value("topic")
      guard case .app(let name) = try LiveTopic(json: topic) else { throw topic.error(.invalid) }
      self = .publish(app: name, try object.raw("data"))
    case .ping: self = .ping
    }
    try object.finish()
  }

  private static func action(_ value: JSONValue) throws(JSONError) -> ActionType {
    guard let action = ActionType(try value.string()) else { throw value.error(.invalid) }
    return action
  }

  private static func topics(_ value: JSONValue) throws(JSONError) -> [LiveTopic] {
    let elements = try value.array()
    guard elements.count <= maxTopics else { throw value.error(.invalid) }
    var topics: [LiveTopic] = []
    for element in elements { topics.append(try LiveTopic(json: element)) }
    return topics
  }

  /// Whether the command blocks later ones: its text is parsed off the loop, so that a later command would reach the
  /// writer first, or its answer is long.
  var takesLong: Bool {
    switch self {
    case .send(let draft, _): draft.text.utf8.count > Self.longText || draft.catchUpAfter != nil
    case .edit(_, let change): (change.text?.utf8.count ?? 0) > Self.longText
    case .hello, .subscribe, .unsubscribe, .delete, .setAction, .removeAction, .read, .typing, .presence, .publish,
      .ping:
      false
    }
  }

  /// The rate limit of a change.
  var work: Work {
    switch self {
    case .send: .sending
    case .edit, .delete, .setAction, .removeAction, .read, .hello, .subscribe, .unsubscribe, .typing, .presence,
      .publish, .ping:
      .writing
    }
  }

  /// The maximum size of text in bytes that the community parses on the loop.
  private static let longText = 8_192
}
