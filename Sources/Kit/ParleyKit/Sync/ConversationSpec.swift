/// The description of an app's private channel. The channel is found by its type, or created. A string literal is a type.
public struct ConversationSpec: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Such as `com.example.todo`.
  public var type: String
  public var title: String?
  public var annotations: [Draft.Annotation]

  public init(_ type: String, title: String? = nil, annotations: [Draft.Annotation] = []) {
    self.type = type
    self.title = title
    self.annotations = annotations
  }

  public init(stringLiteral type: String) { self.init(type) }
}
