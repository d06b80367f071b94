// Read positions: one row per user and conversation, which also holds the receipts of all its messages. Receipts are
// sent in small conversations only, and at most once a second per reader. A receipt that is due too soon is stored as
// pending, and housekeeping sends it.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func readPosition(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> ReadPosition {
    try storedReadPosition(of: user, in: conversation).readPosition
  }

  /// The `seq` of a message, unless it is before `fromSeq`, the start of the user's history.
  public func seq(
    of message: ID<Message>, in conversation: ID<Conversation>, from fromSeq: Int
  ) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select seq
        from message
        where id = $1 and conversation_id = $2 and seq >= $3
        """, message.number, conversation.number, fromSeq
      ) { row in try row.int(0) }
    }
  }

  /// The `seq` of the newest message up to an id.
  public func lastSeq(
    of conversation: ID<Conversation>, upTo message: ID<Message>
  ) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select seq
        from message
        where conversation_id = $1 and id <= $2
        order by seq desc
        limit 1
        """, conversation.number, message.number
      ) { row in try row.int(0) }
    }
  }

  /// Whether the user's receipts are sent to the other participants.
  fileprivate func sendsReceipts(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Bool {
    let isShown = try run { connection in
      try connection.first(
        """
        select c.kind in ('direct', 'group') and c.state = 'open' and a.shows_receipts = 1 and p.request = 0
        from participant p
        join conversation c on c.id = p.conversation_id
        join account a on a.id = p.user_id
        where p.conversation_id = $1 and p.user_id = $2
        """, conversation.number, user.number
      ) { row in try row.bool(0) } ?? false
    }
    guard isShown else { return false }
    return try participantCount(of: conversation, upTo: Conversation.maxListed + 1) <= Conversation.maxListed
  }

  fileprivate func storedReadPosition(
    of user: ID<User>, in conversation: ID<Conversation>
  ) throws(Refusal) -> (readPosition: ReadPosition, receiptSentAt: Int64) {
    try run { connection in
      try connection.first(
        """
        select read_seq, delivered_seq, receipt_sent_at
        from read_position
        where user_id = $1 and conversation_id = $2
        """, user.number, conversation.number
      ) { row in
        (ReadPosition(readSeq: try row.int(0), deliveredSeq: try row.int(1)), Int64(try row.int(2)))
      } ?? (ReadPosition(), 0)
    }
  }
}

extension WriteTransaction {
  /// Minimum time between two receipts of one reader in a conversation, in milliseconds.
  static let timeBetweenReceipts: Int64 = 1_000

  /// Advances a read position. It never moves back.
  public func move(
    _ kind: ReadPosition.Kind, of user: ID<User>, in conversation: ID<Conversation>, to seq: Int
  ) throws(Refusal) -> ReadPosition {
    let (old, receiptSentAt) = try storedReadPosition(of: user, in: conversation)
    let readPosition = old.moved(kind, to: seq)
    guard readPosition != old else { return old }
    let hasReceipts = try sendsReceipts(of: user, in: conversation)
    let isDue = hasReceipts && now - receiptSentAt >= Self.timeBetweenReceipts
    try run { connection in
      try connection.execute(
        """
        insert into read_position (
          user_id, conversation_id, read_seq, delivered_seq, read_at, delivered_at, receipt_sent_at, receipt_pending)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (user_id, conversation_id) do update
        set read_seq = excluded.read_seq, delivered_seq = excluded.delivered_seq,
          read_at = coalesce(excluded.read_at, read_at), delivered_at = coalesce(excluded.delivered_at, delivered_at),
          receipt_sent_at = excluded.receipt_sent_at, receipt_pending = excluded.receipt_pending
        """, user.number, conversation.number, readPosition.readSeq, readPosition.deliveredSeq,
        readPosition.readSeq > old.readSeq ? Int(now) : nil,
        readPosition.deliveredSeq > old.deliveredSeq ? Int(now) : nil,
        isDue ? Int(now) : Int(receiptSentAt), hasReceipts && !isDue)
    }
    try log(.readPositionUpdated, in: .user(user), subject: conversation.number, revision: 0, actor: user.number)
    if isDue { try logReceipt(of: user, in: conversation) }
    return readPosition
  }

  /// Sends pending receipts. Returns whether more are left.
  func sendPendingReceipts(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select user_id, conversation_id
        from read_position
        where receipt_pending = 1 and receipt_sent_at <= $1
        order by receipt_sent_at, user_id, conversation_id
        limit $2
        """, Int(now - Self.timeBetweenReceipts), limit
      ) { row in (user: ID<User>(try row.int(0)), conversation: ID<Conversation>(try row.int(1))) }
    }
    for (user, conversation) in due {
      try run { connection in
        try connection.execute(
          """
          update read_position
          set receipt_sent_at = $1, receipt_pending = 0
          where user_id = $2 and conversation_id = $3
          """, Int(now), user.number, conversation.number)
      }
      // The user may have left or disabled receipts meanwhile.
      if try sendsReceipts(of: user, in: conversation) { try logReceipt(of: user, in: conversation) }
    }
    return due.count == limit
  }

  private func logReceipt(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) {
    try log(.receiptUpdated, in: .conversation(conversation), subject: user.number, revision: 0, actor: user.number)
  }
}
