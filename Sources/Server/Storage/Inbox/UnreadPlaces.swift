// What somebody follows, for the overview of what is new. A level that was never set is the usual one.

public import ParleyModel
import ParleySQLite

/// A conversation in which somebody takes part, or a forum that they follow, and how far they have come.
public struct HeardPlace: Sendable, Hashable {
  public let conversation: ID<Conversation>
  public let kind: Conversation.Kind
  public let forum: ID<Forum>?
  public let lastSeq: Int
  public let lastMessage: ID<Message>?
  /// What comes after it is new, as far as it may be read.
  public let start: Int
  public let level: Level
}

extension ReadTransaction {
  /// The conversations in which somebody takes part, without those that still wait to be taken.
  public func heardConversations(of person: ID<Account>) throws(Refusal) -> [HeardPlace] {
    try run { connection in
      try connection.all(
        """
        select c.id, c.kind, c.forum_id, c.last_seq, c.last_message_id, max(p.joined_seq, coalesce(k.read_seq, 0)),
          coalesce(l.level, case when c.kind = 'room' then f.level end)
        from participant p
        join conversation c on c.id = p.conversation_id
        left join mark k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
        left join level l on l.user_id = p.user_id and l.place_id = c.id
        left join level f on f.user_id = p.user_id and f.place_id = c.forum_id
        where p.user_id = $1 and p.request = 0 and c.state = 'open'
        order by p.conversation_id
        """, person.number
      ) { row in
        let kind: Conversation.Kind = try row.word(1)
        return try HeardPlace(row, kind, level: try row.optionalWord(6) ?? .usual(in: kind))
      }
    }
  }

  /// The rooms of the forums that somebody follows, as a member or not.
  public func followedForums(of person: ID<Account>) throws(Refusal) -> [HeardPlace] {
    try run { connection in
      try connection.all(
        """
        select c.id, c.kind, c.forum_id, c.last_seq, c.last_message_id,
          max(coalesce(p.joined_seq, 0), coalesce(k.read_seq, 0))
        from level l
        join forum f on f.id = l.place_id
        join conversation c on c.id = f.room_id
        left join participant p on p.conversation_id = c.id and p.user_id = l.user_id
        left join mark k on k.user_id = l.user_id and k.conversation_id = c.id
        where l.user_id = $1 and l.level = 'everything' and f.deleted_at is null
        order by l.place_id
        """, person.number
      ) { row in try HeardPlace(row, .room, level: .everything) }
    }
  }

  /// How many topics others have begun in a forum since somebody came, which they have not looked into.
  public func newTopics(in forum: ID<Forum>, for person: ID<Account>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select id, created_by, created_at
          from conversation
          where forum_id = $1 and kind = 'topic' and state = 'open'
          order by id desc
          limit $2
        ) as waiting
        where waiting.created_by <> $3
        and waiting.created_at > coalesce(
          (select created_at from forum_member where forum_id = $1 and user_id = $3), 0)
        and not exists (select 1 from mark where user_id = $3 and conversation_id = waiting.id)
        and not exists (select 1 from participant where conversation_id = waiting.id and user_id = $3)
        """, forum.number, UnreadPlace.mostTopics, person.number
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// The first message of a conversation that counts as unread after a `seq`.
  public func firstUnread(
    of person: ID<Account>, in conversation: ID<Conversation>, after seq: Int
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
        """, conversation.number, seq, person.number
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension HeardPlace {
  fileprivate init(_ row: borrowing Row, _ kind: Conversation.Kind, level: Level) throws {
    let last = try row.int(4)
    self.init(
      conversation: ID(try row.int(0)), kind: kind, forum: try row.optionalInt(2).map { ID($0) },
      lastSeq: try row.int(3), lastMessage: last == 0 ? nil : ID(last), start: try row.int(5), level: level)
  }
}
