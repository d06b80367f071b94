// How far the others have come. A receipt is computed from one mark for each person and conversation, never stored for a
// message.

public import Model
import SQLite

/// Somebody in a conversation of a few, and how far they have come.
public struct ReadingParticipant: Sendable, Hashable {
  public let account: ID<Account>
  /// The conversation's last message when they came: what was said before was not said to them.
  public let joinedSeq: Int
  /// 0 where they don't show it.
  public let readSeq: Int
  public let deliveredSeq: Int
  public let showsReceipts: Bool
}

extension ReadTransaction {
  /// Everyone in a direct or group conversation; nil for another kind, and for one of more than `most` people.
  public func readingParticipants(
    of conversation: ID<Conversation>, most: Int
  ) throws(Refusal) -> [ReadingParticipant]? {
    let found = try run { connection in
      try connection.all(
        """
        select p.user_id, p.joined_seq, coalesce(k.read_seq, 0), coalesce(k.delivered_seq, 0),
          a.shows_receipts and p.request = 0
        from conversation c
        join participant p on p.conversation_id = c.id
        join account a on a.id = p.user_id
        left join mark k on k.user_id = p.user_id and k.conversation_id = p.conversation_id
        where c.id = $1 and c.kind in ('direct', 'group') and not exists (
          select 1
          from participant
          where conversation_id = $1
          order by user_id
          limit 1 offset $2
        )
        order by p.user_id
        """, conversation.number, most
      ) { row in
        let shows = try row.bool(4)
        return ReadingParticipant(
          account: ID(try row.int(0)), joinedSeq: try row.int(1), readSeq: shows ? try row.int(2) : 0,
          deliveredSeq: shows ? try row.int(3) : 0, showsReceipts: shows)
      }
    }
    return found.isEmpty ? nil : found
  }
}
