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
  /// The live posts and reposts of a user, and of followed and not muted users, newest first; see `posts`. The query reads
  /// up to one page of each feed, so its cost grows with the number of followed users: run it in the background.
  ///
  /// - Parameter withMentions: adds the posts and replies of all readable feeds that mention the user. The query reads all
  ///   mentions of the user.
  public func timeline(
    of user: ID<User>, isGuest: Bool, withMentions: Bool = false, _ slice: ListSlice
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
        """,
      repostsWhere: """
        (n_feed.owner_id = $1 or exists (
          select 1
          from relation f
          where f.user_id = $1 and f.kind = 'follow' and f.other_id = n_feed.owner_id
        ))
        """,
      withMentions: withMentions, for: user, isGuest: isGuest, slice)
  }

  /// The live posts and reposts of all feeds that a user or visitor may read, newest first; see `posts`. The cost grows with
  /// the number of feeds.
  public func globalTimeline(
    for user: ID<User>?, isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    try posts(ofFeeds: "conversation c", repostsWhere: "true", for: user, isGuest: isGuest, slice)
  }

  /// Replies are no posts. A repost is listed if its post may be read. A post that is in several feeds, with its reposts, is
  /// listed once: as its newest repost.
  ///
  /// - Parameter isListed: whether the feed `n_feed` is one of these.
  private func posts(
    ofFeeds feeds: StaticString, repostsWhere isListed: StaticString, withMentions: Bool = false, for user: ID<User>?,
    isGuest: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [DatedMessage] {
    let page = Keyset(slice, .descending)
    let isNotRepeated = """
      not exists (
        select 1
        from message n
        join conversation n_feed on n_feed.id = n.conversation_id
        where n.repost_of = coalesce(p.repost_of, p.id)
        and (coalesce(n.latest_at, n.created_at), n.id) > (coalesce(p.latest_at, p.created_at), p.id)
        and \(Self.isReadable("n_feed")) and \(Self.isInHistory("n", of: "n_feed")) and \(isListed)
      )
      """
    let isOnPage = """
      coalesce(p.latest_at, p.created_at) \(page.comparison)= $3
      and (coalesce(p.latest_at, p.created_at) \(page.comparison) $3 or p.id \(page.comparison) $4)
      and p.deletion is null and p.machine_only = 0
      """
    let posts = """
      select m.id, coalesce(m.latest_at, m.created_at) as at
      from \(feeds)
      join message m on m.id in (
        select p.id
        from message p
        where p.conversation_id = c.id and \(Self.isInHistory("p", of: "c"))
        and \(isOnPage) and p.reply_to is null
        and (p.repost_of is null or exists (
          select 1
          from message o
          join conversation o_feed on o_feed.id = o.conversation_id
          where o.id = p.repost_of and o.deletion is null
          and \(Self.isReadable("o_feed")) and \(Self.isInHistory("o", of: "o_feed"))
        ))
        and \(isNotRepeated)
        order by coalesce(p.latest_at, p.created_at) \(page.order), p.seq \(page.order)
        limit $5
      )
      where \(Self.isReadable("c"))
      """
    let mentions = """
      select p.id, coalesce(p.latest_at, p.created_at)
      from mention
      join message p on p.id = mention.message_id
      join conversation c on c.id = p.conversation_id
      where mention.user_id = $1 and \(Self.isReadable("c")) and \(Self.isInHistory("p", of: "c"))
      and \(isOnPage) and not \(Self.isHidden("p.author_id"))
      and \(isNotRepeated)
      """
    return try run { connection in
      try connection.all(
        SQL(
          """
          \(withMentions ? posts + "\nunion\n" + mentions : posts)
          order by 2 \(page.order), 1 \(page.order)
          limit $5
          """), user?.number, isGuest, page.number(), page.number(1), slice.limit
      ) { row in DatedMessage(time: try row.int(1), message: ID(try row.int(0))) }
    }
  }

  /// Whether the viewer may read a feed, and has not muted its owner.
  private static func isReadable(_ feed: StaticString) -> String {
    """
    \(feed).kind = 'feed' and \(feed).state = 'open'
    and (\(feed).readers = 'anyone' or \(feed).readers = 'users' and not $2 or \(feed).owner_id = $1)
    and not \(isHidden("\(feed).owner_id"))
    """
  }

  private static func isHidden(_ user: String) -> String {
    """
    exists (
      select 1
      from relation x
      where x.user_id = $1 and x.kind in ('mute', 'block') and x.other_id = \(user)
    )
    """
  }

  private static func isInHistory(_ message: StaticString, of feed: StaticString) -> String {
    """
    \(message).seq >= case
      when \(feed).owner_id = $1 then 1 when $2 then \(feed).anyone_from_seq else \(feed).users_from_seq end
    """
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
