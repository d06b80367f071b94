/// Relation of one user to another, visible only to the first.
public enum Relation: String, Sendable, Hashable, CaseIterable {
  /// Receives posts of the other user.
  case follow
  /// Hides messages of the other user until opened. The other user is not notified.
  case mute
  /// Prevents new conversations and following in both directions.
  case block
}
