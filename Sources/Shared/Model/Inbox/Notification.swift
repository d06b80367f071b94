public import ParleyJSON

/// Notification for one user: kind, actor and references. It holds no text.
public struct Notification: Sendable, Hashable {
  /// The id of the notification.
  public let id: ID<Notification>
  /// The reason for the notification, which decides the other members.
  public let kind: Kind
  /// The id of the conversation; nil for kinds without one.
  public let conversation: ID<Conversation>?
  /// Nil for kinds without a message.
  public let message: ID<Message>?
  /// The id of the report for moderators; nil for other kinds.
  public let report: ID<Report>?
  /// The id of the warning; nil for other kinds.
  public let sanction: ID<Sanction>?
  /// The id of the session of a sign-in; nil for other kinds.
  public let session: ID<Session>?
  /// The name of the state of an alert, such as `disk`.
  public let alert: String?
  /// The user that caused it.
  public let actor: ID<User>?
  /// The time of the notification, in milliseconds since 1970.
  public let createdAt: Int64
  /// The time of reading, in milliseconds since 1970; nil while unread.
  public let readAt: Int64?

  /// Reason for the notification.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A mention of the user, or a reply to a message of the user.
    case mention, reply
    /// New message in a direct conversation.
    case direct
    /// Room mention.
    case room
    /// Message request from an unknown user.
    case request
    /// For moderators.
    case report
    /// From moderators; the sanction has the reason.
    case warning
    /// New token of the user.
    case token
    /// Two-step sign-in of the user is on.
    case secondFactorEnabled = "second_factor_enabled"
    /// By the user or by staff.
    case secondFactorDisabled = "second_factor_disabled"
    /// New recovery codes of the user, which replace earlier ones.
    case recoveryCodesCreated = "recovery_codes_created"
    /// Use of a recovery code instead of the second factor.
    case recoveryCodeUsed = "recovery_code_used"
    /// Sign-in from a new device; the session is that of the sign-in.
    case signIn = "sign_in"
    /// Deliveries to an outgoing webhook of the user have ended.
    case endpointDisabled = "endpoint_disabled"
    /// New passkey of the user.
    case passkeyCreated = "passkey_created"
    /// By the user or by staff.
    case passkeyDeleted = "passkey_deleted"
    /// The counter of a passkey fell: there may be a copy of it.
    case passkeyCopied = "passkey_copied"
    /// An account at an OpenID provider signs the user in.
    case identityLinked = "identity_linked"
    /// The account at an OpenID provider no longer signs the user in.
    case identityUnlinked = "identity_unlinked"
    /// For owners and admins: a state of the server that needs its operator.
    case alert
  }

  /// A notification, unread and without references by default.
  public init(
    id: ID<Notification>, kind: Kind, conversation: ID<Conversation>? = nil, message: ID<Message>? = nil,
    report: ID<Report>? = nil, sanction: ID<Sanction>? = nil, session: ID<Session>? = nil, alert: String? = nil,
    actor: ID<User>? = nil,
    createdAt: Int64, readAt: Int64? = nil
  ) {
    self.id = id
    self.kind = kind
    self.conversation = conversation
    self.message = message
    self.report = report
    self.sanction = sanction
    self.session = session
    self.alert = alert
    self.actor = actor
    self.createdAt = createdAt
    self.readAt = readAt
  }
}

extension Notification: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// Writes the members into an open object of a larger response.
  public func writeFields(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("kind", kind.rawValue)
    json.field("conversation_id", conversation)
    json.field("message_id", message)
    json.field("report_id", report)
    json.field("sanction_id", sanction)
    json.field("session_id", session)
    json.field("alert", alert)
    json.field("actor_id", actor)
    json.field("created_at", Timestamp(createdAt))
    json.field("read_at", readAt.map { Timestamp($0) })
  }
}

extension Notification: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    let readAt: Timestamp? = try object.optional("read_at")
    self.init(
      id: try object.read("id"), kind: try object.word("kind"), conversation: try object.optional("conversation_id"),
      message: try object.optional("message_id"), report: try object.optional("report_id"),
      sanction: try object.optional("sanction_id"), session: try object.optional("session_id"),
      alert: try object.optional("alert"),
      actor: try object.optional("actor_id"),
      createdAt: Int64(createdAt.milliseconds), readAt: readAt.map { Int64($0.milliseconds) })
  }
}

/// Unread notifications by kind.
public struct InboxCounts: Sendable, Hashable {
  /// Upper bound of the count over all kinds, from the newest.
  public static let maxCounted = 1_000

  /// Unread notifications by kind; kinds without any are absent.
  public private(set) var counts: [Notification.Kind: Int] = [:]

  /// Counts of an inbox without unread notifications.
  public init() {}

  /// Counts one more notification of a kind.
  public mutating func add(_ kind: Notification.Kind) { counts[kind, default: 0] += 1 }

  /// The count over all kinds.
  public var total: Int { counts.values.reduce(0, +) }
}

extension InboxCounts: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    for kind in Notification.Kind.allCases {
      let count = try object.int(kind.rawValue, in: 0...Int.max)
      if count > 0 { counts[kind] = count }
    }
  }
}

extension InboxCounts: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      for kind in Notification.Kind.allCases { json.field(kind.rawValue, counts[kind] ?? 0) }
      json.field("all", total)
    }
  }
}
