public import ParleyJSON

/// Topic of a subscription.
public enum LiveTopic: Sendable, Hashable {
  /// The user's own stream, the site's, and every conversation in which the user participates.
  case me
  /// All events of a conversation.
  case conversation(ID<Conversation>)
  /// Changes of a forum: topics, members and activity, without message texts.
  case forum(ID<Forum>)
  /// Every event of every conversation of a forum that the user may read, new topics included.
  case forumMessages(ID<Forum>)
  /// The feeds of the users that the user follows, and the user's own.
  case timeline
  /// Presence of users.
  case presence
  /// Messages between programs. None of them is stored.
  case app(String)

  /// The maximum length of the name of an `app` topic, in bytes.
  public static let maxNameBytes = 64

  /// Whether its events are in the event log and can be resumed.
  public var isLogged: Bool {
    switch self {
    case .me, .conversation, .forum, .forumMessages, .timeline: true
    case .presence, .app: false
    }
  }
}

extension LiveTopic: LosslessStringConvertible {
  /// `me`, `conversation:12`, `forum:3`, `forum:3/messages`, `timeline`, `presence` or `app:com.example.game`.
  public init?(_ text: String) {
    switch text {
    case "me": self = .me
    case "timeline": self = .timeline
    case "presence": self = .presence
    default:
      guard let colon = text.firstIndex(of: ":") else { return nil }
      let name = String(text[text.index(after: colon)...])
      switch text[..<colon] {
      case "conversation":
        guard let id = ID<Conversation>(name) else { return nil }
        self = .conversation(id)
      case "forum":
        let isOfMessages = name.hasSuffix(Self.messagesSuffix)
        guard let id = ID<Forum>(isOfMessages ? String(name.dropLast(Self.messagesSuffix.count)) : name) else {
          return nil
        }
        self = isOfMessages ? .forumMessages(id) : .forum(id)
      case "app":
        guard Self.isName(name) else { return nil }
        self = .app(name)
      default: return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .me: "me"
    case .conversation(let id): "conversation:\(id)"
    case .forum(let id): "forum:\(id)"
    case .forumMessages(let id): "forum:\(id)\(Self.messagesSuffix)"
    case .timeline: "timeline"
    case .presence: "presence"
    case .app(let name): "app:\(name)"
    }
  }

  private static let messagesSuffix = "/messages"

  /// Letters, digits, `.`, `_` and `-`.
  private static func isName(_ text: String) -> Bool {
    (1...maxNameBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

extension LiveTopic: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let topic = LiveTopic(try value.string()) else { throw value.error(.invalid) }
    self = topic
  }

  public func write(to json: inout JSONWriter) { json.value(description) }
}
