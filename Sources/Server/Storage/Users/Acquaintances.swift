public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Facts that decide whether a user may start a conversation with another. A declined or pending request does not
  /// count as sharing a conversation.
  public func acquaintance(of user: ID<User>, with other: ID<User>) throws(Refusal) -> Acquaintance? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select a.reachable_by,
            exists (
              select 1
              from relation r
              where r.kind = 'block'
              and (r.user_id = $1 and r.other_id = $2 or r.user_id = $2 and r.other_id = $1)
            ),
            exists (
              select 1
              from relation r
              where r.user_id = $2 and r.kind = 'follow' and r.other_id = $1
            ),
            exists (
              select 1
              from participant p
              join participant q on q.conversation_id = p.conversation_id and q.user_id = $2
              join conversation c on c.id = p.conversation_id
              where p.user_id = $1 and p.request = 0 and q.request = 0 and c.state = 'open' and c.forum_id is null
            )
            or exists (
              select 1
              from (\(ForumStanding.ownForums(of: "$2"))) as theirs
              join forum f on f.id = theirs.forum_id
              where f.deleted_at is null and theirs.forum_id in (\(ForumStanding.ownForums(of: "$1")))
            )
          from account a
          where a.id = $2 and a.state = 'active'
          """), user.number, other.number
      ) { row in
        Acquaintance(
          reachableBy: try row.word(0), isBlocked: try row.bool(1), isFollowed: try row.bool(2),
          isTogether: try row.bool(3))
      }
    }
  }
}
