public import ParleyModel
import ParleySQLite

/// A user who may be notified of a message.
public struct NotificationCandidate: Sendable, Hashable {
  public let user: ID<User>
  /// For the conversation.
  public let level: Level
  /// The last offset of the user's stream.
  let offset: Int
}

extension ReadTransaction {
  /// A user as a recipient of messages of an author in a conversation. Nil if the user has muted or blocked the author, has
  /// not accepted the conversation, or is not active.
  public func notificationCandidate(
    _ user: ID<User>, from author: ID<User>, in conversation: ID<Conversation>
  ) throws(Refusal) -> NotificationCandidate? {
    try run { connection in
      try connection.first(
        Self.candidate, conversation.number, user.number, author.number, read: NotificationCandidate.init)
    }
  }

  /// The same for the other participant of a direct conversation.
  public func directCandidate(
    from author: ID<User>, in conversation: ID<Conversation>
  ) throws(Refusal) -> NotificationCandidate? {
    try run { connection in
      try connection.first(
        Self.otherParticipant, conversation.number, author.number, read: NotificationCandidate.init)
    }
  }

  private static let candidate = candidate(
    """
    from account a
    left join participant p on p.conversation_id = $1 and p.user_id = a.id
    """, where: "a.id = $2", author: "$3")
  private static let otherParticipant = candidate(
    """
    from participant p
    join account a on a.id = p.user_id
    """, where: "p.conversation_id = $1 and p.user_id <> $2", author: "$2")

  /// SQLite would build a temporary table for `in ('mute', 'block')`.
  private static func candidate(_ tables: String, where condition: String, author: String) -> SQL {
    SQL(
      """
      select a.id, coalesce(l.level, case when c.kind = 'room' then f.level end), c.kind, coalesce(e.head, 0)
      \(tables)
      join conversation c on c.id = $1
      left join level l on l.user_id = a.id and l.scope_id = c.id
      left join level f on f.user_id = a.id and f.scope_id = c.forum_id
      left join stream e on e.id = \(EventStream.number(ofUser: "a.id"))
      where \(condition) and a.state = 'active' and coalesce(p.request, 0) = 0
      and not exists (select 1 from relation r where r.user_id = a.id and r.kind = 'mute' and r.other_id = \(author))
      and not exists (select 1 from relation r where r.user_id = a.id and r.kind = 'block' and r.other_id = \(author))
      """)
  }

  /// Members of a forum to notify of an `@room` mention by an author in one of its conversations, with ids above
  /// `user`. Omits members with the level `nothing` for the conversation or else for the forum.
  public func roomMentionRecipients(
    of forum: ID<Forum>, by author: ID<User>, in conversation: ID<Conversation>, after user: ID<User>?,
    limit: Int
  ) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        select m.user_id
        from forum_member m
        join account a on a.id = m.user_id
        left join level l on l.user_id = m.user_id and l.scope_id = $1
        left join level f on f.user_id = m.user_id and f.scope_id = m.forum_id
        where m.forum_id = $2 and m.user_id > $3 and m.user_id <> $4 and a.state = 'active'
        and coalesce(l.level, f.level, '') <> 'nothing'
        and not exists (
          select 1
          from relation r
          where r.user_id = m.user_id and r.kind in ('mute', 'block') and r.other_id = $4
        )
        order by m.user_id
        limit $5
        """, conversation.number, forum.number, user?.number ?? 0, author.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  public func author(of message: ID<Message>) throws(Refusal) -> ID<User>? {
    try run { connection in
      try connection.first("select author_id from message where id = $1", message.number) { row in
        ID(try row.int(0))
      }
    }
  }
}

extension NotificationCandidate {
  fileprivate init(_ row: borrowing Row) throws {
    user = ID(try row.int(0))
    level = try row.optionalWord(1) ?? Level.usual(in: try row.word(2))
    offset = try row.int(3)
  }
}
