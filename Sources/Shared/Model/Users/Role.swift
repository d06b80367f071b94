/// What somebody is at the site. Somebody without an user has no role: *nobody* is the absence of one.
public enum Role: String, Sendable, Hashable, CaseIterable {
  case owner, admin, moderator, member
  /// A program with an user of its own.
  case bot
  /// Limited to the conversations and forums it was invited to.
  case guest

  /// Owners and admins look after the place itself.
  public var isStaff: Bool { self == .owner || self == .admin }
  /// Who keeps order wherever they may read.
  public var isModerator: Bool { isStaff || self == .moderator }

  /// Whether the other looks after more of the place.
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

/// What a way in may be used for. Each includes those before it.
public enum Scope: String, Sendable, Hashable, CaseIterable, Comparable {
  case read, write, admin

  public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .read: 0
    case .write: 1
    case .admin: 2
    }
  }
}
