/// Name for sign-in and mentions: ASCII letters and digits, in parts joined by a single `.`, `_` or `-`, such as
/// `ada.lovelace`. Names are unique regardless of case.
///
/// ASCII only, because names must be visually distinct; other characters belong in the display name.
public struct UserName: Sendable, Hashable {
  /// Original spelling.
  public let text: String
  /// Case-folded form for comparison.
  public var key: String { Self.key(text) }

  /// The maximum length of a name in bytes.
  public static let maxBytes = 64

  /// Names with a special meaning.
  public static let reserved: Set<String> = [
    "me", "everyone", "all", "here", "room", "nobody", "system", "parley", "moderators", "admins",
  ]

  /// Nil for an invalid or reserved name.
  public init?(_ text: String) {
    guard Self.isWellFormed(text), !Self.reserved.contains(Self.key(text)) else { return nil }
    self.text = text
  }

  /// The case-folded form of a text, to compare it with the key of a name.
  public static func key(_ text: String) -> String { text.lowercased() }

  /// Whether a text has the form of a name, reserved or not.
  public static func isWellFormed(_ text: String) -> Bool {
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
    // A name without letters would look like an id.
    return mayJoin && hasLetter
  }
}
