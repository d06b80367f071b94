/// Somebody and a user whom they would write to first.
public struct Acquaintance: Sendable, Hashable {
  /// Who may, by the other's wish.
  public var reachableBy: Reach
  /// One has blocked the other.
  public var isBlocked: Bool
  /// The other follows them.
  public var isFollowed: Bool
  /// In a forum or a conversation together.
  public var isTogether: Bool

  public init(
    reachableBy: Reach = .anyone, isBlocked: Bool = false, isFollowed: Bool = false, isTogether: Bool = false
  ) {
    self.reachableBy = reachableBy
    self.isBlocked = isBlocked
    self.isFollowed = isFollowed
    self.isTogether = isTogether
  }
}
