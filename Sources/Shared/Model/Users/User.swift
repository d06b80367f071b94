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
  public var role: Role
  /// Milliseconds since 1970.
  public var createdAt: Int64
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

    public init(state: UserState, isImported: Bool = false, lastSeenAt: Int64? = nil) {
      self.state = state
      self.isImported = isImported
      self.lastSeenAt = lastSeenAt
    }
  }

  public struct Own: Sendable, Hashable {
    /// Can be found by a known address.
    public var isDiscoverable: Bool
    public var reachableBy: Reach
    /// Shares read positions in both directions.
    public var showsReceipts: Bool
    /// Shares presence with other users.
    public var showsPresence: Bool
    /// Settings of clients: a JSON object.
    public var preferences: JSONRaw

    public init(
      isDiscoverable: Bool, reachableBy: Reach, showsReceipts: Bool, showsPresence: Bool = true, preferences: JSONRaw
    ) {
      self.isDiscoverable = isDiscoverable
      self.reachableBy = reachableBy
      self.showsReceipts = showsReceipts
      self.showsPresence = showsPresence
      self.preferences = preferences
    }
  }
}

/// Users that may send a first message.
public enum Reach: String, Sendable, Hashable, CaseIterable {
  case anyone
  /// Users in a common forum or conversation.
  case shared
  case nobody
}
