/// The name by which users sign in and are mentioned: letters and digits of ASCII, in parts that one `.`, `_` or `-`
/// joins, such as `ada.lovelace`. Of two names that differ only in case there is one.
///
/// ASCII alone, because names must be told apart by the eye; what users are called stands in the display name.
public struct UserName: Sendable, Hashable {
  /// As it is shown.
  public let text: String
  /// As it is compared.
  public var key: String { Self.key(text) }

  public static let maxBytes = 64

  /// What means more than one user, or nobody.
  public static let reserved: Set<String> = [
    "me", "everyone", "all", "here", "room", "nobody", "system", "parley", "moderators", "admins",
  ]

  /// Nil for what is no name, or is reserved.
  public init?(_ text: String) {
    guard Self.isWellFormed(text), !Self.reserved.contains(Self.key(text)) else { return nil }
    self.text = text
  }

  public static func key(_ text: String) -> String { text.lowercased() }

  private static func isWellFormed(_ text: String) -> Bool {
    guard (1...maxBytes).contains(text.utf8.count) else { return false }
    var mayJoin = false
    var hasLetter = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        mayJoin = true
        hasLetter = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): mayJoin = true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        guard mayJoin else { return false }
        mayJoin = false
      default: return false
      }
    }
    // Without a letter it would look like an id.
    return mayJoin && hasLetter
  }
}
