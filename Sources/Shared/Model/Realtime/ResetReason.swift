/// Reason why a stream can't be resumed from a cursor: the client must load a new snapshot.
public enum ResetReason: String, Sendable, Hashable, CaseIterable {
  /// The cursor belongs to another epoch or is malformed.
  case epoch
  /// Events after the cursor were removed from the log.
  case trimmed
  /// The cursor is ahead of the log.
  case ahead
  /// The server continues from an older copy of its data: events up to the cursor are lost, and their numbers belong to
  /// other events. The client knows the age of nothing that it holds.
  case rewound
}
