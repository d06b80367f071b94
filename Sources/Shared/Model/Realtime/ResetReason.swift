/// Reason why a stream can't be resumed from a cursor: the client must load a new snapshot.
public enum ResetReason: String, Sendable, Hashable, CaseIterable {
  /// The cursor belongs to another epoch or is malformed.
  case epoch
  /// Events after the cursor were removed from the log.
  case trimmed
  /// The cursor is ahead of the log.
  case ahead
}
