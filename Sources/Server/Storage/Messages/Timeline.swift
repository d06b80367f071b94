public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The live posts of followed and not muted users, newest first. The query reads up to one page of each feed, so its
  /// cost grows with the number of followed users: run it in the background.
  public func timeline(
    of user: ID<User>, isGuest: Bool, before cursor: TimelineCursor?, limit: Int
  ) throws(Refusal) -> (posts: [Message], next: TimelineCursor?) {
    let cursors = try run { connection in
      try connection.all(
        """
        select m.id, coalesce(m.latest_at, m.created_at)
        from relation r
        join conversation c on c.owner_id = r.other_id and c.kind = 'feed'
        join message m on m.id in (
          select id
          from message
          where conversation_id = c.id and coalesce(latest_at, created_at) <= $1
          and (coalesce(latest_at, created_at) < $1 or id < $2)
          and seq >= case when $3 then c.anyone_from_seq else c.users_from_seq end
          and deletion is null and machine_only = 0
          order by coalesce(latest_at, created_at) desc, seq desc
          limit $4
        )
        where r.user_id = $5 and r.kind = 'follow' and c.state = 'open'
        and (c.readers = 'anyone' or c.readers = 'users' and not $3)
        and not exists (
          select 1
          from relation n
          where n.user_id = $5 and n.kind in ('mute', 'block') and n.other_id = r.other_id
        )
        order by coalesce(m.latest_at, m.created_at) desc, m.id desc
        limit $4
        """, cursor?.time ?? .max, cursor?.message.number ?? .max, isGuest, limit + 1, user.number
      ) { row in TimelineCursor(time: try row.int(1), message: ID(try row.int(0))) }
    }
    let page = cursors.prefix(limit)
    return (try messages(page.map(\.message)), cursors.count > limit ? page.last : nil)
  }
}
