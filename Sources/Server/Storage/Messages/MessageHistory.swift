// The revisions and replies of one message.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The earlier texts of a message, oldest first. A tombstone has none.
  public func revisions(of message: ID<Message>, _ slice: ListSlice) throws(Refusal) -> [MessageRevision] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select r.revision, r.text, r.entities, r.edited_at, r.edited_by
          from message m
          join revision r on r.message_id = m.id
          where m.id = $1 and m.deletion is null and r.revision \(page.comparison) $2
          order by r.revision \(page.order)
          limit $3
          """), message.number, page.number(), slice.limit
      ) { row in
        MessageRevision(
          revision: try row.int(0), text: try row.text(1), entities: try row.optionalJSON(2),
          edit: Message.Edit(at: Int64(try row.int(3)), by: ID(try row.int(4))))
      }
    }
  }

  /// The replies to a message, oldest first, including tombstones.
  ///
  /// - Parameters:
  ///   - fromSeq: the start of the viewer's history in the conversation.
  ///   - viewer: authors that this user mutes or blocks are left out.
  public func replies(
    to message: ID<Message>, fromSeq: Int = 1, viewer: ID<User>? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [Message] {
    let page = Keyset(slice, .ascending)
    var messages = try run { connection in
      try connection.all(
        SQL(
          """
          select \(Message.columns)
          from message
          where reply_to = $1 and id \(page.comparison) $2 and seq >= $3
          and author_id not in (select other_id from relation where user_id = $4 and kind in ('mute', 'block'))
          order by id \(page.order)
          limit $5
          """), message.number, page.number(), fromSeq, viewer?.number, slice.limit
      ) { row in try Message(row) }
    }
    try complete(&messages)
    return messages
  }

  /// The number of replies to a message, without tombstones, messages for programs, and authors that the viewer mutes or
  /// blocks.
  public func replyCount(of message: ID<Message>, viewer: ID<User>?) throws(Refusal) -> ReplyCount {
    let count = try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from message
          where reply_to = $1 and deletion is null and machine_only = 0
          and author_id not in (select other_id from relation where user_id = $2 and kind in ('mute', 'block'))
          limit $3
        )
        """, message.number, viewer?.number, ReplyCount.maxCounted
      ) { row in try row.int(0) }
    }
    return ReplyCount(message, count: count ?? 0)
  }
}
