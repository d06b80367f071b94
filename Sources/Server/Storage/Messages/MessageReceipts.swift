// Read and delivery receipts. A receipt is computed from one read position per user and conversation and never stored
// per message.

public import ParleyModel
import ParleySQLite

/// A participant of a small conversation, with read and delivered positions.
public struct ReadingParticipant: Sendable, Hashable {
  public let user: ID<User>
  /// The last `seq` when the user joined. Earlier messages were not addressed to the user.
  public let joinedSeq: Int
  /// 0 if the user hides receipts.
  public let readSeq: Int
  public let deliveredSeq: Int
  public let showsReceipts: Bool
}

extension ReadTransaction {
  /// The participants of the direct conversations and of the groups with at most `limit` users, by user id.
  public func readingParticipants(
    of conversations: some Sequence<ID<Conversation>>, max limit: Int
  ) throws(Refusal) -> [ID<Conversation>: [ReadingParticipant]] {
    var found: [ID<Conversation>: [ReadingParticipant]] = [:]
    try run { connection in
      try Self.readingByConversation.each(conversations.map(\.number), and: limit, connection) { row in
        let shows = try row.bool(5)
        found[ID(try row.int(0)), default: []].append(
          ReadingParticipant(
            user: ID(try row.int(1)), joinedSeq: try row.int(2), readSeq: shows ? try row.int(3) : 0,
            deliveredSeq: shows ? try row.int(4) : 0, showsReceipts: shows))
      }
    }
    for id in found.keys { found[id]?.sort { $0.user < $1.user } }
    return found
  }

  private static let readingByConversation = ListQuery { list, limit in
    """
    select p.conversation_id, p.user_id, p.joined_seq, coalesce(k.read_seq, 0), coalesce(k.delivered_seq, 0),
      a.shows_receipts and p.request = 0
    from conversation c
    join participant p on p.conversation_id = c.id
    join account a on a.id = p.user_id
    left join read_position k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
    where c.id in (\(list)) and c.kind in ('direct', 'group') and not exists (
      select 1
      from participant
      where conversation_id = c.id
      order by user_id
      limit 1 offset \(limit)
    )
    """
  }
}
