// Unread counts. They are computed and never stored, so no edit, deletion or lost update makes them wrong. The index
// `message_for_people` covers the count.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The number of unread messages, at most `ConversationHead.maxUnread`. For a user that is not a participant the
  /// count starts at the beginning.
  public func unread(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Int {
    let start = try run { connection in
      try connection.first(
        """
        select coalesce(p.joined_seq, 0), coalesce(p.from_seq, 1), coalesce(k.read_seq, 0)
        from conversation c
        left join participant p on p.conversation_id = c.id and p.user_id = $1
        left join read_position k on k.user_id = $1 and k.conversation_id = c.id
        where c.id = $2
        """, user.number, conversation.number
      ) { row in
        ConversationHead.unreadStart(
          readSeq: try row.int(2), joinedSeq: try row.int(0), fromSeq: try row.int(1))
      }
    }
    guard let start else { return 0 }
    return try unread(of: user, in: conversation, after: start)
  }

  /// The heads of the user's conversations, by id.
  public func heads(of user: ID<User>) throws(Refusal) -> [ConversationHead] {
    var heads: [ConversationHead] = []
    var starts: [Int] = []
    try run { connection in
      try connection.each(
        """
        select p.conversation_id, c.last_seq, c.last_message_id, p.from_seq, p.joined_seq, coalesce(k.read_seq, 0),
          coalesce(s.head, 0)
        from participant p
        join conversation c on c.id = p.conversation_id
        left join read_position k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
        left join stream s on s.id = 4 * p.conversation_id + 3
        where p.user_id = $1 and c.state = 'open'
        order by p.conversation_id
        """, user.number
      ) { row in
        let lastSeq = try row.int(1)
        let fromSeq = try row.int(3)
        let readSeq = try row.int(5)
        heads.append(
          ConversationHead(
            conversation: ID(try row.int(0)), lastSeq: lastSeq,
            lastMessage: lastSeq > 0 && lastSeq >= fromSeq ? ID(try row.int(2)) : nil, lastOffset: try row.int(6),
            readSeq: readSeq, unread: 0))
        starts.append(
          ConversationHead.unreadStart(readSeq: readSeq, joinedSeq: try row.int(4), fromSeq: fromSeq))
      }
    }
    for index in heads.indices where heads[index].lastSeq > starts[index] {
      heads[index].unread = try unread(of: user, in: heads[index].conversation, after: starts[index])
    }
    return heads
  }

  /// The unread messages after `seq`. Copies made by a move and messages of muted or blocked users do not count.
  public func unread(
    of user: ID<User>, in conversation: ID<Conversation>, after seq: Int
  ) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from message
          where conversation_id = $1 and seq > $2 and author_id <> $3 and moved_from is null
          and deletion is null and machine_only = 0
          and author_id not in (select other_id from relation where user_id = $3 and kind in ('mute', 'block'))
          limit $4
        ) as waiting
        """, conversation.number, seq, user.number, ConversationHead.maxUnread
      ) { row in try row.int(0) } ?? 0
    }
  }
}
