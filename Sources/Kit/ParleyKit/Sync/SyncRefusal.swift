public import ParleyModel

/// The reason of an operation that was rejected locally.
public enum SyncRefusal: Error, Sendable, Hashable {
  /// Another user has signed in. The data of the previous user was erased.
  case userChanged
  /// The outbox has operations of this conversation. Live events still arrive.
  case unsentWork(ID<Conversation>)
  /// The conversation is not in the cache.
  case unknownConversation
  /// The forum does not exist, or the user may not see it.
  case unknownForum
  /// The message does not exist, or the user may not see it.
  case unknownMessage

  /// A text for the user, in English.
  public var userMessage: String {
    switch self {
    case .userChanged: "Another user has signed in."
    case .unsentWork: "Some changes are not sent yet."
    case .unknownConversation: "This conversation is not available on this device."
    case .unknownForum: "Forum not found."
    case .unknownMessage: "Message not found."
    }
  }
}
