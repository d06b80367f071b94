import Community
import ParleyJSON
import ParleyModel
import PubSub
import Web

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
  case presence(Signal.Presence, showing: [ID<Conversation>])
  case publish(app: String, JSONRaw)
  case ping

  /// The maximum number of topics in one command.
  static let maxTopics = SubscriptionState.maxTopics

  /// The `re` of an answer to a command without a readable `id`.
  static let noID = JSONRaw(trusted: Array("null".utf8))

  /// Parses the object of a command and its `id`.
  static func open(_ bytes: [UInt8]) throws(JSONError) -> (JSONObject, id: JSONRaw) {
    let root = try JSONValue(parsing: bytes, nullIsAbsent: false)
    var object = try root.object()
    let id = try object.value("id")
    guard id.kind == .number || id.kind == .string, id.raw.bytes.count <= 64 else { throw id.error(.invalid) }
    try root.requireFiniteNumbers()
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
    guard let command = Name(rawValue: try name.string()) else {
      throw name.error(.notAllowed(Name.allCases.map(\.rawValue)))
    }
    switch command {
    case .hello:
      self = .hello(
        token: try object.optional("token"), cursor: try object.optional("cursor"),
        topics: try object.optional("topics") { value throws(JSONError) in try Self.topics(value) } ?? [])
    case .subscribe:
      self = .subscribe(
        try object.read("topics") { value throws(JSONError) in
          try Self.list(value) { element throws(JSONError) in
            if element.kind == .string { return (try LiveTopic(json: element), nil) }
            var entry = try element.object()
            let topic = (
              try entry.read("topic") { value throws(JSONError) in value.isWildcard ? .me : try LiveTopic(json: value)
              },
              try entry.optional("cursor") as String?
            )
            try entry.finish()
            return topic
          }
        })
    case .unsubscribe:
      self = .unsubscribe(try object.read("topics") { value throws(JSONError) in try Self.topics(value) })
    case .send:
      let conversation: ID<Conversation> = try object.read("conversation_id")
      self = .send(try MessageDraft(&object), in: conversation)
    case .edit:
      let message: ID<Message> = try object.read("message_id")
      self = .edit(message, try MessageChange(&object))
    case .delete: self = .delete(try object.read("message_id"))
    case .setAction: self = .setAction(try object.read("message_id"), try Self.action(&object))
    case .removeAction: self = .removeAction(try object.read("message_id"), try Self.action(&object))
    case .read: self = .read(try object.read("conversation_id"), upTo: try object.read("message_id"))
    case .typing: self = .typing(try object.read("conversation_id"))
    case .presence:
      let states: [String: Signal.Presence] = ["online": .online, "away": .away]
      self = .presence(
        try object.read("state") { value throws(JSONError) in
          let name = try value.string()
          if let state = states[name] ?? (value.isWildcard ? .online : nil) { return state }
          throw value.error(.notAllowed(["online", "away"]))
        },
        showing: try object.optional("conversation_ids") { value throws(JSONError) in
          try Self.list(value, max: RealtimeLimits.shownConversations) { element throws(JSONError) in
            try ID<Conversation>(json: element)
          }
        } ?? [])
    case .publish:
      let app = try object.read("topic") { value throws(JSONError) in
        if value.isWildcard { return "" }
        guard case .app(let name) = try LiveTopic(json: value) else { throw value.error(.invalid) }
        return name
      }
      self = .publish(app: app, try object.raw("data"))
    case .ping: self = .ping
    }
    try object.finish()
  }

  /// The problem of a refused command, with every wrong field and the limits of texts.
  static func problem(of bytes: [UInt8], _ error: JSONError, _ bounds: Bounds) -> Problem {
    guard case .refused(let first) = error else { return Problem(error) }
    do {
      return try Problem.allFaults(of: bytes, first, bounds, checking: { (command: RealtimeCommand) in command.input })
      {
        object in
        _ = try object.value("id")
        return try RealtimeCommand(&object)
      }
    } catch {
      return Problem(error)
    }
  }

  /// The part of a command with limits of its own.
  private var input: (any CheckedInput)? {
    guard case .send(let draft, _) = self else { return nil }
    return draft
  }

  private static func action(_ object: inout JSONObject) throws(JSONError) -> ActionType {
    try object.read("type") { value throws(JSONError) in
      guard let action = ActionType(value.isWildcard ? "like" : try value.string()) else {
        throw value.error(.invalid)
      }
      return action
    }
  }

  private static func topics(_ value: JSONValue) throws(JSONError) -> [LiveTopic] {
    try list(value) { element throws(JSONError) in try LiveTopic(json: element) }
  }

  private static func list<Element>(
    _ value: JSONValue, max: Int = maxTopics, _ read: (JSONValue) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    let elements = try value.array(read)
    guard elements.count <= max else { throw value.error(.invalid) }
    return elements
  }

  /// Whether the command blocks later ones: its text is parsed off the loop, so that a later command would reach the
  /// writer first, or its answer is long.
  var blocksLaterCommands: Bool {
    switch self {
    case .send(let draft, _): draft.text.utf8.count > Self.longText || draft.catchUpAfter != nil
    case .edit(_, let change): (change.text?.utf8.count ?? 0) > Self.longText
    case .hello, .subscribe, .unsubscribe, .delete, .setAction, .removeAction, .read, .typing, .presence, .publish,
      .ping:
      false
    }
  }

  /// The rate limit of a change.
  var rateLimit: RateLimitKind {
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
