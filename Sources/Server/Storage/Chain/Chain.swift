// The chains in the database: `message` has the entries of creations, `chain_entry` all others, `conversation` the end.

import ParleyCrypto
import ParleyModel
import ParleySQLite

extension ChainEnd {
  /// Columns of a query of `conversation c`.
  static let columns = "c.id as chain_of, c.chained_seq, c.chain_length, c.chain_head"

  init(_ row: borrowing Row) throws {
    if let head = try row.optionalBytes("chain_head") {
      self.init(seq: try row.int("chained_seq"), position: try row.int("chain_length"), hash: head)
    } else {
      try self.init(of: try row.int("chain_of"))
    }
  }
}

/// The entry of a message that is stored with it, and the end of the chain then. Without an entry the end is as before.
struct ChainLink {
  var end: ChainEnd
  var proof: ContentProof?
  var position: Int? { proof == nil ? nil : end.position }
}

extension ReadTransaction {
  func chainEnd(of conversation: ID<Conversation>) throws(Refusal) -> ChainEnd {
    let end = try run { connection in
      try connection.first(Self.endOfChain, conversation.number, read: ChainEnd.init)
    }
    guard let end else { throw .notFound }
    return end
  }

  private static let endOfChain = SQL(
    """
    select \(ChainEnd.columns)
    from conversation c
    where c.id = $1
    """)
}

extension WriteTransaction {
  /// The link of a new message. A chain that lacks earlier messages gets none: `chainUnchained` adds it in its turn.
  func link(
    _ message: NewMessage, _ id: ID<Message>, after end: ConversationEnd, at time: Int64
  ) throws(Refusal) -> ChainLink {
    var link = ChainLink(end: end.chain)
    guard end.chain.seq == end.seq else { return link }
    let files = message.attachments.map(\.description).joined(separator: ",")
    try run { _ in
      let proof = try ContentProof(
        of: DigestedContent.bytes(message.text.markdown, replyTo: message.replyTo?.number, files: files))
      try link.end.append(
        ChainEntry(
          kind: .created, seq: end.seq + 1, message: id.number, actor: message.author.number, at: Int(time),
          proof: proof))
      link.proof = proof
    }
    return link
  }

  /// Appends an entry for a change of a message, whose rows have the change already. A message without an entry for its creation
  /// gets none.
  ///
  /// - Parameter keepsRevision: whether the files are the same, so that proofs still fit the earlier texts.
  func chain(
    _ kind: ChainEntry.Kind, of message: MessageState, by actor: ID<User>, keepsRevision: Bool
  ) throws(Refusal) {
    guard let (before, content) = try chained(message) else { return }
    var end = before
    if !keepsRevision { try dropProofs(of: message.id) }
    try run { connection in
      let proof = try content.map { content in try ContentProof(of: content) }
      let entry = ChainEntry(
        kind: kind, seq: message.seq, message: message.id.number, actor: actor.number, at: Int(now), proof: proof)
      try end.append(entry)
      try connection.execute(
        """
        insert into chain_entry (conversation_id, position, message_id, revision, kind, actor_id, at, proof)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, message.conversation.number, end.position, entry.message, message.revision + 1, kind.rawValue,
        entry.actor, entry.at, proof?.stored)
    }
    try setEnd(end, of: message.conversation)
  }

  /// The end of the chain that has a message, and the content of the message unless it is a tombstone. Nil if the chain has not
  /// reached the message.
  private func chained(_ message: MessageState) throws(Refusal) -> (end: ChainEnd, content: [UInt8]?)? {
    let found = try run { connection in
      try connection.first(Self.chainedMessage, message.id.number) { row in
        (end: try ChainEnd(row), text: try row.optionalText("text"), reply: try row.optionalInt("reply_to"))
      }
    }
    guard let found else { return nil }
    guard let text = found.text else { return (found.end, nil) }
    let files = try attachments(of: message.id).map(\.description).joined(separator: ",")
    return (found.end, DigestedContent.bytes(text, replyTo: found.reply, files: files))
  }

  private static let chainedMessage = SQL(
    """
    select \(ChainEnd.columns), m.text, m.reply_to
    from message m
    join conversation c on c.id = m.conversation_id
    where m.id = $1 and c.chained_seq >= m.seq
    """)

  private func setEnd(_ end: ChainEnd, of conversation: ID<Conversation>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update conversation
        set chained_seq = $1, chain_length = $2, chain_head = $3
        where id = $4
        """, end.seq, end.position, end.hash, conversation.number)
    }
  }

  /// Cuts the salts off all proofs of a message.
  private func dropProofs(of message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update message
        set proof = substr(proof, 1, 32)
        where id = $1 and length(proof) > 32
        """, message.number)
      try connection.execute(
        """
        update chain_entry
        set proof = substr(proof, 1, 32)
        where message_id = $1 and length(proof) > 32
        """, message.number)
    }
  }
}

extension Connection {
  /// Whether a chain has an entry, so that the site may have signed checkpoints.
  func hasChains() throws(SQLiteError) -> Bool {
    try first("select 1 from conversation where id > 0 and chain_length > 0 limit 1", read: { _ in true }) ?? false
  }
}

// MARK: Messages without an entry

extension WriteTransaction {
  /// Adds entries for messages that have none: those from before the chain and imported ones, as they are now.
  ///
  /// - Returns: whether more may remain.
  func chainUnchained(limit: Int) throws(Refusal) -> Bool {
    let found = try run { connection in
      try connection.all(
        """
        select id
        from conversation
        where chained_seq < last_seq and state <> 'importing'
        order by id
        limit $1
        """, limit
      ) { row in ID<Conversation>(try row.int(0)) }
    }
    var count = 0
    for conversation in found where count < limit {
      count += try chainMessages(of: conversation, limit: limit - count)
    }
    // A damaged conversation without its next message has none to add.
    return count > 0
  }

  /// Adds entries for the next messages of a conversation.
  ///
  /// - Returns: the number of new entries.
  @discardableResult
  func chainMessages(of conversation: ID<Conversation>, limit: Int) throws(Refusal) -> Int {
    let before = try chainEnd(of: conversation)
    var end = before
    let seqs = end.seq + 1..<end.seq + 1 + limit
    try run { connection in
      let files = try Self.attachments(of: conversation, seqs, connection)
      let entries = try connection.all(
        """
        select id, seq, author_id, created_at, text, reply_to
        from message
        where conversation_id = $1 and seq >= $2 and seq < $3
        order by seq
        """, conversation.number, seqs.lowerBound, seqs.upperBound
      ) { row in
        let (seq, reply) = (try row.int(1), try row.optionalInt(5))
        let content = try row.optionalText(4).map { DigestedContent.bytes($0, replyTo: reply, files: files[seq] ?? "") }
        return ChainEntry(
          kind: .created, seq: seq, message: try row.int(0), actor: try row.int(2), at: try row.int(3),
          proof: try content.map { content in try ContentProof(of: content) })
      }
      for entry in entries {
        try end.append(entry)
        try connection.execute(
          """
          update message
          set chain_position = $1, proof = $2
          where id = $3
          """, end.position, entry.proof?.stored, entry.message)
      }
    }
    if end.seq > before.seq { try setEnd(end, of: conversation) }
    return end.seq - before.seq
  }
}
