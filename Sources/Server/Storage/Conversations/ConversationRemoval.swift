import ParleyJSON
import ParleyModel

/// Removal of the participants of a deleted conversation. Removed ones are its progress.
struct ConversationRemoval: Sendable {
  let conversation: ID<Conversation>
  let actor: ID<User>

  /// Participants per transaction.
  static let chunkSize = 200

  init(of conversation: ID<Conversation>, by actor: ID<User>) {
    self.conversation = conversation
    self.actor = actor
  }
}

extension JobKind {
  /// Completes `WriteTransaction.delete` of a conversation.
  public static let conversationRemoval = JobKind("conversation.removal") {
    (tx, removal: inout ConversationRemoval) throws(Refusal) in
    try tx.removeParticipants(removal, limit: ConversationRemoval.chunkSize)
  }
}

extension WriteTransaction {
  /// Removes up to `limit` participants, each with an event in the user's stream. Returns whether none remains.
  func removeParticipants(_ removal: ConversationRemoval, limit: Int) throws(Refusal) -> Bool {
    let next = try participants(of: removal.conversation, ListSlice(limit: limit))
    for participant in next { try removeParticipation(removal.conversation, participant.user, by: removal.actor) }
    return next.count < limit
  }
}

extension ConversationRemoval: JSONReadable, JSONWritable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(of: try object.read("conversation"), by: try object.read("actor"))
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation", conversation)
      json.field("actor", actor)
    }
  }
}
