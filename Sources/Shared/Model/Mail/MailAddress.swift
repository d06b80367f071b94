/// An email address: the common form of RFC 5321 in ASCII, `local@domain`, without quotes and comments.
///
/// An address has no space, line break or angle bracket, so it can't add a line to a message or to a command.
public struct MailAddress: Sendable, Hashable, CustomStringConvertible {
  /// The part before the `@`, unchanged: some servers distinguish case.
  public let local: String
  /// Lowercase.
  public let domain: String

  /// Upper bound of an address in bytes.
  public static let maxBytes = 254
  private static let maxLocalBytes = 64
  private static let maxLabelBytes = 63

  /// Nil if the text is no such address.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.maxBytes, let at = text.lastIndex(of: "@") else { return nil }
    let (local, domain) = (String(text[..<at]), String(text[text.index(after: at)...]))
    // Before the change of case, which turns the Kelvin sign into a `k`.
    guard Self.isLocal(local), Self.isDomain(domain) else { return nil }
    (self.local, self.domain) = (local, domain.lowercased())
  }

  public var description: String { "\(local)@\(domain)" }

  /// RFC 5321 §4.1.2: atoms, joined by single dots.
  private static func isLocal(_ text: String) -> Bool {
    guard text.utf8.count <= maxLocalBytes else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
      !atom.isEmpty && atom.utf8.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
    }
  }

  /// Two labels or more, the last one no number: that would be an IP address. An internationalized domain is written as `xn--…`.
  private static func isDomain(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.last?.utf8.contains { $0 &- 0x30 >= 10 } == true
      && labels.allSatisfy { label in
        (1...maxLabelBytes).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
      }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
  }
}
