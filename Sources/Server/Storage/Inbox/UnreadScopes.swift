// Conversations and forums in a user's overview of unread messages. An unset notification level is the default.

public import ParleyModel
import ParleySQLite

/// A conversation of a participant, or a followed forum, with the read position.
public struct UnreadScope: Sendable, Hashable {
  public let conversation: ID<Conversation>
  public let kind: Conversation.Kind
  public let forum: ID<Forum>?
  public let lastSeq: Int
  public let lastMessage: ID<Message>?
  /// Readable messages after this `seq` are unread.
  public let start: Int
  public let level: Level

  /// The newest message, if it may be unread; otherwise 0.
  public var unreadUpTo: Int { lastSeq > start ? lastMessage?.number ?? 0 : 0 }
}

extension ReadTransaction {
  /// Conversations of a participant, without pending requests.
  public func unreadConversationScopes(of user: ID<User>) throws(Refusal) -> [UnreadScope] {
    try run { connection in
      try connection.all(
        """
        select c.id, c.kind, c.forum_id, c.last_seq, c.last_message_id, max(p.joined_seq, coalesce(k.read_seq, 0)),
          coalesce(l.level, case when c.kind = 'room' then f.level end)
        from participant p
        join conversation c on c.id = p.conversation_id
        left join read_position k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
        left join level l on l.user_id = p.user_id and l.scope_id = c.id
        left join level f on f.user_id = p.user_id and f.scope_id = c.forum_id
        where p.user_id = $1 and p.request = 0 and c.state = 'open'
        order by p.conversation_id
        """, user.number
      ) { row in
        let kind: Conversation.Kind = try row.word(1)
        return try UnreadScope(row, kind, level: try row.optionalWord(6) ?? .usual(in: kind))
      }
    }
  }

  /// The direct, group and other conversations of a participant that may have unread messages, with pending requests and
  /// without muted ones.
  public func ownUnreadConversations(
    of user: ID<User>
  ) throws(Refusal) -> [(conversation: ID<Conversation>, start: Int)] {
    try run { connection in
      try connection.all(
        """
        select c.id, coalesce(k.read_seq, 0), p.joined_seq, p.from_seq
        from participant p
        join conversation c on c.id = p.conversation_id
        left join read_position k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
        left join level l on l.user_id = p.user_id and l.scope_id = c.id
        where p.user_id = $1 and c.state = 'open' and c.forum_id is null and c.kind <> 'feed' and c.type is null
          and c.last_seq > coalesce(k.read_seq, 0) and coalesce(l.level, '') <> 'nothing'
        order by p.conversation_id
        """, user.number
      ) { row in
        (
          conversation: ID(try row.int(0)),
          start: ConversationHead.unreadStart(
            readSeq: try row.int(1), joinedSeq: try row.int(2), fromSeq: try row.int(3))
        )
      }
    }
  }

  /// Rooms of the forums that a user follows, with or without membership.
  public func followedForums(of user: ID<User>) throws(Refusal) -> [UnreadScope] {
    try run { connection in
      try connection.all(
        """
        select c.id, c.kind, c.forum_id, c.last_seq, c.last_message_id,
          max(coalesce(p.joined_seq, 0), coalesce(k.read_seq, 0))
        from level l
        join forum f on f.id = l.scope_id
        join conversation c on c.id = f.room_id
        left join participant p on p.conversation_id = c.id and p.user_id = l.user_id
        left join read_position k on k.user_id = l.user_id and k.conversation_id = c.id
        where l.user_id = $1 and l.level = 'everything' and f.deleted_at is null
        order by l.scope_id
        """, user.number
      ) { row in try UnreadScope(row, .room, level: .everything) }
    }
  }

  /// Rooms of the forums that a user has joined or reads by a group, at level `mentions`.
  public func ownForums(of user: ID<User>) throws(Refusal) -> [UnreadScope] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select c.id, c.kind, c.forum_id, c.last_seq, c.last_message_id,
            max(coalesce(p.joined_seq, 0), coalesce(k.read_seq, 0))
          from forum f
          join conversation c on c.id = f.room_id
          left join level l on l.user_id = $1 and l.scope_id = f.id
          left join participant p on p.conversation_id = c.id and p.user_id = $1
          left join read_position k on k.user_id = $1 and k.conversation_id = c.id
          where f.id in (\(ForumStanding.ownForums(of: "$1")))
          and f.deleted_at is null and coalesce(l.level, 'mentions') = 'mentions'
          order by f.id
          """), user.number
      ) { row in try UnreadScope(row, .room, level: .mentions) }
    }
  }

  /// Conversations that a user takes no part in, without unread messages of their own.
  public func unreadScopes(of conversations: [ID<Conversation>]) throws(Refusal) -> [UnreadScope] {
    var scopes: [UnreadScope] = []
    for id in conversations {
      guard let conversation = try conversation(id) else { continue }
      scopes.append(
        UnreadScope(
          conversation: id, kind: conversation.kind, forum: conversation.forum, lastSeq: conversation.lastSeq,
          lastMessage: conversation.lastMessage, start: conversation.lastSeq, level: .mentions))
    }
    return scopes
  }

  /// Recent topics by others that a user has not opened, created since the user joined the forum, or a group that reads it,
  /// in the same millisecond too: pinned ones, then those with most messages, then by newest activity. A topic without
  /// messages has nothing to read.
  public func newTopics(
    in forum: ID<Forum>, for user: ID<User>
  ) throws(Refusal) -> [(id: ID<Conversation>, activity: Int)] {
    try run { connection in
      try connection.all(
        """
        select id, activity, last_seq, pinned
        from (
          select id, created_by, created_at, activity, last_seq, pinned
          from conversation
          where forum_id = $1 and kind = 'topic' and state = 'open' and last_seq > 0
          order by id desc
          limit $2
        ) as waiting
        where waiting.created_by <> $3
        and waiting.created_at >= max($4, coalesce((
          select min(created_at)
          from (
            select created_at
            from forum_member
            where forum_id = $1 and user_id = $3
            union all
            select n.created_at
            from forum_group g
            join user_group_member n on n.group_id = g.group_id and n.user_id = $3
            where g.forum_id = $1 and g.access >= 'read'
          )), 0))
        and not exists (select 1 from read_position where user_id = $3 and conversation_id = waiting.id)
        and not exists (select 1 from participant where conversation_id = waiting.id and user_id = $3)
        and not exists (select 1 from level where user_id = $3 and scope_id = waiting.id and level = 'nothing')
        and waiting.created_by not in (
          select other_id from relation where user_id = $3 and kind in ('mute', 'block'))
        """, forum.number, UnreadItem.maxTopics, user.number, Int(now - UnreadItem.maxTopicAge)
      ) { row in
        (ID<Conversation>(try row.int(0)), [try row.int(3), try row.int(2), try row.int(1)])
      }
    }
    .sorted { $1.1.lexicographicallyPrecedes($0.1) }
    .map { (id: $0.0, activity: $0.1[2]) }
  }

  /// Topics of a followed forum with their read positions, the most active ones, without those of `newTopics` and those
  /// with another level. A topic that the user has not opened is read up to the time of joining the forum.
  public func followedTopics(in forum: ID<Forum>, of user: ID<User>) throws(Refusal) -> [UnreadScope] {
    var scopes: [UnreadScope] = []
    // The order of the index: pinned topics, then the others.
    for pinned in [1, 0] {
      scopes += try run { connection in
        try connection.all(
          """
          select waiting.id, waiting.kind, waiting.forum_id, waiting.last_seq, waiting.last_message_id,
            max(coalesce(p.joined_seq, 0), coalesce(k.read_seq, case when p.user_id is null then (
              select seq
              from message
              where conversation_id = waiting.id and coalesce(latest_at, created_at) <= m.created_at
              order by coalesce(latest_at, created_at) desc, seq desc
              limit 1
            ) end, 0))
          from (
            select id, kind, forum_id, last_seq, last_message_id, created_at
            from conversation
            where forum_id = $1 and kind = 'topic' and state = 'open' and pinned = $2
            order by activity desc, id desc
            limit $3
          ) as waiting
          left join participant p on p.conversation_id = waiting.id and p.user_id = $4
          left join read_position k on k.user_id = $4 and k.conversation_id = waiting.id
          left join forum_member m on m.forum_id = $1 and m.user_id = $4
          left join level l on l.user_id = $4 and l.scope_id = waiting.id
          where coalesce(l.level, 'everything') = 'everything'
          and (p.user_id is not null or k.user_id is not null or waiting.created_at < max(m.created_at, $5))
          """, forum.number, pinned, UnreadItem.maxTopics, user.number, Int(now - UnreadItem.maxTopicAge)
        ) { row in try UnreadScope(row, .topic, level: .everything) }
      }
    }
    return scopes
  }

  /// First unread message of a conversation after a `seq`.
  public func firstUnread(
    of user: ID<User>, in conversation: ID<Conversation>, after seq: Int
  ) throws(Refusal) -> ID<Message>? {
    try run { connection in
      try connection.first(
        """
        select id
        from message
        where conversation_id = $1 and seq > $2 and author_id <> $3 and moved_from is null
        and deletion is null and machine_only = 0
        and author_id not in (select other_id from relation where user_id = $3 and kind in ('mute', 'block'))
        order by seq
        limit 1
        """, conversation.number, seq, user.number
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension UnreadScope {
  fileprivate init(_ row: borrowing Row, _ kind: Conversation.Kind, level: Level) throws {
    let last = try row.int(4)
    self.init(
      conversation: ID(try row.int(0)), kind: kind, forum: try row.optionalInt(2).map { ID($0) },
      lastSeq: try row.int(3), lastMessage: last == 0 ? nil : ID(last), start: try row.int(5), level: level)
  }
}
