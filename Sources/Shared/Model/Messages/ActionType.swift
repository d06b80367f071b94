/// Name of an action on a message: `star`, `like`, `repost`, `pin`, `reaction:👍`, or an app's own such as
/// `com.example.done`.
public struct ActionType: Sendable, Hashable {
  public let name: String
  public let reach: Reach

  /// The accepted names, for messages.
  public static let forms = ["star", "like", "repost", "pin", "reaction:<emoji>", "com.example.<name>"]

  /// Visibility of the action, and permission to set it.
  public enum Reach: Sendable, Hashable {
    /// Visible to its owner only.
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

  /// A family with four skin tones takes 41 bytes, the flag of Scotland 28.
  private static let maxEmojiBytes = 64

  /// Accepts exactly one emoji. Any other text would be a message that can't be replied to, edited or removed.
  private static func isReaction(_ name: String) -> Bool {
    guard name.hasPrefix("reaction:") else { return false }
    let emoji = name.dropFirst("reaction:".count)
    guard emoji.count == 1, emoji.utf8.count <= maxEmojiBytes, let first = emoji.unicodeScalars.first,
      first.properties.isEmoji
    else { return false }
    let isKeycap = emoji.unicodeScalars.last?.value == 0x20e3
    return (!first.isASCII || isKeycap) && emoji.unicodeScalars.dropFirst().allSatisfy(isPart)
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Zero-width joiner, variation selector 16, combining keycap, and tag characters of flags.
    case 0x200d, 0xfe0f, 0x20e3, 0xe0020...0xe007f: true
    default: !scalar.isASCII && scalar.properties.isEmoji
    }
  }
}
