/// An action of a user on a message. The name of an app's own action has the app's domain, such as `com.example.done`.
public enum ActionType: Sendable, Hashable {
  /// A bookmark of the user, which other users see only if the user shows stars.
  case star
  /// A like, which everyone sees.
  case like
  /// A repost, which also has an entry in the feed of its user.
  case repost
  /// Pins the message in its conversation; for moderators.
  case pin
  /// An emoji of Unicode, or `:name:` of the site.
  case reaction(String)
  /// An action that an app defines, such as `com.example.done`.
  case own(String)

  /// The accepted names, for messages.
  public static let forms = [
    "star", "like", "repost", "pin", "reaction:<emoji>", "reaction::<name>:", "com.example.<name>",
  ]

  /// Visibility of the action, and permission to set it.
  public enum Reach: Sendable, Hashable {
    /// Visible to its owner only, unless the owner shows stars.
    case personal
    /// All readers of the message see the action.
    case everyone
    /// Visible to all readers, set by moderators.
    case moderators
  }

  /// The action with a name; nil if the name is not well-formed.
  public init?(_ name: String) {
    switch name {
    case "star": self = .star
    case "like": self = .like
    case "repost": self = .repost
    case "pin": self = .pin
    default:
      if name.hasPrefix(Self.reaction) {
        let emoji = name.dropFirst(Self.reaction.count)
        // Any other text would be a message that can't be replied to, edited or removed.
        guard Emoji.isSingle(emoji) || CustomEmoji.name(in: emoji) != nil else { return nil }
        self = .reaction(String(emoji))
      } else {
        guard TypeName.isWellFormed(name), TypeName.core(name) == nil else { return nil }
        self = .own(name)
      }
    }
  }

  /// The action with a name. A name of another form, such as that of a newer server, is an own action.
  public init(named name: String) { self = Self(name) ?? .own(name) }

  /// The name in the API: `star`, `like`, `repost`, `pin`, `reaction:👍`, `reaction::name:` or `com.example.done`.
  public var name: String {
    switch self {
    case .star: "star"
    case .like: "like"
    case .repost: "repost"
    case .pin: "pin"
    case .reaction(let emoji): Self.reaction + emoji
    case .own(let name): name
    }
  }

  /// The users that see the action and may set it.
  public var reach: Reach {
    switch self {
    case .star: .personal
    case .like, .repost, .reaction, .own: .everyone
    case .pin: .moderators
    }
  }

  /// The name of the custom emoji of a reaction.
  public var customEmoji: String? {
    if case .reaction(let emoji) = self { CustomEmoji.name(in: emoji[...]) } else { nil }
  }

  private static let reaction = "reaction:"
}
