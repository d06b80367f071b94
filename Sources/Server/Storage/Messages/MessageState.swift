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
  let seq: Int
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

  /// Whether it is the first message of its conversation.
  var isFirst: Bool { seq == 1 }
}

extension WriteTransaction {
  func state(of message: ID<Message>) throws(Refusal) -> MessageState {
    let found = try run { connection in
      try connection.first(
        """
        select m.conversation_id, m.seq, c.state = 'open' as is_open, m.author_id, m.client_id, m.revision,
          m.deletion, m.text, m.entities, coalesce(m.edited_at, m.created_at) as written_at,
          coalesce(m.edited_by, m.author_id) as written_by
        from message m
        join conversation c on c.id = m.conversation_id
        where m.id = $1
        """, message.number
      ) { row in
        MessageState(
          id: message, conversation: ID(try row.int("conversation_id")), seq: try row.int("seq"),
          isOpen: try row.bool("is_open"), author: ID(try row.int("author_id")),
          clientID: try row.optionalText("client_id"), revision: try row.int("revision"),
          deletion: try row.optionalText("deletion").flatMap { Deletion(rawValue: $0) },
          text: try row.optionalText("text"), entities: try row.optionalText("entities"),
          writtenAt: try row.int("written_at"), writtenBy: try row.int("written_by"))
      }
    }
    guard let found else { throw .notFound }
    return found
  }

  /// Logs a change that raised the revision by one, and adds it to the chain. Returns the new revision.
  ///
  /// - Parameter keepsRevision: whether the files are the same, so that proofs still fit the earlier texts.
  func logChange(
    _ kind: ChainEntry.Kind, of message: MessageState, by actor: ID<User>, keepsRevision: Bool = false
  ) throws(Refusal) -> Int {
    try chain(kind, of: message, by: actor, keepsRevision: keepsRevision)
    let revision = message.revision + 1
    try log(
      kind.event, in: .conversation(message.conversation), subject: message.id.number, revision: revision,
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
