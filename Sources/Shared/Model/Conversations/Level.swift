public import ParleyJSON

/// What somebody wants to hear of a forum or a conversation. It is followed at `everything`.
public enum Level: String, Sendable, Hashable, CaseIterable {
  case everything
  /// Of oneself, and replies.
  case mentions
  case nothing
}

extension Level {
  /// Where nothing was said; a room is as its forum.
  public static func usual(in kind: Conversation.Kind) -> Level {
    switch kind {
    case .direct, .group, .channel: .everything
    case .room, .topic, .feed: .mentions
    }
  }

  public static let usualInForum = Level.mentions
}

/// A level as it is in force, and whether the user has said so.
public struct SetLevel: Sendable, Hashable {
  public var level: Level
  public var isOwn: Bool

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

/// Of what somebody says what they want to hear.
public enum LevelScope: Sendable, Hashable {
  case forum(ID<Forum>)
  case conversation(ID<Conversation>)
}

extension LevelScope {
  /// Ids are unique over both.
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
