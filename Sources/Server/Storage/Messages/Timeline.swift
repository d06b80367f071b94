public import ParleyModel
import ParleySQLite

/// A message in a list of many conversations, sorted by time.
public struct DatedMessage: Sendable, Hashable {
  public let time: Int
  public let message: ID<Message>

  public var key: ListKey { ListKey([time, message.number]) }
}

extension ReadTransaction {
  /// The live posts of followed and not muted users, newest first. The query reads up to one page of each feed, so its
  /// cost grows with the number of followed users: run it in the background.
  public func timeline(
    of user: ID<User>, isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select m.id, coalesce(m.latest_at, m.created_at)
          from relation r
          join conversation c on c.owner_id = r.other_id and c.kind = 'feed'
          join message m on m.id in (
            select id
            from message
            where conversation_id = c.id and coalesce(latest_at, created_at) \(page.comparison)= $1
            and (coalesce(latest_at, created_at) \(page.comparison) $1 or id \(page.comparison) $2)
            and seq >= case when $3 then c.anyone_from_seq else c.users_from_seq end
            and deletion is null and machine_only = 0
            order by coalesce(latest_at, created_at) \(page.order), seq \(page.order)
            limit $4
          )
          where r.user_id = $5 and r.kind = 'follow' and c.state = 'open'
          and (c.readers = 'anyone' or c.readers = 'users' and not $3)
          and not exists (
            select 1
            from relation n
            where n.user_id = $5 and n.kind in ('mute', 'block') and n.other_id = r.other_id
          )
          order by coalesce(m.latest_at, m.created_at) \(page.order), m.id \(page.order)
          limit $4
          """), page.number(), page.number(1), isGuest, slice.limit, user.number
      ) { row in DatedMessage(time: try row.int(1), message: ID(try row.int(0))) }
    }
  }
}
