public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody wants to hear of an author in a conversation, as a participant or not. Nil for who hears nothing of
  /// them: who has muted or blocked the author, has not taken the conversation yet, or is not here.
  public func hearing(
    of person: ID<Account>, from author: ID<Account>, in conversation: ID<Conversation>
  ) throws(Refusal) -> Level? {
    try run { connection in
      try connection.first(
        """
        select coalesce(l.level, case when c.kind = 'room' then f.level end), c.kind
        from account a
        join conversation c on c.id = $1
        left join participant p on p.conversation_id = c.id and p.user_id = a.id
        left join level l on l.user_id = a.id and l.place_id = c.id
        left join level f on f.user_id = a.id and f.place_id = c.forum_id
        where a.id = $2 and a.state = 'active' and coalesce(p.request, 0) = 0
        and not exists (
          select 1
          from relation r
          where r.user_id = a.id and r.kind in ('mute', 'block') and r.other_id = $3
        )
        """, conversation.number, person.number, author.number
      ) { row in try row.optionalWord(0) ?? Level.usual(in: try row.word(1)) }
    }
  }

  /// The members of a forum whom `@room`, said by an author in one of its conversations, rings: by id, after that one. Who
  /// wants to hear nothing of the conversation, or without a word on it nothing of the forum, is left alone.
  public func ringableMembers(
    of forum: ID<Forum>, by author: ID<Account>, in conversation: ID<Conversation>, after account: ID<Account>?,
    limit: Int
  ) throws(Refusal) -> [ID<Account>] {
    try run { connection in
      try connection.all(
        """
        select m.user_id
        from forum_member m
        join account a on a.id = m.user_id
        left join level l on l.user_id = m.user_id and l.place_id = $1
        left join level f on f.user_id = m.user_id and f.place_id = m.forum_id
        where m.forum_id = $2 and m.user_id > $3 and m.user_id <> $4 and a.state = 'active'
        and coalesce(l.level, f.level, '') <> 'nothing'
        and not exists (
          select 1
          from relation r
          where r.user_id = m.user_id and r.kind in ('mute', 'block') and r.other_id = $4
        )
        order by m.user_id
        limit $5
        """, conversation.number, forum.number, account?.number ?? 0, author.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  public func author(of message: ID<Message>) throws(Refusal) -> ID<Account>? {
    try run { connection in
      try connection.first("select author_id from message where id = $1", message.number) { row in
        ID(try row.int(0))
      }
    }
  }
}
