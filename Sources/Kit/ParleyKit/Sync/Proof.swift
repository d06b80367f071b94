public import ParleyModel

/// Whether the cached copy of a conversation is the server's.
public enum Proof: Sendable, Hashable {
  /// The digest of all messages that the user may read, up to this one, is the server's; nil if there are none.
  case complete(through: Message?)
  /// The copy differs from the server's history, or this is unknown.
  case incomplete(Reason)

  /// Why a copy was not proved.
  public enum Reason: Sendable, Hashable {
    /// These `seq` are not cached. `Sync.fetchAll` fetches them.
    case missing([ClosedRange<Int>])
    /// The copy differed again after each repair.
    case changing
    /// The server could not be asked.
    case unreachable(ClientFault)
    /// The conversation does not exist, or the user may not read it.
    case unknownConversation
  }
}
