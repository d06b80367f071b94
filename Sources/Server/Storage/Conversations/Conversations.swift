// Conversations outside of forums, and the operations that all conversations share. Rooms and topics are created in
// `Forums/`.

public import ParleyModel
import ParleySQLite

/// The input for storing a conversation, already validated by the rules.
public struct NewConversation: Sendable {
  public var kind: Conversation.Kind
  /// The owner of a feed.
  public var owner: ID<User>?
  public var type: String?
  public var fields: Patch<Conversation> = []
  public var readers = Conversation.Openness()
  public var writers = Conversation.Openness()
  /// The participant ids as one text, for a conversation that is unique for its participants.
  public var distinctKey: String?
  public var participants: [NewParticipant] = []

  public init(_ kind: Conversation.Kind) { self.kind = kind }
}

/// A user to add. `isRequest` if the user does not know the creator and has to accept the conversation.
public struct NewParticipant: Sendable, Hashable {
  public var user: ID<User>
  public var role: ParticipantRole
  public var isRequest: Bool

  public init(_ user: ID<User>, _ role: ParticipantRole = .member, isRequest: Bool = false) {
    self.user = user
    self.role = role
    self.isRequest = isRequest
  }
}

extension ReadTransaction {
  /// The columns of `Conversation.init(_: Row)`.
  static let conversationColumns = """
    c.id, c.kind, c.forum_id, c.owner_id, c.type, c.readers, c.writers, c.readers_immutable, c.writers_immutable,
    c.pinned, c.solved_by, c.distinct_key is not null as is_distinct, c.last_seq, c.last_message_id, c.created_by,
    c.created_at, c.revision, \(Topic.shownTags) as tags, \(Conversation.columns(of: "c"))
    """

  /// The additional columns of `OwnConversation.init(_: Row)`.
  static let ownColumns = """
    p.role, p.from_seq, p.from_offset, p.request, coalesce(p.joined_seq, 0) as joined_seq,
    coalesce(k.read_seq, 0) as read_seq, coalesce(k.delivered_seq, 0) as delivered_seq, coalesce(s.head, 0) as head,
    coalesce(l.level, case when c.kind = 'room' then f.level end) as level
    """

  /// An open conversation; nil for an unknown or closed one.
  public func conversation(_ id: ID<Conversation>) throws(Refusal) -> Conversation? {
    let found = try run { connection in
      try connection.first(
        SQL(
          """
          select \(Self.conversationColumns)
          from conversation c
          where c.id = $1 and c.state = 'open'
          """), id.number, read: Conversation.init)
    }
    guard var found else { return nil }
    try addParticipants(to: &found)
    return found
  }

  /// The kind of a conversation, open or closed; nil for an unknown id.
  public func kind(of id: ID<Conversation>) throws(Refusal) -> Conversation.Kind? {
    try run { connection in
      try connection.first(
        """
        select kind
        from conversation
        where id = $1
        """, id.number
      ) { row in try row.word(0) }
    }
  }

  /// Conversations from the view of one user, in the order of `ids`. `fromSeq` is the start of the user's history. The
  /// caller adds the user's own actions on the last messages.
  public func conversations(
    _ ids: [(id: ID<Conversation>, fromSeq: Int)], of user: ID<User>
  ) throws(Refusal) -> [OwnConversation] {
    var found: [OwnConversation] = []
    for (id, fromSeq) in ids {
      guard let own = try own(id, of: user, fromSeq: fromSeq) else { continue }
      found.append(own)
    }
    let last = try messages(found.compactMap(\.conversation.lastMessage))
    let byID = Dictionary(last.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    for index in found.indices {
      found[index].lastMessage = found[index].conversation.lastMessage.flatMap { byID[$0] }.map { MessageView($0) }
    }
    return found
  }

  /// One of them, without its last message. Messages before `fromSeq` are ignored.
  private func own(
    _ id: ID<Conversation>, of user: ID<User>, fromSeq: Int
  ) throws(Refusal) -> OwnConversation? {
    let found = try run { connection in
      try connection.first(
        SQL(
          """
          select \(Self.conversationColumns), \(Self.ownColumns)
          from conversation c
          left join participant p on p.conversation_id = c.id and p.user_id = $1
          left join read_position k on k.user_id = $1 and k.conversation_id = c.id
          left join stream s on s.id = 4 * c.id + 3
          left join level l on l.user_id = $1 and l.scope_id = c.id
          left join level f on f.user_id = $1 and f.scope_id = c.forum_id
          where c.id = $2 and c.state = 'open'
          """), user.number, id.number
      ) { row in (own: try OwnConversation(row), joinedSeq: try row.int("joined_seq")) }
    }
    guard let found else { return nil }
    var own = found.own
    try addParticipants(to: &own.conversation)
    let start = ConversationHead.unreadStart(readSeq: own.readSeq, joinedSeq: found.joinedSeq, fromSeq: fromSeq)
    if own.conversation.lastSeq < fromSeq { own.conversation.lastMessage = nil }
    if own.conversation.lastSeq > start { own.unread = try unread(of: user, in: id, after: start) }
    return own
  }

  /// The conversations of a participant, last active first. `activity` is the id of the last message or, without one,
  /// of the conversation. Conversations of a forum are included if its visibility is in `seen`, or the user is a
  /// member or reads by a group.
  public func conversations(
    of user: ID<User>, seeing seen: [Visibility], kind: Conversation.Kind?, type: String?, _ slice: ListSlice
  ) throws(Refusal) -> [(id: ID<Conversation>, activity: Int)] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
            select c.id, coalesce(nullif(c.last_message_id, 0), c.id) as activity
          from participant p
          join conversation c on c.id = p.conversation_id
          left join forum f on f.id = c.forum_id
          where p.user_id = $1 and coalesce(nullif(c.last_message_id, 0), c.id) \(page.comparison) $2 and c.state = 'open'
          and f.deleted_at is null
          and ($3 is null or c.kind = $3) and ($4 is null or c.type = $4)
          and (
            c.forum_id is null
            or f.visibility in ($5, $6, $7)
            or exists (
              select 1
              from forum_member m
              where m.forum_id = c.forum_id and m.user_id = $1
            )
            or exists (
              select 1
              from forum_group g
              join user_group_member n on n.group_id = g.group_id and n.user_id = $1
              where g.forum_id = c.forum_id and g.access >= 'read'
            )
          )
          order by activity \(page.order)
          limit $8
          """), user.number, page.number(), kind?.rawValue, type,
        seen.contains(.public) ? Visibility.public.rawValue : "",
        seen.contains(.members) ? Visibility.members.rawValue : "",
        seen.contains(.private) ? Visibility.private.rawValue : "", slice.limit
      ) { row in (ID(try row.int(0)), try row.int(1)) }
    }
  }

  /// The unique conversation of these participants, and whether it is open.
  public func conversation(
    distinct key: String
  ) throws(Refusal) -> (id: ID<Conversation>, isOpen: Bool)? {
    try run { connection in
      try connection.first(
        """
        select id, state = 'open'
        from conversation
        where distinct_key = $1
        """, key
      ) { row in (ID(try row.int(0)), try row.bool(1)) }
    }
  }

  public func feed(of user: ID<User>) throws(Refusal) -> ID<Conversation>? {
    try run { connection in
      try connection.first(
        """
        select id
        from conversation
        where owner_id = $1 and kind = 'feed'
        """, user.number
      ) { row in ID(try row.int(0)) }
    }
  }

  private func addParticipants(to conversation: inout Conversation) throws(Refusal) {
    guard !conversation.kind.isInForum, conversation.kind != .feed else { return }
    let listed = try participants(of: conversation.id, ListSlice(limit: Conversation.maxListed + 1))
    if listed.count <= Conversation.maxListed { conversation.participants = listed }
    conversation.participantCount =
      listed.count <= Conversation.maxListed
      ? listed.count : try participantCount(of: conversation.id, upTo: Conversation.maxCounted)
  }
}

extension WriteTransaction {
  /// Creates a conversation with its first participants.
  public func add(_ new: NewConversation, by creator: ID<User>) throws(Refusal) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    let conversation = new.fields.applied(
      to: Conversation(
        id: id, kind: new.kind, owner: new.owner, type: new.type, readers: new.readers, writers: new.writers,
        createdBy: creator, createdAt: now))
    let identity: [StoredColumn] = [
      ("id", id.stored), ("kind", .text(new.kind.rawValue)), ("owner_id", new.owner.stored), ("type", new.type.stored),
      ("distinct_key", new.distinctKey.stored), ("created_by", creator.stored), ("created_at", .int(Int(now))),
    ]
    try insert(into: "conversation", identity + conversation.columns(since: nil) + conversation.opennessColumns)
    try log(.conversationCreated, in: .conversation(id), subject: id.number, revision: 1, actor: creator.number)
    for participant in new.participants {
      try insert(participant, in: id, fromSeq: 1, fromOffset: 1, joinedSeq: 0)
      try logToUser(.conversationCreated, of: id, to: participant.user, by: creator)
    }
    if let owner = new.owner { try logToUser(.conversationCreated, of: id, to: owner, by: creator) }
    return id
  }

  /// Updates a conversation and raises its revision by one. The caller has checked that it changed.
  public func change(
    _ conversation: Conversation, from old: Conversation, by actor: ID<User>
  ) throws(Refusal) -> Conversation {
    var conversation = conversation
    conversation.revision = old.revision + 1
    var columns = conversation.columns(since: old) + conversation.opennessColumns
    if !conversation.isDistinct { columns.append(("distinct_key", .null)) }
    try update("conversation", conversation.id.number, set: columns + [("revision", .int(conversation.revision))])
    try log(.conversationUpdated, of: conversation, by: actor)
    return conversation
  }

  /// Sets the start of the history for users that a wider audience admits: now, or the beginning.
  public func openHistory(
    of conversation: Conversation, from audience: Audience, beginning: Bool
  ) throws(Refusal) {
    let start = beginning ? 1 : conversation.lastSeq + 1
    try run { connection in
      try connection.execute(
        """
        update conversation
        set anyone_from_seq = $1, users_from_seq = case when $2 then $1 else users_from_seq end
        where id = $3
        """, start, beginning || audience == .listed, conversation.id.number)
    }
  }

  /// Closes a conversation for all users and removes the participants, many of a topic in a stored job. Its messages stay for
  /// moderators.
  public func delete(_ conversation: Conversation, by actor: ID<User>) throws(Refusal) {
    try close(conversation, as: "deleted", by: actor)
    let removal = ConversationRemoval(of: conversation.id, by: actor)
    // Other conversations have a limit of participants, so that one transaction informs all of them.
    let limit = conversation.kind.isInForum ? ConversationRemoval.chunkSize : .max
    guard try !removeParticipants(removal, limit: limit) else { return }
    _ = try startJob(
      kind: JobKind.conversationRemoval.name, subject: conversation.id.number, by: actor, state: removal)
  }

  /// Closes a conversation after its last participant left.
  func deactivate(_ conversation: Conversation, by actor: ID<User>) throws(Refusal) {
    try close(conversation, as: "inactive", by: actor)
  }

  private func close(
    _ conversation: Conversation, as state: String, by actor: ID<User>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update conversation
        set state = $1, deleted_at = $2, distinct_key = null, revision = revision + 1
        where id = $3
        """, state, state == "deleted" ? Int(now) : nil, conversation.id.number)
    }
    var closed = conversation
    closed.revision += 1
    try log(.conversationRemoved, of: closed, by: actor)
    if let forum = conversation.forum, let last = conversation.lastMessage { try replaceLastMessage(last, of: forum) }
  }

  /// Logs to the conversation's stream, and to the stream of its forum.
  private func log(
    _ kind: Event.Kind, of conversation: Conversation, by actor: ID<User>
  ) throws(Refusal) {
    let (id, revision) = (conversation.id, conversation.revision)
    try log(kind, in: .conversation(id), subject: id.number, revision: revision, actor: actor.number)
    guard let forum = conversation.forum else { return }
    try log(kind, in: .forum(forum), subject: id.number, revision: revision, actor: actor.number)
  }

  /// Logs to the user's stream that the user gained or lost a conversation, for all devices.
  func logToUser(
    _ kind: Event.Kind, of conversation: ID<Conversation>, to user: ID<User>, by actor: ID<User>
  ) throws(Refusal) {
    try log(kind, in: .user(user), subject: conversation.number, revision: 0, actor: actor.number)
  }
}

// MARK: Rows

extension Conversation {
  init(_ row: borrowing Row) throws {
    let last = try row.int("last_message_id")
    self.init(
      id: ID(try row.int("id")), kind: try row.word("kind"), forum: try row.optionalInt("forum_id").map { ID($0) },
      owner: try row.optionalInt("owner_id").map { ID($0) }, type: try row.optionalText("type"),
      readers: Openness(try row.word("readers"), isImmutable: try row.bool("readers_immutable")),
      writers: Openness(try row.word("writers"), isImmutable: try row.bool("writers_immutable")),
      isPinned: try row.bool("pinned"), solvedBy: try row.optionalInt("solved_by").map { ID($0) },
      isDistinct: try row.bool("is_distinct"), lastSeq: try row.int("last_seq"),
      lastMessage: last == 0 ? nil : ID(last), createdBy: ID(try row.int("created_by")),
      createdAt: Int64(try row.int("created_at")), revision: try row.int("revision"))
    tags = try row.tags(try row.position("tags"))
    try readFields(row, from: row.position("title"))
  }

  /// Both audiences have the same fields, so their columns have names of their own.
  fileprivate var opennessColumns: [StoredColumn] {
    [
      ("readers", readers.audience.stored), ("readers_immutable", readers.isImmutable.stored),
      ("writers", writers.audience.stored), ("writers_immutable", writers.isImmutable.stored),
    ]
  }
}

extension OwnConversation {
  init(_ row: borrowing Row) throws {
    let conversation = try Conversation(row)
    self.init(
      conversation, lastMessage: nil, unread: 0, readSeq: try row.int("read_seq"),
      deliveredSeq: try row.int("delivered_seq"), lastOffset: try row.int("head"),
      level: try row.optionalWord("level") ?? .usual(in: conversation.kind),
      participation: try row.isNull("role")
        ? nil
        : Participation(
          role: try row.word("role"), fromSeq: try row.int("from_seq"), fromOffset: try row.int("from_offset"),
          joinedSeq: try row.int("joined_seq"), isRequest: try row.bool("request")))
  }
}
