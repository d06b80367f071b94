/// Conversation or forum as a search scope. The index stores it beside a message's words, so that unreadable messages
/// are never scanned.
public enum SearchScope: Sendable, Hashable {
  case conversation(ID<Conversation>)
  case forum(ID<Forum>)

  /// Token of the scope in the index.
  public var token: String {
    switch self {
    case .conversation(let id): "c\(id)"
    case .forum(let id): "f\(id)"
    }
  }

  /// Token of a message's author.
  public static func token(of author: ID<User>) -> String { "a\(author)" }
}
