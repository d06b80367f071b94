/// A status code of RFC 3463, such as `5.1.1`: class, subject, detail.
public struct EnhancedStatus: Sendable, Hashable {
  public let (kind, subject, detail): (Int, Int, Int)

  private static let maxDigits = 3

  /// Nil if the text begins with no code.
  public init?(_ text: String) {
    let numbers = text.prefix { $0 != " " && $0 != "\t" && $0 != "(" }.split(
      separator: ".", omittingEmptySubsequences: false)
    let values = numbers.compactMap { part in
      1...Self.maxDigits ~= part.utf8.count && part.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int(part) : nil
    }
    guard values.count == 3, numbers.count == 3 else { return nil }
    (kind, subject, detail) = (values[0], values[1], values[2])
  }

  /// Whether a refusal blames the recipient. RFC 3463 §3: the subjects 1 and 2 are addresses and mailboxes; others, such as a
  /// blocked sender or a relay without sign-in (5.7.1), would refuse every recipient.
  var isAboutRecipient: Bool { subject == 1 && detail != 7 && detail != 8 || subject == 2 }

  /// Whether a report says that the address takes no mail, now and later. Mail servers report 5.0.0 for replies without a code,
  /// and 5.4.4 for a domain that does not exist.
  public var endsAddress: Bool {
    kind == 5 && (isAboutRecipient || subject == 0 && detail == 0 || subject == 4 && detail == 4)
  }

  public var description: String { "\(kind).\(subject).\(detail)" }
}
