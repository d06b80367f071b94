// The revisions and replies of one message.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The earlier texts of a message, oldest first, after the revision `after`. A tombstone has none.
  public func revisions(
    of message: ID<Message>, after revision: Int = 0, limit: Int = 50
  ) throws(Refusal) -> (revisions: [MessageRevision], hasMore: Bool) {
    guard 1...MessageQuery.maxMessages ~= limit else {
      throw .invalid("limit", .outOfRange(1...MessageQuery.maxMessages))
    }
    var revisions = try run { connection in
      try connection.all(
        """
        select r.revision, r.text, r.entities, r.edited_at, r.edited_by
        from message m
        join revision r on r.message_id = m.id
        where m.id = $1 and m.deletion is null and r.revision > $2
        order by r.revision
        limit $3
        """, message.number, revision, limit + 1
      ) { row in
        MessageRevision(
          revision: try row.int(0), text: try row.text(1), entities: try row.optionalJSON(2),
          edit: Message.Edit(at: Int64(try row.int(3)), by: ID(try row.int(4))))
      }
    }
    let hasMore = revisions.count > limit
    if hasMore { revisions.removeLast() }
    return (revisions, hasMore)
  }

  /// The replies to a message, oldest first, after the reply `after`, including tombstones.
  ///
  /// - Parameters:
  ///   - fromSeq: the start of the viewer's history in the conversation.
  ///   - viewer: authors that this user mutes or blocks are left out.
  public func replies(
    to message: ID<Message>, after reply: ID<Message>? = nil, fromSeq: Int = 1, viewer: ID<User>? = nil,
    limit: Int = 50
  ) throws(Refusal) -> (messages: [Message], hasMore: Bool) {
    guard 1...MessageQuery.maxMessages ~= limit else {
      throw .invalid("limit", .outOfRange(1...MessageQuery.maxMessages))
    }
    var messages = try run { connection in
      try connection.all(
        Self.repliesText, message.number, reply?.number ?? 0, fromSeq, viewer?.number, limit + 1
      ) { row in try Message(row) }
    }
    let hasMore = messages.count > limit
    if hasMore { messages.removeLast() }
    try complete(&messages)
    return (messages, hasMore)
  }

  private static let repliesText = SQL(
    """
    select \(Message.columns)
    from message
    where reply_to = $1 and id > $2 and seq >= $3
    and author_id not in (select other_id from relation where user_id = $4 and kind in ('mute', 'block'))
    order by id
    limit $5
    """)
}
