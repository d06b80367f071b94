/// An entity tag (RFC 9110 §8.8.3): strong `"abc"` or weak `W/"abc"`.
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
  public let value: String
  public let isWeak: Bool

  /// Replaces invalid characters with `_`.
  public init(_ value: String, isWeak: Bool = false) {
    let bytes = value.utf8.map { EntityTag.mayHold($0) ? $0 : UInt8(ascii: "_") }
    self.value = String(decoding: bytes, as: UTF8.self)
    self.isWeak = isWeak
  }

  public var description: String { isWeak ? "W/\"\(value)\"" : "\"\(value)\"" }

  /// Strong or weak comparison (§8.8.3.2).
  public func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && value == other.value }
  public func isWeaklyEqual(to other: EntityTag) -> Bool { value == other.value }

  /// Parses exactly one tag.
  public init?(parsing text: String) {
    guard let tags = EntityTag.list(text), tags.count == 1, let tag = tags.first else { return nil }
    self = tag
  }

  public static let maxTags = 64

  /// Parses a comma-separated list; nil if it is malformed. A tag may contain a comma, so the list can't simply be
  /// split.
  public static func list(_ text: String) -> [EntityTag]? {
    let bytes = Array(text.utf8)
    var tags: [EntityTag] = []
    var index = 0
    var needsComma = false
    while index < bytes.count {
      switch bytes[index] {
      case 32, 9: index += 1
      case UInt8(ascii: ","):
        needsComma = false
        index += 1
      default:
        guard !needsComma, tags.count < maxTags, let tag = tag(bytes, &index) else { return nil }
        tags.append(tag)
        needsComma = true
      }
    }
    return tags.isEmpty ? nil : tags
  }

  private static func tag(_ bytes: [UInt8], _ index: inout Int) -> EntityTag? {
    let isWeak = bytes[index...].starts(with: "W/".utf8)
    if isWeak { index += 2 }
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
    let start = index + 1
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")), bytes[start..<end].allSatisfy(mayHold) else {
      return nil
    }
    index = end + 1
    return EntityTag(String(decoding: bytes[start..<end], as: UTF8.self), isWeak: isWeak)
  }

  /// `etagc`: visible characters except the quote, and obs-text.
  private static func mayHold(_ byte: UInt8) -> Bool { byte > 32 && byte != 34 && byte != 127 }
}
