public import ParleyJSON

/// Public members of a user. Members that depend on the viewer are in `User`.
public struct UserSummary: Sendable, Hashable {
  public var id: ID<User>
  /// Nil after the user has left; the name is free again.
  public var name: String?
  public var displayName: String?
  public var bio: String
  /// Entities of the bio, for requests of a single user: a JSON object.
  public internal(set) var bioEntities: JSONRaw?
  /// A short text shown beside the name.
  public var statusText: String?
  public var statusEmoji: String?
  /// Milliseconds since 1970; nil for a status without end.
  public var statusExpiresAt: Int64?
  public var role: Role
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// In the order of their creation.
  public package(set) var groups: [ID<UserGroup>] = []
  /// Increases with each change, including private members.
  public var revision: Int

  public init(
    id: ID<User>, name: String?, displayName: String? = nil, bio: String = "", role: Role, createdAt: Int64,
    revision: Int = 1
  ) {
    self.id = id
    self.name = name
    self.displayName = displayName
    self.bio = bio
    self.role = role
    self.createdAt = createdAt
    self.revision = revision
  }

  public mutating func describeBio(_ entities: MessageEntities) {
    var json = JSONWriter()
    json.value(entities)
    bioEntities = JSONRaw(trusted: json.bytes)
  }

  public var hasStatus: Bool { statusText != nil || statusEmoji != nil }

  public mutating func clearStatus() {
    statusText = nil
    statusEmoji = nil
    statusExpiresAt = nil
  }

  /// URL path of the picture: an upload, or a drawing of the name.
  public var avatar: String { "/api/v1/users/\(id)/avatar" }
}

/// A user as one viewer sees it.
public struct User: Sendable, Hashable {
  public var summary: UserSummary
  /// For the user and for moderators.
  public var standing: Standing?
  /// For the user only.
  public var own: Own?

  public init(_ summary: UserSummary, standing: Standing? = nil, own: Own? = nil) {
    self.summary = summary
    self.standing = standing
    self.own = own
  }

  public struct Standing: Sendable, Hashable {
    public var state: UserState
    /// Imported and not claimed by an invite.
    public var isImported: Bool
    public var lastSeenAt: Int64?
    /// The member of the staff that created the bot.
    public var owner: ID<User>?

    public init(state: UserState, isImported: Bool = false, lastSeenAt: Int64? = nil, owner: ID<User>? = nil) {
      self.state = state
      self.isImported = isImported
      self.lastSeenAt = lastSeenAt
      self.owner = owner
    }
  }

  public struct Own: Sendable, Hashable {
    /// Can be found by a known address.
    public var isDiscoverable = false
    public var reachableBy = Reach.anyone
    /// Shares read positions in both directions.
    public var showsReceipts = true
    /// Shares presence with other users.
    public var showsPresence = true
    /// Shares the list of starred messages with other users.
    public var showsStars = false
    /// Settings of clients: a JSON object.
    public var preferences = JSONRaw(trusted: Array("{}".utf8))
    /// On the whole site and in forums; also those that have ended by themselves.
    public package(set) var silences: [Silence] = []

    public init() {}
  }
}

extension UserSummary: Record {
  public static let blank = UserSummary(id: ID(0), name: nil, role: .guest, createdAt: 0)

  /// The name is null only for a former user, and no PATCH may clear it.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<UserSummary>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("display_name", &displayName, \.displayName)
    try visitor.field("bio", &bio, \.bio)
    try visitor.field("status_text", &statusText, \.statusText)
    try visitor.field("status_emoji", &statusEmoji, \.statusEmoji)
    try visitor.field("status_expires_at", &statusExpiresAt, \.statusExpiresAt)
    try visitor.field("role", &role, \.role)
  }
}

extension User.Own: Record {
  public static let blank = User.Own()

  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<User.Own>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("discoverable", &isDiscoverable, \.isDiscoverable)
    try visitor.field("reachable_by", &reachableBy, \.reachableBy)
    try visitor.field("show_receipts", &showsReceipts, \.showsReceipts, column: "shows_receipts")
    try visitor.field("show_presence", &showsPresence, \.showsPresence, column: "shows_presence")
    try visitor.field("show_stars", &showsStars, \.showsStars, column: "shows_stars")
    try visitor.field("preferences", &preferences, \.preferences)
  }
}

/// Users that may send a first message.
public enum Reach: String, Sendable, Hashable, CaseIterable {
  case anyone
  /// Users in a common forum or conversation.
  case shared
  case nobody
}

/// State of a user on the site.
public enum UserState: String, Sendable, Hashable, CaseIterable {
  /// Registration awaits approval.
  case pending
  case active
  /// Disabled by staff.
  case disabled
  /// Deactivated by the user; the name stays.
  case deactivated
  /// Deleted; messages stay under "former member".
  case left
  /// Deleted with all messages.
  case erased

  public var hasGone: Bool { self == .left || self == .erased }
}
