public import ParleyJSON

/// Notification level of a forum or a conversation. UI texts call `everything` *Follow*.
public enum Level: String, Sendable, Hashable, CaseIterable {
  /// All messages.
  case everything
  /// Mentions of the user and replies to the user.
  case mentions
  /// No notification.
  case nothing
}

extension Level {
  /// Default level; a room inherits from its forum.
  public static func usual(in kind: Conversation.Kind) -> Level {
    switch kind {
    case .direct, .group, .channel: .everything
    case .room, .topic, .feed: .mentions
    }
  }

  /// Default level of a forum.
  public static let usualInForum = Level.mentions
}

/// Effective level, and whether the user has set it.
public struct SetLevel: Sendable, Hashable {
  /// The level that applies now.
  public var level: Level
  /// Whether the user has set the level; false for the default.
  public var isOwn: Bool

  /// A level, and its origin: set by the user, or the default.
  public init(_ level: Level, isOwn: Bool) {
    self.level = level
    self.isOwn = isOwn
  }
}

extension SetLevel: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("level", level.rawValue)
      json.field("set", isOwn)
    }
  }
}

extension SetLevel: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.word("level"), isOwn: try object.bool("set"))
  }
}

/// Object of a notification level.
public enum LevelScope: Sendable, Hashable {
  /// The forum with this id.
  case forum(ID<Forum>)
  /// The conversation with this id.
  case conversation(ID<Conversation>)
}

extension LevelScope {
  /// Ids are unique over both kinds.
  var number: Int {
    switch self {
    case .forum(let id): id.number
    case .conversation(let id): id.number
    }
  }

  func writeMember(to json: inout JSONWriter) {
    switch self {
    case .forum(let id): json.field("forum_id", id)
    case .conversation(let id): json.field("conversation_id", id)
    }
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    if let forum: ID<Forum> = try object.optional("forum_id") {
      self = .forum(forum)
    } else {
      self = .conversation(try object.read("conversation_id"))
    }
  }
}
