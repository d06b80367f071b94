/// The description of an app's private channel. The channel is found by its type, or created. A string literal is a type.
public struct ConversationSpec: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Such as `com.example.todo`.
  public var type: String
  /// The title of a new channel.
  public var title: String?
  /// Annotations of a new channel.
  public var annotations: [Draft.Annotation]

  /// A private channel of this type.
  public init(_ type: String, title: String? = nil, annotations: [Draft.Annotation] = []) {
    self.type = type
    self.title = title
    self.annotations = annotations
  }

  public init(stringLiteral type: String) { self.init(type) }
}
