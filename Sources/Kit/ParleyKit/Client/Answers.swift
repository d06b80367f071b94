// What the server answers where nothing of `Model` says it to a client. What it adds later stands in a `Resource`'s representation.

public import ParleyJSON
public import ParleyModel

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

/// Work that goes on in the background; `Request.job` says how far it is.
public struct BegunJob: JSONReadable, Sendable, Hashable {
  public let job: ID<Job>

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    job = try object.read("job_id")
  }
}

/// How much waits for a person.
public struct WaitingInbox: JSONReadable, Sendable, Hashable {
  public let unread: InboxCounts

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    unread = try object.read("unread")
  }
}

/// A conversation that was changed. A topic is told as its forum lists it.
public enum ChangedConversation: JSONReadable, Sendable, Hashable {
  case own(OwnConversation)
  case topic(Topic)

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    if try object.optional("last_offset") as Int? != nil {
      self = .own(try OwnConversation(json: value))
    } else {
      self = .topic(try Topic(json: value))
    }
  }
}

/// An invite: all of it to its maker and to those who keep order, the welcome to everyone else.
public enum SeenInvite: JSONReadable, Sendable, Hashable {
  case whole(Invite)
  case welcome(Welcome)

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    if try object.optional("code") as String? != nil {
      self = .whole(try Invite(json: value))
    } else {
      self = .welcome(try Welcome(json: value))
    }
  }
}

/// A one-time link for somebody who has lost the password.
public struct ResetLink: JSONReadable, Sendable, Hashable {
  public let code: String
  public let address: String
  public let expiresAt: Timestamp

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    code = try object.string("code")
    address = try object.string("url")
    expiresAt = try object.read("expires_at")
  }
}

/// Something that was done by those who look after the place or keep order.
public struct AuditLine: JSONReadable, Sendable, Hashable {
  public let id: ID<AuditEntry>
  public let at: Timestamp
  public let actor: ID<Account>
  /// Nil for what a newer server does and nobody knows here; `word` says it all the same.
  public let kind: AuditedAction?
  public let word: String
  /// What it was done to; nil for the place.
  public let subject: Int?
  /// The forum that it was done in.
  public let forum: ID<Forum>?
  public let reason: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    at = try object.read("at")
    actor = try object.read("actor_id")
    word = try object.string("kind")
    kind = AuditedAction(rawValue: word)
    // Whatever it is, it has an id of the one kind that all have.
    let subject: ID<AuditEntry>? = try object.optional("subject_id")
    self.subject = subject?.number
    forum = try object.optional("forum_id")
    reason = try object.optional("reason")
  }
}

/// What stands behind a link, as its page says it.
public struct LinkedPage: JSONReadable, Sendable, Hashable {
  /// Where the link leads to in the end.
  public let address: String
  public let title: String?
  public let about: String?
  public let siteName: String?
  /// Whether the link itself leads to a picture.
  public let isImage: Bool
  public let picture: Picture?
  /// The picture as a file of one's own, where that was asked for.
  public let file: File?

  public struct Picture: JSONReadable, Sendable, Hashable {
    public let mimeType: String
    public let size: Int
    public let width: Int
    public let height: Int
    /// Below the server's own address.
    public let path: String

    public init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      mimeType = try object.string("mime_type")
      size = try object.int("size")
      width = try object.int("width")
      height = try object.int("height")
      path = try object.string("url")
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    address = try object.string("url")
    title = try object.optional("title")
    about = try object.optional("description")
    siteName = try object.optional("site_name")
    isImage = try object.bool("image")
    picture = try object.optional("picture")
    file = try object.optional("file")
  }
}
