/// Somebody and a user they ask about.
public struct UserStanding: Sendable, Hashable {
  /// The other's.
  public var role: Role
  public var state: UserState
  public var isSelf: Bool
  /// In a forum or a conversation together.
  public var isTogether: Bool
  /// The other takes part where everyone reads.
  public var isInPublic: Bool
  /// One of the two has blocked the other.
  public var isBlocked: Bool

  public init(
    role: Role, state: UserState = .active, isSelf: Bool = false, isTogether: Bool = false, isInPublic: Bool = false,
    isBlocked: Bool = false
  ) {
    self.role = role
    self.state = state
    self.isSelf = isSelf
    self.isTogether = isTogether
    self.isInPublic = isInPublic
    self.isBlocked = isBlocked
  }
}
