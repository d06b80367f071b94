public import ParleyJSON

/// A user as everyone sees them who may see them. What depends on the viewer is in `User`.
public struct UserSummary: Sendable, Hashable {
  public var id: ID<User>
  /// Nil for who has left: the name is free again.
  public var name: String?
  public var displayName: String?
  public var bio: String
  /// What the bio names, where one user is asked for alone: a JSON object.
  public internal(set) var bioEntities: JSONRaw?
  public var role: Role
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// Each change makes it greater, of what only the user sees too.
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

  /// Where the picture is: an upload, or a drawing made of the name.
  public var avatar: String { "/api/v1/users/\(id)/avatar" }
}

/// A user as one viewer sees them.
public struct User: Sendable, Hashable {
  public var summary: UserSummary
  /// For the user, and for those who keep order.
  public var standing: Standing?
  /// For the user alone.
  public var own: Own?

  public init(_ summary: UserSummary, standing: Standing? = nil, own: Own? = nil) {
    self.summary = summary
    self.standing = standing
    self.own = own
  }

  public struct Standing: Sendable, Hashable {
    public var state: UserState
    /// Came with an import, and no invite has claimed it.
    public var isImported: Bool
    public var lastSeenAt: Int64?

    public init(state: UserState, isImported: Bool = false, lastSeenAt: Int64? = nil) {
      self.state = state
      self.isImported = isImported
      self.lastSeenAt = lastSeenAt
    }
  }

  public struct Own: Sendable, Hashable {
    /// May be found by who knows an address of theirs.
    public var isDiscoverable: Bool
    public var reachableBy: Reach
    /// Whether others see how far they have read, and they how far others have.
    public var showsReceipts: Bool
    /// Whether others see that they are here.
    public var showsPresence: Bool
    /// What clients keep for the user: a JSON object.
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

/// Who may write to somebody first.
public enum Reach: String, Sendable, Hashable, CaseIterable {
  case anyone
  /// Who is in a forum or conversation with them.
  case shared
  case nobody
}
