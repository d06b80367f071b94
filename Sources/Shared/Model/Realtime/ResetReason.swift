/// Why what happened since a cursor can't be told: the client fetches anew what it holds.
public enum ResetReason: String, Sendable, Hashable, CaseIterable {
  /// The cursor is of another history, or none at all.
  case epoch
  /// The log no longer holds all that came after it.
  case trimmed
  /// It is ahead of everything that happened.
  case ahead
}
