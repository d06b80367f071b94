/// A mention, hashtag or link in a text. Positions count Unicode scalars of the text as sent, with its markup.
public struct MarkupEntity: Hashable, Sendable {
  /// Kinds of entities.
  public enum Kind: Hashable, Sendable {
    /// A user or group, a hashtag, or an address.
    case mention, hashtag, link
  }

  /// The kind of the entity.
  public let kind: Kind
  /// The number of Unicode scalars before the entity.
  public let position: Int
  /// The length in Unicode scalars, with its markup.
  public let length: Int
  /// The name without `@`, the hashtag without `#`, or the whole address.
  public let value: String

  /// An entity at a position of a text.
  public init(kind: Kind, position: Int, length: Int, value: String) {
    self.kind = kind
    self.position = position
    self.length = length
    self.value = value
  }
}
