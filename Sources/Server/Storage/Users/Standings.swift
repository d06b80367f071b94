public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Facts that decide the permissions of a user in a conversation; nil if it does not exist or was deleted.
  public func standing(
    of user: ID<User>?, in conversation: ID<Conversation>
  ) throws(Refusal) -> Standing? {
    let found = try run { connection in
      try connection.first(
        Self.standingOfUser, user?.number, Int(now), conversation.number, read: StandingRow.init)
    }
    return try found.map { row throws(Refusal) in try standing(row, in: conversation) }
  }

  /// The same for an active user who posts, with all that a post reads of both; nil also for any other user.
  public func authorStanding(
    of user: ID<User>, in conversation: ID<Conversation>
  ) throws(Refusal) -> AuthorStanding? {
    let found = try run { connection in
      try connection.first(
        Self.standingOfAuthor, user.number, Int(now), Newcomers().messages,
        EventStream.conversation(conversation).number, conversation.number
      ) { row in
        (
          role: try row.word("site_role") as Role, standing: try StandingRow(row), end: try ConversationEnd(row),
          newcomer: try Newcomer(row)
        )
      }
    }
    return try found.map { found throws(Refusal) in
      AuthorStanding(
        role: found.role, standing: try standing(found.standing, in: conversation), end: found.end,
        newcomer: found.newcomer)
    }
  }

  private static let standingOfUser = standing()
  private static let standingOfAuthor = standing(
    columns: ", a.role as site_role, \(ConversationEnd.columns), \(Newcomer.columns(defaultMessages: "$3"))",
    join: """
      join account a on a.id = $1 and a.state = 'active'
      \(ConversationEnd.join(stream: "$4"))
      \(Newcomer.join)
      """, conversation: "$5")

  /// SQLite numbers parameters by their first appearance.
  private static func standing(columns: String = "", join: String = "", conversation: String = "$3") -> SQL {
    SQL(
      """
      select c.kind, c.locked, c.readers, c.writers, coalesce(c.owner_id = $1, 0) as is_owner, c.users_from_seq,
        c.anyone_from_seq, p.role, p.from_seq, p.request, f.visibility, f.write, f.start_topics, f.room_mention,
        f.locked as forum_locked, f.archived_at, m.role as forum_role, \(ForumStanding.groupAccess(of: "$1")),
        exists (
          select 1
          from sanction s
          where s.user_id = $1 and s.kind = 'silence' and s.lifted_at is null
          and (s.forum_id is null or s.forum_id = c.forum_id) and (s.until is null or s.until > $2)
        ) as is_silenced,
        -- `and` would look at everyone who takes part, also in a group of a thousand.
        case when c.kind = 'direct' then exists (
          select 1
          from participant o
          join relation r on r.user_id = o.user_id and r.kind = 'block' and r.other_id = $1
          where o.conversation_id = c.id and o.user_id <> $1
        ) or exists (
          select 1
          from participant o
          join relation r on r.user_id = $1 and r.kind = 'block' and r.other_id = o.user_id
          where o.conversation_id = c.id and o.user_id <> $1
        ) when c.kind = 'feed' then exists (
          select 1
          from relation r
          where r.kind = 'block'
          and (r.user_id = c.owner_id and r.other_id = $1 or r.user_id = $1 and r.other_id = c.owner_id)
        ) else 0 end as is_blocked,
        c.last_seq, c.last_message_id, f.users_from_id, f.anyone_from_id, m.from_id,
        max(c.slow_seconds, coalesce(f.slow_seconds, 0)) as slow_seconds\(columns)
      from conversation c
      \(join)
      left join participant p on p.conversation_id = c.id and p.user_id = $1
      left join forum f on f.id = c.forum_id
      left join forum_member m on m.forum_id = c.forum_id and m.user_id = $1
      where c.id = \(conversation) and c.state = 'open' and f.deleted_at is null
      """)
  }

  private func standing(_ row: StandingRow, in conversation: ID<Conversation>) throws(Refusal) -> Standing {
    let (end, starts) = (row.end, row.starts)
    guard starts != (0, 0, 0) else { return row.standing }
    var adjusted = row.standing
    adjusted.usersFromSeq = try firstSeq(in: conversation, after: starts.users, lastSeq: end.seq, last: end.message)
    adjusted.anyoneFromSeq = try firstSeq(in: conversation, after: starts.anyone, lastSeq: end.seq, last: end.message)
    adjusted.memberFromSeq = try firstSeq(in: conversation, after: starts.member, lastSeq: end.seq, last: end.message)
    return adjusted
  }

  /// `seq` of a conversation's first message with an id above `message`, which may be of another conversation. Ids
  /// grow with `seq`: binary search.
  func firstSeq(
    in conversation: ID<Conversation>, after message: Int, lastSeq: Int, last: Int
  ) throws(Refusal) -> Int {
    // Ids come from one counter: a conversation created after `message` has no earlier messages.
    guard message > conversation.number else { return 1 }
    guard last > message else { return lastSeq + 1 }
    var before = 0
    var after = lastSeq
    while after - before > 1 {
      let middle = before + (after - before) / 2
      let id = try run { connection in
        try connection.first(
          """
          select id
          from message
          where conversation_id = $1 and seq = $2
          """, conversation.number, middle
        ) { row in try row.int(0) }
      }
      if let id, id <= message { before = middle } else { after = middle }
    }
    return after
  }

  /// The same for a forum.
  public func standing(of user: ID<User>?, in forum: ID<Forum>) throws(Refusal) -> ForumStanding? {
    try run { connection in
      try connection.first(Self.standingInForum, user?.number, Int(now), forum.number) { row in
        var standing = try ForumStanding(row)
        standing.isSilenced = try row.bool("is_silenced")
        return standing
      }
    }
  }

  private static let standingInForum = SQL(
    """
    select f.visibility, f.write, f.start_topics, f.room_mention, f.locked as forum_locked, f.archived_at,
      m.role as forum_role, \(ForumStanding.groupAccess(of: "$1")),
      exists (
        select 1
        from sanction s
        where s.user_id = $1 and s.kind = 'silence' and s.lifted_at is null
        and (s.forum_id is null or s.forum_id = f.id) and (s.until is null or s.until > $2)
      ) as is_silenced
    from forum f
    left join forum_member m on m.forum_id = f.id and m.user_id = $1
    where f.id = $3 and f.deleted_at is null
    """)
}

/// The rights of an author in a conversation, as a post reads them.
public struct AuthorStanding: Sendable {
  /// On the site.
  public let role: Role
  public let standing: Standing
  public let end: ConversationEnd
  public let newcomer: Newcomer
}

/// A standing before the starts of history of its forum are found in the conversation.
private struct StandingRow {
  let standing: Standing
  let end: (seq: Int, message: Int)
  let starts: (users: Int, anyone: Int, member: Int)

  init(_ row: borrowing Row) throws {
    standing = Standing(
      kind: try row.word("kind"), isLocked: try row.bool("locked"), readers: try row.word("readers"),
      writers: try row.word("writers"), forum: try row.isNull("visibility") ? nil : try ForumStanding(row),
      participant: try row.isNull("role")
        ? nil
        : Standing.Participation(
          role: try row.word("role"), fromSeq: try row.int("from_seq"), isRequest: try row.bool("request")),
      isOwner: try row.bool("is_owner"), isSilenced: try row.bool("is_silenced"),
      isBlocked: try row.bool("is_blocked"), usersFromSeq: try row.int("users_from_seq"),
      anyoneFromSeq: try row.int("anyone_from_seq"), slowSeconds: try row.int("slow_seconds"))
    end = (seq: try row.int("last_seq"), message: try row.int("last_message_id"))
    starts = (
      users: try row.optionalInt("users_from_id") ?? 0, anyone: try row.optionalInt("anyone_from_id") ?? 0,
      member: try row.optionalInt("from_id") ?? 0
    )
  }
}

extension ForumStanding {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      visibility: try row.word("visibility"), write: try row.word("write"), startTopics: try row.word("start_topics"),
      roomMention: try row.word("room_mention"), isLocked: try row.bool("forum_locked"),
      isArchived: try !row.isNull("archived_at"), role: try row.optionalWord("forum_role"),
      groupAccess: try row.optionalWord("group_access"))
  }
}
