public import ParleyModel

/// Why something was not done, before anything was asked of the server.
public enum SyncRefusal: Error, Sendable, Hashable {
  /// Somebody else has signed in. Nothing of whoever was here before is left; to begin again begins for the other.
  case accountChanged
  /// Something of this conversation was not sent yet. Live events still come.
  case unsentWork(ID<Conversation>)
  /// The conversation was not found or made yet.
  case unknownConversation
  /// There is no such forum, or it is not for this person.
  case unknownForum
  /// There is no such message, or it is not for this person.
  case unknownMessage

  public var sentence: String {
    switch self {
    case .accountChanged: "Somebody else has signed in."
    case .unsentWork: "Something was not sent yet."
    case .unknownConversation: "This conversation is not here yet."
    case .unknownForum: "There is no such forum that you can see."
    case .unknownMessage: "There is no such message that you can see."
    }
  }
}
