import ParleyCrypto
import ParleyModel

/// An e-mail address or a telephone number by which somebody may be found, in the one spelling that all who know it come to.
struct ContactAddress: Hashable, Sendable {
  /// `mailto:` or `tel:` and the address.
  let text: String

  /// RFC 5321 §4.5.3.1.3: what is longer can't be delivered to.
  static let mostBytes = 254
  /// E.164: the longest number there is; what is shorter than seven digits is good in one town alone.
  private static let digits = 7...15

  /// Nil for what is neither.
  init?(_ text: String) {
    guard text.utf8.count <= Self.mostBytes else { return nil }
    guard let address = text.utf8.contains(UInt8(ascii: "@")) ? Self.mail(text) : Self.telephone(text) else {
      return nil
    }
    self.text = address
  }

  /// All of them must be addresses; of two that are the same, one is kept.
  static func all(_ texts: [String], _ bounds: Bounds) throws(Refusal) -> Set<ContactAddress> {
    guard texts.count <= bounds.addresses else { throw .invalid("addresses", .tooMany(limit: bounds.addresses)) }
    var addresses: Set<ContactAddress> = []
    for (index, text) in texts.enumerated() {
      guard let address = ContactAddress(text) else { throw .invalid("addresses[\(index)]", .invalid) }
      addresses.insert(address)
    }
    return addresses
  }

  /// Upper and lower case are the same to every host that people use.
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

  /// With its country, `+49 …` or `0049 …`: a number without one is another in each country.
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

  /// What is kept of it.
  func digest(_ key: String) throws(Refusal) -> [UInt8] {
    do {
      return try HMAC.sha256(of: Array(text.utf8), key: Array(key.utf8))
    } catch {
      throw .unavailable
    }
  }
}
