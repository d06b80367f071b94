public import ParleyModel
import ParleySQLite

/// A message in a list of many conversations, sorted by time.
public struct DatedMessage: Sendable, Hashable {
  public let time: Int
  public let message: ID<Message>

  public var key: ListKey { ListKey([time, message.number]) }
}

/// A feed of the timeline.
public struct TimelineFeed: Sendable {
  public let owner: ID<User>
  /// Nil until the owner has created it.
  public let conversation: ID<Conversation>?
  public let readers: Audience
  /// The first message that users may read, and the first that everyone may.
  public let fromSeq: (users: Int, anyone: Int)
}

extension ReadTransaction {
  /// The live posts of a user, and of followed and not muted users, newest first. The query reads up to one page of each
  /// feed, so its cost grows with the number of followed users: run it in the background.
  public func timeline(
    of user: ID<User>, isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    try posts(
      ofFeeds: """
        (
          select other_id
          from relation
          where user_id = $1 and kind = 'follow'
          union
          select $1
        ) r
        join conversation c on c.owner_id = r.other_id and c.kind = 'feed'
        """, for: user, isGuest: isGuest, slice)
  }

  /// The live posts of all feeds that a user or visitor may read, newest first. The cost grows with the number of feeds.
  public func globalTimeline(
    for user: ID<User>?, isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    try posts(ofFeeds: "conversation c", for: user, isGuest: isGuest, slice)
  }

  /// Replies are no posts.
  private func posts(
    ofFeeds feeds: StaticString, for user: ID<User>?, isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select m.id, coalesce(m.latest_at, m.created_at)
          from \(feeds)
          join message m on m.id in (
            select id
            from message
            where conversation_id = c.id
            and seq >= case when c.owner_id = $1 then 1 when $2 then c.anyone_from_seq else c.users_from_seq end
            and coalesce(latest_at, created_at) \(page.comparison)= $3
            and (coalesce(latest_at, created_at) \(page.comparison) $3 or id \(page.comparison) $4)
            and deletion is null and machine_only = 0 and reply_to is null
            order by coalesce(latest_at, created_at) \(page.order), seq \(page.order)
            limit $5
          )
          where c.kind = 'feed' and c.state = 'open'
          and (c.readers = 'anyone' or c.readers = 'users' and not $2 or c.owner_id = $1)
          and not exists (
            select 1
            from relation n
            where n.user_id = $1 and n.kind in ('mute', 'block') and n.other_id = c.owner_id
          )
          order by coalesce(m.latest_at, m.created_at) \(page.order), m.id \(page.order)
          limit $5
          """), user?.number, isGuest, page.number(), page.number(1), slice.limit
      ) { row in DatedMessage(time: try row.int(1), message: ID(try row.int(0))) }
    }
  }

  /// The feeds of followed and not muted users.
  public func timelineFeeds(of user: ID<User>) throws(Refusal) -> [TimelineFeed] {
    try run { connection in
      try connection.all(
        """
        select r.other_id, c.id, coalesce(c.readers, 'listed'), coalesce(c.users_from_seq, 1),
          coalesce(c.anyone_from_seq, 1)
        from relation r
        left join conversation c on c.owner_id = r.other_id and c.kind = 'feed' and c.state = 'open'
        where r.user_id = $1 and r.kind = 'follow'
        and not exists (
          select 1
          from relation n
          where n.user_id = $1 and n.kind in ('mute', 'block') and n.other_id = r.other_id
        )
        order by r.other_id
        """, user.number
      ) { row in
        TimelineFeed(
          owner: ID(try row.int(0)), conversation: try row.optionalInt(1).map { ID($0) }, readers: try row.word(2),
          fromSeq: (users: try row.int(3), anyone: try row.int(4)))
      }
    }
  }
}
