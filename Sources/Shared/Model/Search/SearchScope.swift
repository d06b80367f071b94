/// A place that is searched as a whole. The index holds it beside a message's words, so that what one may not read is never
/// looked at.
public enum SearchScope: Sendable, Hashable {
  case conversation(ID<Conversation>)
  case forum(ID<Forum>)

  /// The word for it in the index.
  public var token: String {
    switch self {
    case .conversation(let id): "c\(id)"
    case .forum(let id): "f\(id)"
    }
  }

  /// The word for who wrote a message.
  public static func token(of author: ID<User>) -> String { "a\(author)" }
}
