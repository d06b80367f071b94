/// Name of an action on a message: `star`, `like`, `repost`, `pin`, `reaction:👍`, `reaction::name:`, or an app's own such as
/// `com.example.done`.
public struct ActionType: Sendable, Hashable {
  public let name: String
  public let reach: Reach

  /// The accepted names, for messages.
  public static let forms = [
    "star", "like", "repost", "pin", "reaction:<emoji>", "reaction::<name>:", "com.example.<name>",
  ]

  /// Visibility of the action, and permission to set it.
  public enum Reach: Sendable, Hashable {
    /// Visible to its owner only, unless the owner shows stars.
    case personal
    case everyone
    /// Visible to all readers, set by moderators.
    case moderators
  }

  public init?(_ name: String) {
    switch name {
    case "star": reach = .personal
    case "like", "repost": reach = .everyone
    case "pin": reach = .moderators
    default:
      guard Self.isReaction(name) || TypeName.isWellFormed(name) && TypeName.core(name) == nil else { return nil }
      reach = .everyone
    }
    self.name = name
  }

  public static let star = ActionType(name: "star", reach: .personal)

  /// A repost, which also has an entry in the feed of its user.
  public static let repost = ActionType(name: "repost", reach: .everyone)

  private init(name: String, reach: Reach) {
    self.name = name
    self.reach = reach
  }

  /// The name of the custom emoji of a reaction.
  public var customEmoji: String? {
    name.hasPrefix(Self.reaction) ? CustomEmoji.name(in: name.dropFirst(Self.reaction.count)) : nil
  }

  private static let reaction = "reaction:"

  /// Accepts exactly one emoji, of Unicode or of the site. Any other text would be a message that can't be replied to, edited or removed.
  private static func isReaction(_ name: String) -> Bool {
    guard name.hasPrefix(reaction) else { return false }
    let emoji = name.dropFirst(reaction.count)
    return Emoji.isSingle(emoji) || CustomEmoji.name(in: emoji) != nil
  }
}
