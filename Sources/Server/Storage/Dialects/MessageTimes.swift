// Times of messages in microseconds, for clients that ask for the messages after a time.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Times in microseconds since 1970, by message. Within a conversation they are unique and in its order, also after the clock
  /// was set back: each message has the first free microsecond from the latest millisecond up to it.
  public func microseconds(of messages: [Message]) throws(Refusal) -> [ID<Message>: Int] {
    var placed: [PlacedMessage] = []
    try run { connection in
      try Self.positions.each(messages.map(\.id.number), connection) { row in
        placed.append(
          PlacedMessage(
            id: ID(try row.int(0)), conversation: ID(try row.int(1)), seq: try row.int(2), at: try row.int(3)))
      }
    }
    var times: [ID<Message>: Int] = [:]
    var bases: [PlacedMessage.Millisecond: Int] = [:]
    // The base of a millisecond needs the earlier ones.
    for message in placed.sorted(by: { $0.at < $1.at }) {
      times[message.id] = try base(of: message.millisecond, &bases) + message.seq
    }
    return times
  }

  private static let positions = ListQuery { list in
    """
    select id, conversation_id, seq, coalesce(latest_at, created_at)
    from message
    where id in (\(list))
    """
  }

  /// The difference between the times of the messages of a millisecond and their `seq`, which has no gaps. The first message
  /// begins at the millisecond, or after the last one of an earlier millisecond with so many messages that they reach into it.
  private func base(
    of millisecond: PlacedMessage.Millisecond, _ bases: inout [PlacedMessage.Millisecond: Int]
  ) throws(Refusal) -> Int {
    if let known = bases[millisecond] { return known }
    let first = try firstSeq(of: millisecond)
    var base = millisecond.at * 1_000 - first
    // All the messages before it reach no farther.
    let earliest = millisecond.at - first / 1_000
    var current = millisecond
    while let earlier = try millisecondOfMessages(before: current, from: earliest) {
      if let known = bases[earlier] {
        base = max(base, known)
        break
      }
      base = try max(base, earlier.at * 1_000 - firstSeq(of: earlier))
      current = earlier
    }
    bases[millisecond] = base
    return base
  }

  private func firstSeq(of millisecond: PlacedMessage.Millisecond) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select seq
        from message
        where conversation_id = $1 and coalesce(latest_at, created_at) = $2
        order by seq
        limit 1
        """, millisecond.conversation.number, millisecond.at
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// The last millisecond before another one in which the conversation got a message; nil before `earliest`.
  private func millisecondOfMessages(
    before other: PlacedMessage.Millisecond, from earliest: Int
  ) throws(Refusal) -> PlacedMessage.Millisecond? {
    let found = try run { connection in
      try connection.first(
        """
        select coalesce(latest_at, created_at)
        from message
        where conversation_id = $1 and coalesce(latest_at, created_at) >= $2 and coalesce(latest_at, created_at) < $3
        order by coalesce(latest_at, created_at) desc
        limit 1
        """, other.conversation.number, earliest, other.at
      ) { row in try row.int(0) }
    }
    return found.map { PlacedMessage.Millisecond(conversation: other.conversation, at: $0) }
  }
}

/// The position of a message in its conversation.
private struct PlacedMessage {
  struct Millisecond: Hashable {
    let conversation: ID<Conversation>
    let at: Int
  }

  let id: ID<Message>
  let conversation: ID<Conversation>
  let seq: Int
  /// The latest millisecond in the conversation up to this message.
  let at: Int

  var millisecond: Millisecond { Millisecond(conversation: conversation, at: at) }
}
