/// What one user has said of another, for themselves alone.
public enum Relation: String, Sendable, Hashable, CaseIterable {
  /// Is told what the other posts.
  case follow
  /// Does not see what the other writes, unless they ask for it. The other never learns of it.
  case mute
  /// The two begin no conversation, and neither follows the other.
  case block
}
