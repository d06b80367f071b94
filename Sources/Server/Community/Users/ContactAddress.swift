import ParleyCrypto
import ParleyModel

/// A normalized e-mail address or telephone number by which a user can be found.
struct ContactAddress: Hashable, Sendable {
  /// The address with scheme `mailto:` or `tel:`.
  let text: String

  /// RFC 5321 §4.5.3.1.3: the maximum length of a path.
  static let maxBytes = 254
  /// E.164 allows at most 15 digits. Numbers below seven digits are only locally valid.
  private static let digits = 7...15

  /// Nil if the text is neither.
  init?(_ text: String) {
    guard text.utf8.count <= Self.maxBytes else { return nil }
    guard let address = text.utf8.contains(UInt8(ascii: "@")) ? Self.mail(text) : Self.telephone(text) else {
      return nil
    }
    self.text = address
  }

  /// Parses all texts and removes duplicates. Throws if one is invalid.
  static func all(_ texts: [String], _ bounds: Bounds) throws(Refusal) -> Set<ContactAddress> {
    guard texts.count <= bounds.addresses else { throw .invalid("addresses", .tooMany(limit: bounds.addresses)) }
    var addresses: Set<ContactAddress> = []
    for (index, text) in texts.enumerated() {
      guard let address = ContactAddress(text) else { throw .invalid("addresses[\(index)]", .invalid) }
      addresses.insert(address)
    }
    return addresses
  }

  /// Mail hosts ignore case in practice.
  private static func mail(_ text: String) -> String? {
    let parts = trimmed(text).split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[1].contains("."), !parts[1].hasPrefix("."),
      !parts[1].hasSuffix(".")
    else { return nil }
    let isPlain = (parts[0] + parts[1]).unicodeScalars.allSatisfy { scalar in
      !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
    }
    return isPlain ? "mailto:\(parts[0].lowercased())@\(parts[1].lowercased())" : nil
  }

  /// Requires a country code (`+49 …` or `0049 …`). Without it a number is ambiguous.
  private static func telephone(_ text: String) -> String? {
    var digits = ""
    var isInternational = false
    for byte in trimmed(text).utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "+") where digits.isEmpty && !isInternational: isInternational = true
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "("),
        UInt8(ascii: ")"):
        continue
      default: return nil
      }
    }
    if !isInternational {
      guard digits.hasPrefix("00") else { return nil }
      digits.removeFirst(2)
    }
    guard Self.digits.contains(digits.utf8.count), !digits.hasPrefix("0") else { return nil }
    return "tel:+" + digits
  }

  private static func trimmed(_ text: String) -> Substring {
    var rest = Substring(text)
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return rest
  }

  /// The stored digest.
  func digest(_ key: String) throws(Refusal) -> [UInt8] {
    do {
      return try HMAC.sha256(of: Array(text.utf8), key: Array(key.utf8))
    } catch {
      throw .unavailable
    }
  }
}
