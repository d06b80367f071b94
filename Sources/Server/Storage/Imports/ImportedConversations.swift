// Import of conversations. An imported conversation is created, filled and then opened. It is invisible until it is
// opened. Its messages keep their own times. Everything else works as in `post`: the chain, the ids in its order, the
// search index, and one event per message with the time of the import.
//
// An importer fills the conversation in chunks, with a `clientID` for each message, so that a chunk repeated
// after a crash finds its messages. Participants join after the conversation was opened, so that its messages are not
// unread.

public import ParleyModel
import ParleySQLite

/// The conversation to import.
public struct ImportedConversation: Sendable {
  public let kind: Conversation.Kind
  /// Only for a room or a topic.
  public var forum: ID<Forum>?
  /// Only for a feed.
  public var owner: ID<User>?
  public var title: String?
  public let creator: ID<User>
  /// In milliseconds since 1970.
  public let createdAt: Int64
  public var isPinned = false
  public var isLocked = false

  public init(_ kind: Conversation.Kind, title: String? = nil, by creator: ID<User>, createdAt: Int64) {
    self.kind = kind
    self.title = title
    self.creator = creator
    self.createdAt = createdAt
  }
}

extension WriteTransaction {
  /// Creates an invisible conversation. Throws `conflict` if the room or feed exists already.
  public func startImport(of conversation: ImportedConversation) throws(Refusal) -> ID<Conversation> {
    guard conversation.createdAt <= now else { throw .invalid("created_at", .outOfRange(0...Int(now))) }
    let id = ID<Conversation>(nextID())
    let isMade = try run { connection in
      try connection.execute(
        """
        insert into conversation (
          id, kind, forum_id, owner_id, title, imported, state, created_by, created_at, pinned, locked, readers)
        values (
          $1, $2, $3, $4, $5, 1, 'importing', $6, $7, $8, $9, case $2 when 'feed' then 'users' else 'listed' end)
        on conflict do nothing
        """, id.number, conversation.kind.rawValue, conversation.forum?.number, conversation.owner?.number,
        conversation.title, conversation.creator.number, Int(conversation.createdAt), conversation.isPinned,
        conversation.isLocked) == 1
    }
    guard isMade else { throw .conflict }
    if let entry = try titleEntry(of: id) { searchChanges.append(.add(entry)) }
    try log(
      .conversationCreated, in: .conversation(id), subject: id.number, revision: 1, actor: conversation.creator.number)
    return id
  }

  /// Makes the empty room of a new forum invisible until it is filled.
  public func startImport(ofRoom room: ID<Conversation>, createdAt: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update conversation
        set imported = 1, state = 'importing', created_at = min($1, created_at)
        where id = $2 and last_seq = 0
        """, Int(createdAt), room.number)
    }
  }

  /// Adds the next message. It must not be older than the previous one. `advanceReaders` follows.
  public func importMessage(_ message: NewMessage, createdAt: Int64) throws(Refusal) -> StoredMessage {
    if let earlier = try claimClientID(of: message) { return earlier }
    guard let last = try lastTime(in: message.conversation) else { throw .notFound }
    guard last.time <= createdAt, createdAt <= now else {
      throw .invalid("created_at", .outOfRange(Int(min(last.time, now))...Int(now)))
    }
    let (stored, forum) = try append(message, in: last.state, at: createdAt, isChained: false)
    if last.state == "open", let forum { try setLastMessage(stored.id, of: forum) }
    try run { connection in
      try connection.execute(
        "update conversation set import_seq = $1 where id = $2", stored.seq, message.conversation.number)
    }
    return stored
  }

  /// Marks imported messages from `first` on as read for up to `limit` participants that have read all before them. Returns
  /// whether some may be left.
  public func advanceReaders(
    in conversation: ID<Conversation>, from first: Int, limit: Int
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.all(
        """
        update participant
        set joined_seq = (select last_seq from conversation where id = $1)
        where conversation_id = $1 and user_id in (
          select p.user_id
          from participant p
          join conversation c on c.id = p.conversation_id
          where p.conversation_id = $1 and p.joined_seq < c.last_seq and max(p.joined_seq, coalesce((
            select read_seq
            from read_position
            where user_id = p.user_id and conversation_id = p.conversation_id
          ), 0)) >= $2 - 1
          limit $3
        )
        returning user_id
        """, conversation.number, first, limit
      ) { row in try row.int(0) }.count
    } >= limit
  }

  /// Adds the earlier texts of an imported message, oldest first. Without one the message only counts as edited.
  public func importEdits(
    of message: ID<Message>, in conversation: ID<Conversation>, by author: ID<User>,
    earlier: [(text: String, time: Int64)], editedAt: Int64
  ) throws(Refusal) {
    for (index, text) in earlier.enumerated() {
      try run { connection in
        try connection.execute(
          """
          insert into revision (message_id, revision, text, entities, edited_at, edited_by)
          values ($1, $2, $3, null, $4, $5)
          """, message.number, index + 1, text.text, Int(text.time), author.number)
      }
      try log(
        .messageEdited, in: .conversation(conversation), subject: message.number, revision: index + 2,
        actor: author.number)
    }
    try run { connection in
      try connection.execute(
        "update message set edited_at = $1, edited_by = $2, revision = $3 where id = $4", Int(editedAt), author.number,
        earlier.count + 1, message.number)
    }
    if !earlier.isEmpty { try dropFingerprint(of: try state(of: message)) }
  }

  /// Sets the solution of a topic that is being imported.
  public func importSolution(_ message: ID<Message>, of topic: ID<Conversation>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update conversation set solved_by = $1 where id = $2 and state = 'importing'", message.number, topic.number)
    }
  }

  /// Opens the conversation for reading and writing.
  public func openImported(_ id: ID<Conversation>, by actor: ID<User>) throws(Refusal) {
    let opened = try run { connection in
      try connection.first(
        """
        update conversation
        set state = 'open', revision = revision + 1
        where id = $1 and state = 'importing'
        returning revision, forum_id
        """, id.number
      ) { row in (revision: try row.int(0), forum: try row.optionalInt(1).map { ID<Forum>($0) }) }
    }
    guard let opened else { throw .notFound }
    try log(
      .conversationUpdated, in: .conversation(id), subject: id.number, revision: opened.revision, actor: actor.number)
    guard let forum = opened.forum else { return }
    try run { connection in
      try connection.execute(
        """
        update forum
        set last_message_id = max(last_message_id, (select last_message_id from conversation where id = $1))
        where id = $2
        """, id.number, forum.number)
    }
    try log(
      .conversationCreated, in: .forum(forum), subject: id.number, revision: opened.revision, actor: actor.number)
  }

  /// Adds a participant to an imported conversation. All of it is readable and nothing unread.
  public func importParticipant(
    _ user: ID<User>, _ role: ParticipantRole, in conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    guard try participant(user, of: conversation) == nil else { return }
    let last = try lastImportedSeq(in: conversation)
    try insert(NewParticipant(user, role), in: conversation, fromSeq: 1, fromOffset: 1, joinedSeq: last)
    try logParticipant(.participantJoined, user, of: conversation, by: actor)
    try logToUser(.conversationCreated, of: conversation, to: user, by: actor)
  }

  /// The time of the last message or, without one, of the conversation. Nil unless an import may write there.
  private func lastTime(in conversation: ID<Conversation>) throws(Refusal) -> (time: Int64, state: String)? {
    try run { connection in
      try connection.first(
        """
        select coalesce(m.created_at, c.created_at), c.state
        from conversation c
        left join message m on m.id = c.last_message_id
        where c.id = $1 and (c.state = 'importing'
          or c.state = 'open' and c.imported = 1 and c.last_seq = coalesce(c.import_seq, 0))
        """, conversation.number
      ) { row in (Int64(try row.int(0)), try row.text(1)) }
    }
  }

  /// The time of the last message of a conversation that an import fills.
  public func lastImportTime(in conversation: ID<Conversation>) throws(Refusal) -> Int64? {
    try lastTime(in: conversation)?.time
  }
}

extension ReadTransaction {
  /// The number of the last message.
  public func lastImportedSeq(in conversation: ID<Conversation>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select last_seq from conversation where id = $1", conversation.number) { row in
        try row.int(0)
      }
    } ?? 0
  }
}
