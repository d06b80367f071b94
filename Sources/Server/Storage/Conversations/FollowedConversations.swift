public import ParleyModel
import ParleySQLite

/// A conversation of a participant, or the user's own feed, with the facts that subscriptions and catch-up need.
public struct FollowedConversation: Sendable {
  public let id: ID<Conversation>
  public let fromSeq: Int
  /// The offset of the first visible event.
  public let fromOffset: Int
  /// The forum that grants access, and whether its history may start late for this user.
  public let forum: (id: ID<Forum>, standing: ForumStanding, hasStart: Bool)?
}

extension ReadTransaction {
  /// The open conversations of a participant, and the user's own feed.
  public func followedConversations(of user: ID<User>) throws(Refusal) -> [FollowedConversation] {
    try run { connection in
      try connection.all(Self.followedByUser, user.number) { row in
        var forum: (id: ID<Forum>, standing: ForumStanding, hasStart: Bool)?
        if let id = try row.optionalInt(3) {
          let standing = ForumStanding(
            visibility: try row.word(4), role: try row.optionalWord(5), groupAccess: try row.optionalWord(7))
          forum = (ID(id), standing, try row.bool(6))
        }
        return FollowedConversation(
          id: ID(try row.int(0)), fromSeq: try row.int(1), fromOffset: try row.int(2), forum: forum)
      }
    }
  }

  private static let followedByUser = SQL(
    """
    select p.conversation_id, p.from_seq, p.from_offset, c.forum_id, f.visibility, m.role,
      coalesce(f.users_from_id, 0) <> 0 or coalesce(f.anyone_from_id, 0) <> 0 or coalesce(m.from_id, 0) <> 0,
      \(ForumStanding.groupAccess(of: "$1"))
    from participant p
    join conversation c on c.id = p.conversation_id
    left join forum f on f.id = c.forum_id
    left join forum_member m on m.forum_id = c.forum_id and m.user_id = p.user_id
    where p.user_id = $1 and c.state = 'open' and f.deleted_at is null
    union all
    select c.id, 1, 1, null, null, null, 0, null
    from conversation c
    where c.owner_id = $1 and c.kind = 'feed' and c.state = 'open'
    """)

  /// The open conversations of a forum, and whether the history of some readers starts late.
  public func conversations(
    of forum: ID<Forum>, limit: Int
  ) throws(Refusal) -> (ids: [ID<Conversation>], haveStart: Bool) {
    try run { connection in
      let ids = try connection.all(
        """
        select id
        from conversation
        where forum_id = $1 and state = 'open'
        order by id
        limit $2
        """, forum.number, limit
      ) { row in ID<Conversation>(try row.int(0)) }
      let haveStart = try connection.first(
        """
        select users_from_id <> 0 or anyone_from_id <> 0
          or exists (select 1 from forum_member where forum_id = forum.id and from_id <> 0)
        from forum
        where id = $1
        """, forum.number
      ) { row in try row.bool(0) }
      return (ids, haveStart ?? false)
    }
  }

  /// The offset of the first event that the user may see.
  public func fromOffset(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select from_offset
        from participant
        where conversation_id = $1 and user_id = $2
        """, conversation.number, user.number
      ) { row in try row.int(0) } ?? 1
    }
  }

  /// The forum of a room or a topic; it never changes.
  public func forum(ofConversation id: ID<Conversation>) throws(Refusal) -> ID<Forum>? {
    try run { connection in
      try connection.first(
        """
        select forum_id
        from conversation
        where id = $1
        """, id.number
      ) { row in try row.optionalInt(0).map { ID($0) } } ?? nil
    }
  }
}
