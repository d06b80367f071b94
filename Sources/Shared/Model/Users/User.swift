public import ParleyJSON

/// Public members of a user. Members that depend on the viewer are in `User`.
public struct UserSummary: Sendable, Hashable {
  /// The id of the user.
  public var id: ID<User>
  /// Nil after the user has left; the name is free again.
  public var name: String?
  /// The name shown in place of `name`, at most 64 characters; nil for none.
  public var displayName: String?
  /// The profile text in Markdown, at most 1,000 characters; empty for none.
  public var bio: String
  /// Entities of the bio, for requests of a single user: a JSON object.
  public internal(set) var bioEntities: JSONRaw?
  /// A short text shown beside the name.
  public var statusText: String?
  /// One emoji shown beside the name; nil for none.
  public var statusEmoji: String?
  /// Milliseconds since 1970; nil for a status without end.
  public var statusExpiresAt: Int64?
  /// The role of the user on the site.
  public var role: Role
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The uploaded picture; nil for a drawing of the name.
  public package(set) var avatarFile: ID<File>?
  /// In the order of their creation.
  public package(set) var groups: [ID<UserGroup>] = []
  /// Increases with each change, including private members.
  public var revision: Int

  /// The profile of a user without a status and without groups.
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

  /// Sets `bioEntities` to the mentions, hashtags and links of the bio.
  public mutating func describeBio(_ entities: MessageEntities) {
    var json = JSONWriter()
    json.value(entities)
    bioEntities = JSONRaw(trusted: json.bytes)
  }

  /// Whether the status has a text or an emoji; it may have expired.
  public var hasStatus: Bool { statusText != nil || statusEmoji != nil }

  /// Removes the text, the emoji and the expiry of the status.
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
  /// The public members.
  public var summary: UserSummary
  /// For the user and for moderators.
  public var standing: Standing?
  /// For the user only.
  public var own: Own?

  /// A user with the members that the viewer may read; nil for the others.
  public init(_ summary: UserSummary, standing: Standing? = nil, own: Own? = nil) {
    self.summary = summary
    self.standing = standing
    self.own = own
  }

  /// The members for the user and for moderators.
  public struct Standing: Sendable, Hashable {
    /// The state of the user on the site.
    public var state: UserState
    /// Imported and not claimed by an invite.
    public var isImported: Bool
    /// The last use of a session or token in milliseconds since 1970, to five minutes; nil before the first one.
    public var lastSeenAt: Int64?
    /// The member of the staff that created the bot.
    public var owner: ID<User>?

    /// The state of a user, by default not imported and without an owner.
    public init(state: UserState, isImported: Bool = false, lastSeenAt: Int64? = nil, owner: ID<User>? = nil) {
      self.state = state
      self.isImported = isImported
      self.lastSeenAt = lastSeenAt
      self.owner = owner
    }
  }

  /// The members for the user only: private settings and silences.
  public struct Own: Sendable, Hashable {
    /// Can be found by a known address.
    public var isDiscoverable = false
    /// The users that may start a conversation with this user.
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

    /// The default settings, without silences.
    public init() {}
  }
}

extension UserSummary: Record {
  /// A profile with default values, for visitors of names and types.
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
  /// Settings with default values, for visitors of names and types.
  public static let blank = User.Own()

  /// Visits the settings that a PATCH may change, as JSON members and as columns.
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
  /// All users.
  case anyone
  /// Users in a common forum or conversation.
  case shared
  /// No user.
  case nobody
}

/// State of a user on the site.
public enum UserState: String, Sendable, Hashable, CaseIterable {
  /// Registration awaits approval.
  case pending
  /// May sign in.
  case active
  /// Disabled by staff.
  case disabled
  /// Deactivated by the user; the name stays.
  case deactivated
  /// Deleted; messages stay under "former member".
  case left
  /// Deleted with all messages.
  case erased

  /// Whether the user was deleted: name and profile are gone.
  public var hasGone: Bool { self == .left || self == .erased }
}
