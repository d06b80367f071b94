// Topics that everyone may read, for feeds and sitemaps.

public import ParleyModel
import ParleySQLite

/// A topic in a sitemap.
public struct SitemapTopic: Sendable, Hashable {
  public let id: ID<Conversation>
  public let title: String
  /// The time of the newest message.
  public let lastMessageAt: Int64
}

extension ReadTransaction {
  /// The number of topics of a forum, counted up to `limit`.
  public func topicCount(of forum: ID<Forum>, max limit: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from conversation
          where forum_id = $1 and kind = 'topic' and state = 'open'
          limit $2
        )
        """, forum.number, limit
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// The newest topics that everyone may read, of one forum or of all. Reads other conversations, too: run it on a
  /// background reader.
  public func newestPublicTopics(in forum: ID<Forum>?, limit: Int) throws(Refusal) -> [ID<Conversation>] {
    try run { connection in
      try connection.all(
        """
        select c.id
        from conversation c
        join forum f on f.id = c.forum_id
        where c.kind = 'topic' and c.state = 'open' and f.visibility = 'public' and f.deleted_at is null
        and ($1 is null or c.forum_id = $1) and c.last_message_id > f.anyone_from_id
        order by c.id desc
        limit $2
        """, forum?.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }

  /// The number of topics with a message that everyone may read. Counts rows: run it on a background reader.
  public func publicTopicCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from conversation c
        join forum f on f.id = c.forum_id
        where c.kind = 'topic' and c.state = 'open' and f.visibility = 'public' and f.deleted_at is null
        and c.last_message_id > f.anyone_from_id
        """
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Topics with a message that everyone may read, oldest first. Skips rows: run it on a background reader.
  public func publicTopics(after offset: Int, limit: Int) throws(Refusal) -> [SitemapTopic] {
    try run { connection in
      try connection.all(
        """
        select c.id, c.title, m.created_at
        from conversation c
        join forum f on f.id = c.forum_id
        join message m on m.id = c.last_message_id
        where c.kind = 'topic' and c.state = 'open' and f.visibility = 'public' and f.deleted_at is null
        and c.last_message_id > f.anyone_from_id
        order by c.id
        limit $1 offset $2
        """, limit, offset
      ) { row in
        SitemapTopic(id: ID(try row.int(0)), title: try row.text(1), lastMessageAt: Int64(try row.int(2)))
      }
    }
  }
}
