import ParleyModel
import ParleySQLite

/// Why a message is a tombstone.
public enum Deletion: String, Sendable {
  case author, moderator, moved, erased
}

/// The state of a message, for the operations that change it.
struct MessageState {
  let id: ID<Message>
  let conversation: ID<Conversation>
  let isOpen: Bool
  let author: ID<User>
  let clientID: String?
  let revision: Int
  let deletion: Deletion?
  let text: String?
  let entities: String?
  /// Time and author of the current text.
  let writtenAt: Int
  let writtenBy: Int
}

extension WriteTransaction {
  func state(of message: ID<Message>) throws(Refusal) -> MessageState {
    let found = try run { connection in
      try connection.first(
        """
        select m.conversation_id, c.state = 'open', m.author_id, m.client_id, m.revision, m.deletion, m.text, m.entities,
          coalesce(m.edited_at, m.created_at), coalesce(m.edited_by, m.author_id)
        from message m
        join conversation c on c.id = m.conversation_id
        where m.id = $1
        """, message.number
      ) { row in
        MessageState(
          id: message, conversation: ID(try row.int(0)), isOpen: try row.bool(1), author: ID(try row.int(2)),
          clientID: try row.optionalText(3), revision: try row.int(4),
          deletion: try row.optionalText(5).flatMap { Deletion(rawValue: $0) }, text: try row.optionalText(6),
          entities: try row.optionalText(7), writtenAt: try row.int(8), writtenBy: try row.int(9))
      }
    }
    guard let found else { throw .notFound }
    return found
  }

  /// Logs a change that raised the revision by one. Returns the new revision.
  func logChange(_ kind: Event.Kind, of message: MessageState, by actor: ID<User>) throws(Refusal) -> Int {
    let revision = message.revision + 1
    try log(
      kind, in: .conversation(message.conversation), subject: message.id.number, revision: revision,
      actor: actor.number)
    return revision
  }

  /// Removes the fingerprint of a send with the first change of the message. Later repetitions are not compared, and a
  /// short text could be guessed from its digest.
  func dropFingerprint(of message: MessageState) throws(Refusal) {
    guard message.revision == 1, let clientID = message.clientID else { return }
    try run { connection in
      try connection.execute(
        """
        update idempotency
        set fingerprint = $1
        where author_id = $2 and kind = 'message' and client_id = $3
        """, [UInt8](), message.author.number, clientID)
    }
  }
}
