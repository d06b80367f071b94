/// What an app wants a conversation of its own to be: it is found by its type, and made with the rest where it is not there
/// yet. A text stands for a type alone.
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
