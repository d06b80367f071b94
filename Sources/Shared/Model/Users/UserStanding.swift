/// Facts about a user from the caller's view.
public struct UserStanding: Sendable, Hashable {
  /// Role of the requested user.
  public var role: Role
  public var state: UserState
  public var isSelf: Bool
  /// Both are in the same forum or conversation.
  public var isTogether: Bool
  /// The requested user participates in a public forum or conversation.
  public var isInPublic: Bool
  /// Either has blocked the other.
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
