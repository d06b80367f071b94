/// Role on the site. Visitors have none.
public enum Role: String, Sendable, Hashable, CaseIterable {
  /// Roles with an account, by falling rights. Owners and admins are the staff.
  case owner, admin, moderator, member
  /// Program with its own user.
  case bot
  /// Limited to the conversations and forums of the invite.
  case guest

  /// Owners and admins, which manage the site.
  public var isStaff: Bool { self == .owner || self == .admin }
  /// Moderators and staff: they moderate all content that they may read.
  public var isModerator: Bool { isStaff || self == .moderator }

  /// Whether the other role has more permissions.
  public func isBelow(_ other: Role) -> Bool { rank < other.rank }

  private var rank: Int {
    switch self {
    case .owner: 3
    case .admin: 2
    case .moderator: 1
    case .member, .bot, .guest: 0
    }
  }
}

/// Scope of a credential. Each scope includes the previous ones.
public enum Scope: String, Sendable, Hashable, CaseIterable, Comparable {
  /// The name and the picture of the user alone.
  case profile
  /// Rights of a token: to read, to write, to administer.
  case read, write, admin

  /// Whether the first scope permits less than the second.
  public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .profile: 0
    case .read: 1
    case .write: 2
    case .admin: 3
    }
  }
}
