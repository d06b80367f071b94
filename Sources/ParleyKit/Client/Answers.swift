// What the server answers where nothing of `Model` says it to a client. What it adds later stands in a `Resource`'s representation.

public import JSON
public import Model

/// How a place is set up, for everyone: `GET /server`.
public struct PlaceDescription: JSONReadable, Sendable, Hashable {
  public let name: String
  public let version: String
  /// A client that is older can't speak with it.
  public let leastClient: String
  /// Another after each restore.
  public let epoch: String
  /// How people come in: `open`, `approval`, `invite` or `closed`.
  public let policy: String
  public let isSetUp: Bool
  public let showsLinkPreviews: Bool
  /// By their names, such as `message_scalars`.
  public let limits: [String: Int]

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    name = try object.string("name")
    version = try object.string("version")
    leastClient = try object.string("min_client")
    epoch = try object.string("epoch")
    policy = try object.string("policy")
    isSetUp = try object.bool("set_up")
    showsLinkPreviews = try object.bool("link_previews")
    var all = try object.object("limits")
    var limits: [String: Int] = [:]
    for (name, value) in all.members() where value.kind == .number { limits[name] = try value.int() }
    self.limits = limits
  }
}

/// Somebody who has come in: by name and password, by a link, or as somebody new.
public struct SignedIn: JSONReadable, Sendable, Hashable {
  /// Nil for who waits to be let in.
  public let session: ID<Session>?
  /// Nil where a cookie has it.
  public let token: String?
  public let person: Person

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    session = try object.optional("id")
    token = try object.optional("token")
    person = try object.read("user")
  }
}

/// A way in of one's own: a device's session, or a program's token. The secret is not in it.
public struct WayIn: JSONReadable, Sendable, Hashable {
  public let id: ID<Session>
  /// The device, or what the token is for.
  public let name: String
  public let scope: Scope
  public let createdAt: Timestamp
  public let lastUsedAt: Timestamp?
  public let expiresAt: Timestamp?
  /// The one by which this was asked.
  public let isCurrent: Bool

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    name = try object.string("name")
    scope = try object.word("scope")
    createdAt = try object.read("created_at")
    lastUsedAt = try object.optional("last_used_at")
    expiresAt = try object.optional("expires_at")
    isCurrent = try object.bool("current")
  }
}

/// A token that was made for a program. It is told once.
public struct MadeToken: JSONReadable, Sendable, Hashable {
  public let wayIn: WayIn
  /// Nil where it was made before, and told then.
  public let token: String?

  public init(json value: JSONValue) throws(JSONError) {
    wayIn = try WayIn(json: value)
    var object = try value.object()
    token = try object.optional("token")
  }
}

/// A message that was found by the server, and the part of it that shows why.
public struct FoundMessage: JSONReadable, Sendable, Hashable {
  public let message: SeenMessage
  public let pieces: [SearchSnippet.Piece]
  /// Whether the text has more before and after them.
  public let isCutBefore: Bool
  public let isCutAfter: Bool

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.read("message")
    var snippet = try object.object("snippet")
    pieces = try snippet.value("pieces").array { piece throws(JSONError) in
      var piece = try piece.object()
      return SearchSnippet.Piece(try piece.string("text"), isHit: try piece.bool("hit"))
    }
    isCutBefore = try snippet.bool("cut_before")
    isCutAfter = try snippet.bool("cut_after")
  }
}

/// What waits for a person, and how much of it was not looked at.
public struct Inbox: JSONReadable, Sendable, Hashable {
  public let entries: [SeenInboxEntry]
  public let hasMore: Bool
  public let next: String?
  public let unread: InboxCounts

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    entries = try object.value("data").array { entry throws(JSONError) in
      var members = try entry.object()
      return SeenInboxEntry(try InboxEntry(json: entry), try members.optional("message"))
    }
    hasMore = try object.bool("more")
    next = try object.optional("next")
    unread = try object.read("unread")
  }
}

/// A topic that was made of a message, and the work that brings what answers it, where that goes on.
public struct MadeTopic: JSONReadable, Sendable, Hashable {
  public let topic: ID<Conversation>
  public let message: ID<Message>
  public let job: ID<Job>?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    topic = try object.read("conversation_id")
    message = try object.read("message_id")
    job = try object.optional("job_id")
  }
}

/// An address under which anybody can fetch a file until it ends.
public struct FileLink: JSONReadable, Sendable, Hashable {
  /// Below the server's own address.
  public let path: String
  public let previewPath: String
  public let endsAt: Timestamp

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    path = try object.string("url")
    previewPath = try object.string("preview_url")
    endsAt = try object.read("ends_at")
  }
}

// MARK: What Model has words for

extension SeenJob: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let startedAt: Timestamp = try object.read("created_at")
    let finishedAt: Timestamp? = try object.optional("finished_at")
    self.init(
      id: try object.read("id"), kind: try object.string("kind"), state: try object.word("state"),
      progress: try object.double("progress"), error: try object.optional("error"),
      startedAt: Int64(startedAt.milliseconds), finishedAt: finishedAt.map { Int64($0.milliseconds) })
  }
}

extension MessageRevision: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let at: Timestamp = try object.read("edited_at")
    self.init(
      revision: try object.int("revision"), text: try object.string("text"),
      entities: try object.raw("entities").compact,
      edit: Message.Edit(at: Int64(at.milliseconds), by: try object.read("edited_by")))
  }
}

extension MessageReceipt: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      user: try object.read("user_id"), isDelivered: try object.bool("delivered"), isRead: try object.bool("read"))
  }
}

extension MessageAction: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let at: Timestamp = try object.read("created_at")
    self.init(type: try object.string("type"), user: try object.read("user_id"), at: Int64(at.milliseconds))
  }
}

extension MarkedConversation: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try object.read("conversation_id"),
      Mark(readSeq: try object.int("read_up_to"), deliveredSeq: try object.int("delivered_up_to")),
      unread: try object.int("unread_count"))
  }
}

extension UnreadPlace: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let kind = try object.string("kind")
    self.init(
      kind == "forum" ? .forum : .conversation(try object.word("kind")), try object.read("conversation_id"),
      forum: try object.optional("forum_id"))
    unread = try object.int("unread_count")
    firstUnread = try object.optional("first_unread")
    newTopics = try object.int("new_topics")
    mentions = try object.int("mentions")
    replies = try object.int("replies")
  }
}
