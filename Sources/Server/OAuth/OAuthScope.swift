public import ParleyModel

/// The access that an app asks for: one of the scopes of tokens, perhaps within forums. As text it is a list of scope names,
/// where each includes the ones before it, and of `forum:<id>`.
public struct OAuthScope: Sendable, Hashable, CustomStringConvertible {
  public let scope: Scope
  /// Nil for all that the user reads.
  public let forums: Set<ID<Forum>>?

  public static let maxBytes = 1_024
  private static let forumPrefix = "forum:"

  public init(_ scope: Scope, forums: Set<ID<Forum>>? = nil) {
    self.scope = scope
    self.forums = forums
  }

  /// - Parameter text: nil asks for the profile alone.
  public init(parsing text: String?) throws(OAuthError) {
    guard let text else {
      self.init(.profile)
      return
    }
    guard text.utf8.count <= Self.maxBytes else { throw OAuthError(.invalidScope, "The scope is too long.") }
    var scope: Scope?
    var forums: Set<ID<Forum>> = []
    for word in text.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
      if let known = Scope(rawValue: word) {
        scope = max(scope ?? known, known)
      } else if word.hasPrefix(Self.forumPrefix), let forum = ID<Forum>(String(word.dropFirst(Self.forumPrefix.count)))
      {
        forums.insert(forum)
      } else {
        throw OAuthError(.invalidScope, "The scopes are profile, read, write, admin and forum:ID, separated by spaces.")
      }
    }
    guard let scope else { throw OAuthError(.invalidScope, "forum:ID limits read or write, one of which is missing.") }
    guard forums.isEmpty || scope == .read || scope == .write else {
      throw OAuthError(.invalidScope, "forum:ID limits read and write alone.")
    }
    self.init(scope, forums: forums.isEmpty ? nil : forums)
  }

  public var description: String {
    let names = Scope.allCases.filter { $0 <= scope }.map(\.rawValue)
    return (names + (forums ?? []).sorted().map { "\(Self.forumPrefix)\($0)" }).joined(separator: " ")
  }

  /// Whether the other access includes all of this one.
  public func isWithin(_ other: OAuthScope) -> Bool {
    guard scope <= other.scope else { return false }
    guard let outer = other.forums else { return true }
    // The profile is no content of a forum.
    return scope == .profile || forums.map { $0.isSubset(of: outer) } ?? false
  }
}
