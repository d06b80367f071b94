public import ParleyJSON

/// Ephemeral event: without an offset in a stream, and dropped first for a slow consumer.
public enum Signal: Sendable, Hashable {
  /// A user types, or has stopped.
  case typing(ID<Conversation>, by: ID<User>, isTyping: Bool)
  /// The presence of a user has changed; the time is in milliseconds since 1970.
  case presence(ID<User>, Presence, lastSeenAt: Int64?)
  /// New message in a conversation of the forum.
  case activity(ID<Forum>, ID<Conversation>, lastMessage: ID<Message>)
  /// Message between programs, as it was sent.
  case app(String, from: ID<User>, data: JSONRaw)

  /// Presence of a user.
  public enum Presence: String, Sendable, Hashable, CaseIterable {
    /// Active, connected without activity, or not connected.
    case online, away, offline
  }

  /// Subscribers of the signal.
  public var audience: Audience {
    switch self {
    case .typing(let conversation, _, _): .stream(.conversation(conversation))
    case .presence: .presence
    case .activity(let forum, _, _): .stream(.forum(forum))
    case .app(let name, _, _): .app(name)
    }
  }

  /// Subscribers of a signal: those of a stream, of presence, or of an `app` topic.
  public enum Audience: Sendable, Hashable {
    /// Subscribers of a stream.
    case stream(EventStream)
    /// Subscribers of the topic `presence`.
    case presence
    /// Subscribers of the topic `app:` with this name.
    case app(String)
  }

  /// User excluded from the broadcast, with all devices.
  public var sender: ID<User>? {
    switch self {
    case .typing(_, let user, _): user
    case .presence, .activity, .app: nil
    }
  }
}

extension Signal: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      switch self {
      case .typing(let conversation, let user, let isTyping):
        json.field("event", "typing")
        json.field("stream", EventStream.conversation(conversation).description)
        json.object("data") { json in
          json.field("conversation_id", conversation)
          json.field("user_id", user)
          json.field("typing", isTyping)
        }
      case .presence(let user, let presence, let lastSeenAt):
        json.field("event", "presence")
        json.object("data") { json in
          json.field("user_id", user)
          json.field("presence", presence.rawValue)
          json.field("last_seen_at", lastSeenAt.map { Timestamp($0) })
        }
      case .activity(let forum, let conversation, let message):
        json.field("event", "forum.activity")
        json.field("stream", EventStream.forum(forum).description)
        json.object("data") { json in
          json.field("forum_id", forum)
          json.field("conversation_id", conversation)
          json.field("last_message_id", message)
        }
      case .app(let name, let user, let data):
        json.field("event", "app")
        json.field("topic", LiveTopic.app(name))
        json.object("data") { json in
          json.field("user_id", user)
          json.field("data", data)
        }
      }
    }
  }
}

extension JSONWritable {
  /// The value alone, encoded as UTF-8 bytes.
  public var jsonBytes: [UInt8] {
    var json = JSONWriter()
    json.value(self)
    return json.bytes
  }
}
