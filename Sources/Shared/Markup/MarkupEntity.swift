/// A mention, hashtag or link in a text. Positions count Unicode scalars of the text as sent, with its markup.
public struct MarkupEntity: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case mention, hashtag, link
  }

  public let kind: Kind
  public let position: Int
  public let length: Int
  /// The name without `@`, the hashtag without `#`, or the whole address.
  public let value: String

  public init(kind: Kind, position: Int, length: Int, value: String) {
    self.kind = kind
    self.position = position
    self.length = length
    self.value = value
  }
}
