// Messages of a conversation. The transaction that stores a message assigns the next `seq` and the id of the previous
// message, so the chain has no gap and no fork under concurrent writes.

public import ParleyModel
import ParleySQLite

/// A stored message: its id and position.
public struct StoredMessage: Sendable, Hashable {
  public let id: ID<Message>
  public let seq: Int
  public let previous: ID<Message>?
  /// False for a repeated send.
  public let isNew: Bool
}

/// The end of a conversation before the next message.
public struct ConversationEnd: Sendable {
  let seq: Int
  let message: ID<Message>?
  let forum: ID<Forum>?
  /// The last offset of the conversation's stream.
  let offset: Int
  /// Whether it is a topic with tags.
  let isTagged: Bool
  let chain: ChainEnd

  /// Columns of a query of `conversation c` with `last_seq`.
  static let columns = """
    (select id from message where conversation_id = c.id and seq = c.last_seq) as end_id, c.forum_id,
    coalesce(e.head, 0) as head, c.tags is not null as is_tagged, \(ChainEnd.columns)
    """

  static func join(stream: String) -> String { "left join stream e on e.id = \(stream)" }

  init(_ row: borrowing Row) throws {
    seq = try row.int("last_seq")
    message = try row.optionalInt("end_id").map { ID($0) }
    forum = try row.optionalInt("forum_id").map { ID($0) }
    offset = try row.int("head")
    isTagged = try row.bool("is_tagged")
    chain = try ChainEnd(row)
  }
}

extension WriteTransaction {
  /// - Parameter end: the end of the conversation, for a caller that has read it.
  public func post(_ message: NewMessage, after end: ConversationEnd? = nil) throws(Refusal) -> StoredMessage {
    if let earlier = try claimClientID(of: message) { return earlier }
    let (stored, forum) = try append(message, in: "open", after: end, at: now)
    if let forum { try setLastMessage(stored.id, of: forum) }
    return stored
  }

  /// Stores the `client_id` of a message that `append` stores next, or returns the message of an earlier send.
  func claimClientID(of message: NewMessage) throws(Refusal) -> StoredMessage? {
    guard let clientID = message.clientID else { return nil }
    let fingerprint = try message.fingerprint()
    let isFirst = try isFirst(
      .message, by: message.author, clientID, subject: upcomingID, fingerprint: fingerprint)
    if isFirst { return nil }
    guard let earlier = try earlier(message, fingerprint) else { throw .clientIDReused }
    return earlier
  }

  /// Stores a message as the last one of its conversation, which is in this state.
  ///
  /// - Parameter isChained: whether it gets its entry in the chain now. Imported messages get theirs when their edits are there.
  func append(
    _ message: NewMessage, in state: String, after knownEnd: ConversationEnd? = nil, at time: Int64,
    isChained: Bool = true
  ) throws(Refusal) -> (stored: StoredMessage, forum: ID<Forum>?) {
    if let parent = message.replyTo { try requireMessage(parent, in: message.conversation) }

    let id = ID<Message>(nextID())
    let found: ConversationEnd? = if let knownEnd { knownEnd } else { try end(of: message.conversation, in: state) }
    guard let end = found else { throw .notFound }
    let (seq, forum) = (end.seq + 1, end.forum)
    let link = isChained ? try link(message, id, after: end, at: time) : ChainLink(end: end.chain)
    try advance(message.conversation, to: id, at: seq, isTagged: end.isTagged, chain: link.end)
    try insert(message, id, seq, end.message, link, at: time)
    try addRows(of: message.text, to: id, in: message.conversation)
    if let annotations = message.annotations {
      try addRows(of: annotations.types, annotations.location, to: id, in: message.conversation)
    }
    try attach(AttachedFiles(message.attachments, message.descriptions), to: id)
    if let poll = message.poll { try add(poll, to: id) }
    if !message.isMachineOnly, message.repostOf == nil {
      searchChanges.append(.add(try searchEntry(of: message, id, in: forum)))
    }
    try log(
      .messageCreated, in: .conversation(message.conversation), subject: id.number, revision: 1,
      actor: message.author.number, after: end.offset)
    if seq == 1, !message.text.hashtags.isEmpty {
      try setTags(of: message.conversation, message.text.hashtags, by: message.author)
    }
    return (StoredMessage(id: id, seq: seq, previous: end.message, isNew: true), forum)
  }

  /// The entry that `searchEntry(of:)` would read from the rows.
  private func searchEntry(
    of message: NewMessage, _ id: ID<Message>, in forum: ID<Forum>?
  ) throws(Refusal) -> SearchEntry {
    try run { connection in
      var features = [SearchFeature.author(message.author)]
      if message.text.entities != nil {
        features += message.text.hashtags.map { .hashtag($0) } + message.text.mentions.map { .mention($0) }
        if !message.text.links.isEmpty { features.append(.link) }
      }
      if let annotations = message.annotations {
        features += annotations.types.map { .annotation($0) }
        features += (annotations.location.map { GeoCell.cells(of: $0) } ?? []).map { .cell($0) }
      }
      let hasFiles = !message.attachments.isEmpty
      if hasFiles { features += try SearchIndex.files(of: id, connection) }
      return try SearchEntry(
        id, text: message.text.markdown, options: message.poll?.options.map(\.text) ?? [],
        locationName: message.annotations?.location?.name,
        fileNames: hasFiles ? try SearchIndex.fileNames(of: id, connection) : [],
        conversation: message.conversation, forum: forum, features: features)
    }
  }

  func setLastMessage(_ id: ID<Message>, of forum: ID<Forum>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update forum
        set last_message_id = $1
        where id = $2
        """, id.number, forum.number)
    }
  }

  /// Sets the newest message of a forum, which was `last`, a message of a closed conversation, to that of its open ones.
  func replaceLastMessage(_ last: ID<Message>, of forum: ID<Forum>) throws(Refusal) {
    try run { connection in
      // The index of topics finds the newest of each kind.
      try connection.execute(
        """
        update forum
        set last_message_id = max(
          coalesce((
            select last_message_id
            from conversation
            where forum_id = $1 and kind = 'room' and state = 'open'
          ), 0),
          coalesce((
            select last_message_id
            from conversation
            where forum_id = $1 and kind = 'topic' and state = 'open' and pinned = 0 and last_message_id > 0
            order by activity desc
            limit 1
          ), 0),
          coalesce((
            select last_message_id
            from conversation
            where forum_id = $1 and kind = 'topic' and state = 'open' and pinned = 1 and last_message_id > 0
            order by activity desc
            limit 1
          ), 0))
        where id = $1 and last_message_id = $2
        """, forum.number, last.number)
    }
  }

  /// The message of an earlier send with the same `client_id`, over any transport.
  public func earlier(_ message: NewMessage) throws(Refusal) -> StoredMessage? {
    try earlier(message, message.clientID == nil ? [] : try message.fingerprint())
  }

  func earlier(_ message: NewMessage, _ fingerprint: [UInt8]) throws(Refusal) -> StoredMessage? {
    guard let clientID = message.clientID else { return nil }
    let found = try run { connection in
      try connection.first(
        """
        select i.subject, i.fingerprint, m.seq, m.previous_message, m.revision
        from idempotency i
        join message m on m.id = i.subject
        where i.author_id = $1 and i.kind = 'message' and i.client_id = $2
        """, message.author.number, clientID
      ) { row in
        (
          stored: StoredMessage(
            id: ID(try row.int(0)), seq: try row.int(2), previous: try row.optionalInt(3).map { ID($0) }, isNew: false),
          fingerprint: try row.bytes(1), revision: try row.int(4)
        )
      }
    }
    guard let found else { return nil }
    // An edited or deleted message is not compared: the sender only needs to know that it arrived.
    guard found.revision > 1 || found.fingerprint == fingerprint else { throw .clientIDReused }
    return found.stored
  }

  /// Nil if the conversation is not in this state.
  private func end(of conversation: ID<Conversation>, in state: String) throws(Refusal) -> ConversationEnd? {
    try run { connection in
      try connection.first(
        Self.endOfConversation, EventStream.conversation(conversation).number, conversation.number, state,
        read: ConversationEnd.init)
    }
  }

  private static let endOfConversation = SQL(
    """
    select c.last_seq, \(ConversationEnd.columns)
    from conversation c
    \(ConversationEnd.join(stream: "$1"))
    where c.id = $2 and c.state = $3
    """)

  /// Makes a message the last one of a conversation. `returning` would build a temporary table.
  private func advance(
    _ conversation: ID<Conversation>, to message: ID<Message>, at seq: Int, isTagged: Bool, chain: ChainEnd
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        isTagged ? Self.advanceTagged : Self.advancePlain, seq, message.number, chain.seq, chain.position, chain.hash,
        conversation.number)
    }
  }

  private static let advancePlain: SQL = """
    update conversation
    set last_seq = $1, last_message_id = $2, chained_seq = $3, chain_length = $4, chain_head = $5
    where id = $6
    """

  /// Setting `tags` runs the trigger that moves the topic in the lists of its tags.
  private static let advanceTagged: SQL = """
    update conversation
    set last_seq = $1, last_message_id = $2, chained_seq = $3, chain_length = $4, chain_head = $5, tags = tags
    where id = $6
    """

  /// A reply belongs to the conversation of its parent, which may be a tombstone.
  private func requireMessage(_ id: ID<Message>, in conversation: ID<Conversation>) throws(Refusal) {
    let found = try run { connection in
      try connection.first(
        """
        select 1
        from message
        where id = $1 and conversation_id = $2
        """, id.number, conversation.number
      ) { row in try row.int(0) }
    }
    if found == nil { throw .notFound }
  }

  private func insert(
    _ message: NewMessage, _ id: ID<Message>, _ seq: Int, _ previous: ID<Message>?, _ link: ChainLink, at time: Int64
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into message (
          id, conversation_id, seq, previous_message, author_id, client_id, kind, text, entities, annotations, reply_to,
          machine_only, created_at, latest_at, sent_at, has_poll, buttons, repost_of, chain_position, proof)
        values (
          $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
          (select coalesce(latest_at, created_at) from message where id = $4 and coalesce(latest_at, created_at) > $13),
          $14, $15, $16, $17, $18, $19)
        """, id.number, message.conversation.number, seq, previous?.number, message.author.number, message.clientID,
        message.kind.rawValue, message.text.markdown, message.text.entities, message.annotations?.json,
        message.replyTo?.number, message.isMachineOnly, Int(time), message.sentAt.map { Int($0) },
        message.poll == nil ? nil : 1, message.buttons.stored, message.repostOf?.number, link.position,
        link.proof?.stored)
    }
  }
}
