// What waits for people. Each entry is one row, written in the transaction of its cause, and an event of the person's own
// stream. It holds no text, and goes with the message that it is about.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What waits for somebody, or has waited, the newest first.
  public func inbox(
    of person: ID<Account>, kind: InboxEntry.Kind? = nil, isUnread: Bool = false, before entry: ID<InboxEntry>? = nil,
    limit: Int
  ) throws(Refusal) -> [InboxEntry] {
    let all: SQL = """
      select i.id, i.kind, i.conversation_id, i.message_id, i.report_id, i.sanction_id, i.actor_id, i.created_at,
        i.read_at
      from inbox i
      left join message m on m.id = i.message_id
      where i.user_id = $1 and i.id < $2 and ($3 is null or i.kind = $3) and m.deletion is null
      order by i.id desc
      limit $4
      """
    let unread: SQL = """
      select i.id, i.kind, i.conversation_id, i.message_id, i.report_id, i.sanction_id, i.actor_id, i.created_at,
        i.read_at
      from inbox i
      left join message m on m.id = i.message_id
      where i.user_id = $1 and i.id < $2 and ($3 is null or i.kind = $3) and m.deletion is null and i.read_at is null
      order by i.id desc
      limit $4
      """
    return try run { connection in
      try connection.all(
        isUnread ? unread : all, person.number, entry?.number ?? .max, kind?.rawValue, limit, read: InboxEntry.init)
    }
  }

  /// Entries by their ids; those that have gone are left out.
  public func inbox(_ ids: [ID<InboxEntry>]) throws(Refusal) -> [InboxEntry] {
    var found: [InboxEntry] = []
    try run { connection in
      try Self.entries.each(ids.map(\.number), connection) { row in found.append(try InboxEntry(row)) }
    }
    return found
  }

  private static let entries = ListQuery { list in
    """
    select id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at
    from inbox
    where id in (\(list))
    """
  }
}

extension WriteTransaction {
  /// How many entries one closure changes: each is three rows with its event.
  public static let inboxChunk = 500

  /// Lets something wait for somebody. Of one message at most one thing waits for each.
  public func addToInbox(
    _ kind: InboxEntry.Kind, of person: ID<Account>, in conversation: ID<Conversation>? = nil,
    message: ID<Message>? = nil, report: ID<Report>? = nil, sanction: ID<Sanction>? = nil, by actor: ID<Account>
  ) throws(Refusal) {
    let id = nextID()
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into inbox (id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (message_id, user_id) where message_id is not null do nothing
        """, id, person.number, kind.rawValue, conversation?.number, message?.number, report?.number,
        sanction?.number, actor.number, Int(now)) == 1
    }
    guard isNew else { return }
    try log(.inboxAdded, in: .user(person), subject: id, revision: 0, actor: actor.number)
  }

  /// Reads what waits up to an entry: whether there may be more.
  public func readInbox(
    of person: ID<Account>, upTo entry: ID<InboxEntry>, limit: Int = inboxChunk
  ) throws(Refusal) -> Bool {
    let read = try run { connection in
      try connection.all(
        """
        update inbox
        set read_at = $1
        where id in (
          select id
          from inbox
          where user_id = $2 and id <= $3 and read_at is null
          order by id
          limit $4
        )
        returning id
        """, Int(now), person.number, entry.number, limit
      ) { row in try row.int(0) }
    }
    guard let last = read.max() else { return false }
    try log(.inboxRead, in: .user(person), subject: last, revision: 0, actor: person.number)
    return read.count == limit
  }

  /// Reads what waits because of the messages of a conversation, up to one of them: whether there may be more.
  public func readInbox(
    of person: ID<Account>, in conversation: ID<Conversation>, upTo message: ID<Message>, limit: Int = inboxChunk
  ) throws(Refusal) -> Bool {
    let count = try run { connection in
      try connection.execute(
        """
        update inbox
        set read_at = $1
        where id in (
          select id
          from inbox
          where user_id = $2 and conversation_id = $3 and message_id <= $4 and read_at is null
          order by message_id
          limit $5
        )
        """, Int(now), person.number, conversation.number, message.number, limit)
    }
    guard count > 0 else { return false }
    try log(.inboxRead, in: .user(person), subject: conversation.number, revision: 0, actor: person.number)
    return count == limit
  }

  /// A request waits until it is answered, or nobody is asked any more.
  public func removeRequestFromInbox(
    of person: ID<Account>, in conversation: ID<Conversation>, by actor: ID<Account>
  ) throws(Refusal) {
    let count = try run { connection in
      try connection.execute(
        """
        delete from inbox
        where user_id = $1 and conversation_id = $2 and message_id is null and kind = 'request'
        """, person.number, conversation.number)
    }
    guard count > 0 else { return }
    try log(.inboxRead, in: .user(person), subject: conversation.number, revision: 0, actor: actor.number)
  }

  /// What waits because of a message goes with it: a few at once, what is more in a stored job. Nobody sees it meanwhile.
  func removeFromInboxes(_ message: ID<Message>, by actor: ID<Account>) throws(Refusal) {
    guard try takeFromInboxes(message, limit: Self.inboxChunk, by: actor) else { return }
    _ = try startJob(
      kind: JobKind.inboxRemoval.name, subject: message.number, by: actor,
      state: InboxRemoval(message: message, actor: actor))
  }

  /// Whether there may be more.
  fileprivate func takeFromInboxes(_ message: ID<Message>, limit: Int, by actor: ID<Account>) throws(Refusal) -> Bool {
    let people = try run { connection in
      try connection.all(
        """
        delete from inbox
        where id in (
          select id
          from inbox
          where message_id = $1
          order by user_id
          limit $2
        )
        returning user_id
        """, message.number, limit
      ) { row in ID<Account>(try row.int(0)) }
    }
    for person in people.sorted() {
      try log(.inboxRead, in: .user(person), subject: message.number, revision: 0, actor: actor.number)
    }
    return people.count == limit
  }
}

extension JobKind {
  /// Takes what waits because of a message that is no more out of more inboxes than one closure changes.
  public static let inboxRemoval = JobKind("inbox-removal") { (tx, removal: inout InboxRemoval) throws(Refusal) in
    // Restored meanwhile, it rings as it did.
    guard try tx.state(of: removal.message).deletion != nil else { return true }
    return try !tx.takeFromInboxes(
      removal.message, limit: WriteTransaction.inboxChunk, by: removal.actor)
  }

  /// Rings the members of a forum who were called all at once, where they are more than one closure reaches.
  public static let roomRinging = JobKind("room-ringing") { (tx, ringing: inout RoomRinging) throws(Refusal) in
    guard try tx.state(of: ringing.message).deletion == nil else { return true }
    return try !tx.ringMore(&ringing)
  }
}

extension WriteTransaction {
  /// Lets a message that calls everyone in a forum wait for its members: the first at once, more in a stored job.
  public func ringRoom(
    _ forum: ID<Forum>, for message: ID<Message>, in conversation: ID<Conversation>, by author: ID<Account>
  ) throws(Refusal) {
    var ringing = RoomRinging(message: message, conversation: conversation, forum: forum, author: author)
    guard try ringMore(&ringing) else { return }
    _ = try startJob(kind: JobKind.roomRinging.name, subject: message.number, by: author, state: ringing)
  }

  /// Whether there may be more.
  fileprivate func ringMore(_ ringing: inout RoomRinging) throws(Refusal) -> Bool {
    let members = try ringableMembers(
      of: ringing.forum, by: ringing.author, in: ringing.conversation, after: ringing.last, limit: Self.inboxChunk)
    for member in members {
      try addToInbox(.room, of: member, in: ringing.conversation, message: ringing.message, by: ringing.author)
    }
    ringing.last = members.last ?? ringing.last
    return members.count == Self.inboxChunk
  }
}

extension InboxEntry {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), kind: try row.word(1), conversation: try row.optionalInt(2).map { ID($0) },
      message: try row.optionalInt(3).map { ID($0) }, report: try row.optionalInt(4).map { ID($0) },
      sanction: try row.optionalInt(5).map { ID($0) }, actor: try row.optionalInt(6).map { ID($0) },
      createdAt: Int64(try row.int(7)), readAt: try row.optionalInt(8).map { Int64($0) })
  }
}
