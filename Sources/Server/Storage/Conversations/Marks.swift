// How far people have come. A mark is one row for a person and a conversation, and so are the receipts of all its
// messages. Others are told in small conversations only, of each reader once a second at most: what moves too soon after
// is owed, and the housekeeping tells it.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func mark(of person: ID<Account>, in conversation: ID<Conversation>) throws(Refusal) -> Mark {
    try storedMark(of: person, in: conversation).mark
  }

  /// Where a message stands that somebody may see whose history begins at `fromSeq`.
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

  /// Whether the others in a conversation are told how far somebody has come.
  fileprivate func tellsReceipts(of person: ID<Account>, in conversation: ID<Conversation>) throws(Refusal) -> Bool {
    let isShown = try run { connection in
      try connection.first(
        """
        select c.kind in ('direct', 'group') and c.state = 'open' and a.shows_receipts = 1 and p.request = 0
        from participant p
        join conversation c on c.id = p.conversation_id
        join account a on a.id = p.user_id
        where p.conversation_id = $1 and p.user_id = $2
        """, conversation.number, person.number
      ) { row in try row.bool(0) } ?? false
    }
    guard isShown else { return false }
    return try participantCount(of: conversation, upTo: Conversation.mostListed + 1) <= Conversation.mostListed
  }

  fileprivate func storedMark(
    of person: ID<Account>, in conversation: ID<Conversation>
  ) throws(Refusal) -> (mark: Mark, toldAt: Int64) {
    try run { connection in
      try connection.first(
        """
        select read_seq, delivered_seq, told_at
        from mark
        where user_id = $1 and conversation_id = $2
        """, person.number, conversation.number
      ) { row in
        (Mark(readSeq: try row.int(0), deliveredSeq: try row.int(1)), Int64(try row.int(2)))
      } ?? (Mark(), 0)
    }
  }
}

extension WriteTransaction {
  /// Between two times at which a conversation is told of the same reader.
  static let timeBetweenReceipts: Int64 = 1_000

  /// Moves a mark ahead; nothing when it is there already.
  public func move(
    _ kind: Mark.Kind, of person: ID<Account>, in conversation: ID<Conversation>, to seq: Int
  ) throws(Refusal) -> Mark {
    let (old, toldAt) = try storedMark(of: person, in: conversation)
    let mark = old.moved(kind, to: seq)
    guard mark != old else { return old }
    let isTold = try tellsReceipts(of: person, in: conversation)
    let isDue = isTold && now - toldAt >= Self.timeBetweenReceipts
    try run { connection in
      try connection.execute(
        """
        insert into mark (
          user_id, conversation_id, read_seq, delivered_seq, read_at, delivered_at, told_at, owes_receipt)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (user_id, conversation_id) do update
        set read_seq = excluded.read_seq, delivered_seq = excluded.delivered_seq,
          read_at = coalesce(excluded.read_at, read_at), delivered_at = coalesce(excluded.delivered_at, delivered_at),
          told_at = excluded.told_at, owes_receipt = excluded.owes_receipt
        """, person.number, conversation.number, mark.readSeq, mark.deliveredSeq,
        mark.readSeq > old.readSeq ? Int(now) : nil, mark.deliveredSeq > old.deliveredSeq ? Int(now) : nil,
        isDue ? Int(now) : Int(toldAt), isTold && !isDue)
    }
    try log(.markMoved, in: .user(person), subject: conversation.number, revision: 0, actor: person.number)
    if isDue { try logReceipt(of: person, in: conversation) }
    return mark
  }

  /// Tells what moved too soon after it was told before. Whether more is left.
  func tellOwedReceipts(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select user_id, conversation_id
        from mark
        where owes_receipt = 1 and told_at <= $1
        order by told_at, user_id, conversation_id
        limit $2
        """, Int(now - Self.timeBetweenReceipts), limit
      ) { row in (person: ID<Account>(try row.int(0)), conversation: ID<Conversation>(try row.int(1))) }
    }
    for (person, conversation) in due {
      try run { connection in
        try connection.execute(
          """
          update mark
          set told_at = $1, owes_receipt = 0
          where user_id = $2 and conversation_id = $3
          """, Int(now), person.number, conversation.number)
      }
      // They may have left meanwhile, or show it no longer.
      if try tellsReceipts(of: person, in: conversation) { try logReceipt(of: person, in: conversation) }
    }
    return due.count == limit
  }

  private func logReceipt(of person: ID<Account>, in conversation: ID<Conversation>) throws(Refusal) {
    try log(.receiptUpdated, in: .conversation(conversation), subject: person.number, revision: 0, actor: person.number)
  }
}
