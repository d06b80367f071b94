/// Something in a text that names something else. Places count Unicode scalars of the text as it was sent, marks included.
public struct MarkupEntity: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case mention, hashtag, link
  }

  public let kind: Kind
  public let position: Int
  public let length: Int
  /// The name without `@`, the tag without `#`, or the whole address.
  public let value: String

  public init(kind: Kind, position: Int, length: Int, value: String) {
    self.kind = kind
    self.position = position
    self.length = length
    self.value = value
  }
}
