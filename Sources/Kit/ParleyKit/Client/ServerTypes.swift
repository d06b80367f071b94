// Responses of the server that have no type in `ParleyModel`. Members that a newer server adds are in
// `Resource.representation`.

public import ParleyJSON
public import ParleyModel

/// The public description of a site: `GET /server`.
public struct ServerInfo: JSONReadable, Sendable, Hashable {
  /// The name of the site.
  public let name: String
  /// The version of the server.
  public let version: String
  /// The minimum version of a client.
  public let minClientVersion: String
  /// Changes with each restore from a backup.
  public let epoch: String
  /// Changes with each start of the server; the second part of its cursors.
  public let start: String
  /// The sign-up policy: `open`, `approval`, `invite` or `closed`.
  public let policy: String
  /// Whether the site has an owner.
  public let isSetUp: Bool
  /// Whether the request was that of a user.
  public let isSignedIn: Bool
  /// Whether the server makes link previews.
  public let showsLinkPreviews: Bool
  /// Whether users may confirm an email address and reset a password by mail.
  public let sendsMail: Bool
  /// Whether users sign up and sign in with passwords.
  public let allowsPasswordSignIn: Bool
  /// OpenID providers that sign users in.
  public let issuers: [IssuerInfo]
  /// The public half of the key that signs checkpoints, in hex. A site of an earlier version has none.
  public let siteKey: String?
  /// The key that devices subscribe to push messages with; nil if the server sends none.
  public let vapidKey: String?
  /// Address of the operator: a web page or `mailto:`.
  public let contactURL: String?
  /// The privacy policy of the site.
  public let privacyURL: String?
  /// Limits by name, such as `message_scalars`.
  public let limits: [String: Int]

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    name = try object.string("name")
    version = try object.string("version")
    minClientVersion = try object.string("min_client")
    epoch = try object.string("epoch")
    start = try object.string("start")
    policy = try object.string("policy")
    isSetUp = try object.bool("set_up")
    isSignedIn = try object.optional("signed_in") ?? false
    showsLinkPreviews = try object.bool("link_previews")
    sendsMail = try object.optional("mail") ?? false
    allowsPasswordSignIn = try object.optional("password_sign_in") ?? true
    issuers = try object.optional("issuers") ?? []
    siteKey = try object.optional("site_key")
    vapidKey = try object.optional("vapid_key")
    contactURL = try object.optional("contact_url")
    privacyURL = try object.optional("privacy_url")
    var all = try object.object("limits")
    var limits: [String: Int] = [:]
    for (name, value) in all.members() where value.kind == .number { limits[name] = try value.int() }
    self.limits = limits
  }
}

/// An OpenID provider that signs users in. In a browser `/oidc/<id>` of the site leads there and back.
public struct IssuerInfo: JSONReadable, Sendable, Hashable {
  /// The id in addresses of the site.
  public let id: String
  /// The name on buttons.
  public let name: String
  /// Its identifier, as in the `issuers` of `step_up_required`.
  public let url: String

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.string("id")
    name = try object.string("name")
    url = try object.string("url")
  }
}

/// The response to a sign-in, a sign-up or the use of a link.
public struct SignInResult: JSONReadable, Sendable, Hashable {
  /// Nil while the user is pending approval.
  public let session: ID<Session>?
  /// Nil if it was set as a cookie.
  public let token: String?
  /// The signed-in user.
  public let user: User

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    session = try object.optional("id")
    token = try object.optional("token")
    user = try object.read("user")
  }
}

/// A session of the caller's device or a token of a program, without the secret.
public struct Credential: JSONReadable, Sendable, Hashable {
  /// The id, for a revocation.
  public let id: ID<Session>
  /// The device, or the name of the token.
  public let name: String
  /// The rights of the token.
  public let scope: Scope
  /// The time of its creation.
  public let createdAt: Timestamp
  /// The time of its last request; nil before the first.
  public let lastUsedAt: Timestamp?
  /// The time of its end; nil without one.
  public let expiresAt: Timestamp?
  /// The network of the last use, without the end of the address.
  public let address: String?
  /// Whether this request used it.
  public let isCurrent: Bool
  /// The limits of a token, besides its scope.
  public let limits: TokenLimits

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    name = try object.string("name")
    scope = try object.word("scope")
    createdAt = try object.read("created_at")
    lastUsedAt = try object.optional("last_used_at")
    expiresAt = try object.optional("expires_at")
    address = try object.optional("address")
    isCurrent = try object.bool("current")
    let forums: [ID<Forum>]? = try object.optional("forums")
    limits = TokenLimits(forums: forums.map { Set($0) }, rate: try object.optional("rate_limit"))
  }
}

/// A newly created token. Its secret is returned once.
public struct NewToken: JSONReadable, Sendable, Hashable {
  /// The token without its secret.
  public let credential: Credential
  /// Nil if an earlier response with this idempotency key has returned it.
  public let token: String?

  public init(json value: JSONValue) throws(JSONError) {
    credential = try Credential(json: value)
    var object = try value.object()
    token = try object.optional("token")
  }
}

/// A bot with its token.
public struct NewBot: JSONReadable, Sendable, Hashable {
  /// The bot.
  public let user: User
  /// Nil if an earlier response with this idempotency key has returned it.
  public let token: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    user = try object.read("user")
    token = try object.optional("token")
  }
}

/// A webhook with its URL.
public struct NewWebhook: JSONReadable, Sendable, Hashable {
  /// The webhook.
  public let webhook: Webhook
  /// Nil if an earlier response with this idempotency key has returned it.
  public let url: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    webhook = try Webhook(&object)
    url = try object.optional("url")
  }
}

/// An outgoing webhook with its secret.
public struct NewWebhookEndpoint: JSONReadable, Sendable, Hashable {
  /// The endpoint.
  public let endpoint: WebhookEndpoint
  /// `whsec_…` of Standard Webhooks. Nil if an earlier response with this idempotency key has returned it.
  public let secret: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    endpoint = try WebhookEndpoint(&object)
    secret = try object.optional("secret")
  }
}

/// An app with its secret.
public struct NewApp: JSONReadable, Sendable, Hashable {
  /// The app. Its id is the `client_id` of OAuth.
  public let app: App
  /// Nil for an app without a secret, and in the response to a repeated request.
  public let secret: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    app = try App(&object)
    secret = try object.optional("secret")
  }
}

/// A slash command with its secret.
public struct NewSlashCommand: JSONReadable, Sendable, Hashable {
  /// The command.
  public let command: SlashCommand
  /// `whsec_…` of Standard Webhooks. Nil if an earlier response with this idempotency key has returned it.
  public let secret: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    command = try SlashCommand(&object)
    secret = try object.optional("secret")
  }
}

/// A message found by the server's search, or a topic found by its title, with a snippet.
public struct SearchMatch: JSONReadable, Sendable, Hashable {
  /// Nil for a topic found by its title.
  public let message: MessageView?
  /// The topic, or the conversation of the message.
  public let conversation: ID<Conversation>
  /// The forum of a room or topic; nil for other conversations.
  public let forum: ID<Forum>?
  /// The title that was found.
  public let title: String?
  /// The parts of the text around the hits.
  public let pieces: [SearchSnippet.Piece]
  /// Whether the snippet omits text before or after it.
  public let isCutBefore: Bool
  /// Whether the text goes on after the last piece.
  public let isCutAfter: Bool

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    message = try object.optional("message")
    conversation = try object.read("conversation_id")
    forum = try object.optional("forum_id")
    title = try object.optional("title")
    var snippet = try object.object("snippet")
    pieces = try snippet.value("pieces").array { piece throws(JSONError) in
      var piece = try piece.object()
      return SearchSnippet.Piece(try piece.string("text"), isHit: try piece.bool("hit"))
    }
    isCutBefore = try snippet.bool("cut_before")
    isCutAfter = try snippet.bool("cut_after")
  }
}

/// A page of notifications and the unread counts.
public struct Inbox: JSONReadable, Sendable, Hashable {
  /// The notifications, newest first.
  public let entries: [NotificationView]
  /// The position of the next page.
  public let next: String?
  /// The position of the page before.
  public let previous: String?
  /// The counts of unread notifications.
  public let unread: InboxCounts

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    entries = try object.value("data").array { entry throws(JSONError) in
      var members = try entry.object()
      return NotificationView(try Notification(json: entry), try members.optional("message"))
    }
    next = try object.optional("next")
    previous = try object.optional("previous")
    unread = try object.read("unread")
  }
}

/// A topic created from a message, and the job that moves the replies, if it is still running.
public struct NewTopic: JSONReadable, Sendable, Hashable {
  /// The topic.
  public let topic: ID<Conversation>
  /// The copy of the message that the topic was made of.
  public let message: ID<Message>
  /// The job that copies the rest of a long branch.
  public let job: ID<Job>?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    topic = try object.read("conversation_id")
    message = try object.read("message_id")
    job = try object.optional("job_id")
  }
}

/// A signed link. Anyone can download the file with it until it expires.
public struct FileLink: JSONReadable, Sendable, Hashable {
  /// Relative to the server's address.
  public let path: String
  /// The path of the preview picture.
  public let previewPath: String
  /// The end of the link.
  public let endsAt: Timestamp

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    path = try object.string("url")
    previewPath = try object.string("preview_url")
    endsAt = try object.read("expires_at")
  }
}

/// A background job. `Request.getJob` returns its progress.
public struct StartedJob: JSONReadable, Sendable, Hashable {
  /// The job that does the work.
  public let job: ID<Job>

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    job = try object.read("job_id")
  }
}

/// The unread counts of the inbox.
public struct UnreadInbox: JSONReadable, Sendable, Hashable {
  /// The counts of unread notifications after the change.
  public let unread: InboxCounts

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    unread = try object.read("unread")
  }
}

/// An updated conversation. A topic has the form of its forum's list.
public enum ChangedConversation: JSONReadable, Sendable, Hashable {
  /// Any conversation besides a topic, with the caller's state in it.
  case own(OwnConversation)
  /// A topic of a forum.
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

/// A newly created invite. Its code is returned once.
public struct InviteWithCode: JSONReadable, Sendable, Hashable {
  /// The invite without its code.
  public let invite: Invite
  /// Nil if the request was repeated with its `client_id`.
  public let code: String?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    code = try object.optional("code")
    invite = try Invite(json: value)
  }
}

/// The outcome of the recovery of a user by the staff.
public struct UserRecovery: JSONReadable, Sendable, Hashable {
  /// Sets a new password; nil if the site has switched passwords off.
  public let link: PasswordResetLink?

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    link = try object.optional("link")
  }
}

/// A one-time link that sets a new password.
public struct PasswordResetLink: JSONReadable, Sendable, Hashable {
  /// The code, which is returned only once.
  public let code: String
  /// The link with the code.
  public let address: String
  /// The end of the link.
  public let expiresAt: Timestamp

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    code = try object.string("code")
    address = try object.string("url")
    expiresAt = try object.read("expires_at")
  }
}

/// An entry of the audit log.
public struct AuditRecord: JSONReadable, Sendable, Hashable {
  /// The entry's id.
  public let id: ID<AuditEntry>
  /// The time of the action.
  public let at: Timestamp
  /// The acting user.
  public let actor: ID<User>
  /// Nil for an action that this version does not know; see `kindName`.
  public let kind: AuditedAction?
  /// The name of the action, such as `user.banned`.
  public let kindName: String
  /// The id of the subject; nil for the site.
  public let subject: Int?
  /// The forum of the action.
  public let forum: ID<Forum>?
  /// The reason that the actor has given.
  public let reason: String?
  /// The changed fields.
  public let changes: [ChangedField]
  /// The author of a bulk removal and of its end; nil for all users of an invite.
  public let author: ID<User>?
  /// The number of messages that it has removed or restored so far.
  public let messageCount: Int?

  /// A changed field. A text may have its name only.
  public struct ChangedField: JSONReadable, Sendable, Hashable {
    /// The name of the changed field.
    public let field: String
    /// The value before.
    public let from: JSONRaw?
    /// The value after.
    public let to: JSONRaw?

    public init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      field = try object.string("field")
      from = object.member("from")?.raw
      to = object.member("to")?.raw
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    at = try object.read("at")
    actor = try object.read("actor_id")
    kindName = try object.string("kind")
    kind = AuditedAction(rawValue: kindName)
    // All types of ids have the same JSON form.
    let subject: ID<AuditEntry>? = try object.optional("subject_id")
    self.subject = subject?.number
    forum = try object.optional("forum_id")
    reason = try object.optional("reason")
    changes = try object.optional("changes") ?? []
    author = try object.optional("author_id")
    messageCount = try object.optional("messages")
  }
}

// MARK: Words of list requests

/// The order of the messages of a conversation.
public enum MessageOrder: String, Sendable, Hashable, CaseIterable {
  /// By `seq`, ascending.
  case oldestFirst = "asc"
  /// By `seq`, descending.
  case newestFirst = "desc"
}

/// The order of the hits of a search.
public enum SearchResultOrder: String, Sendable, Hashable, CaseIterable {
  /// By time, the newest first.
  case newest
  /// The best match first, in one page.
  case best
}

/// The groups of a list of reports.
public enum ReportGrouping: String, Sendable, Hashable, CaseIterable {
  /// The newest report about each user, with the others about this user.
  case user
}
