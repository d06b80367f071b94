/// Relation of a sender and the recipient of a first message.
public struct Acquaintance: Sendable, Hashable {
  /// The recipient's setting.
  public var reachableBy: Reach
  /// Either has blocked the other.
  public var isBlocked: Bool
  /// The recipient follows the sender.
  public var isFollowed: Bool
  /// Both are in the same forum or conversation.
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
