// Facts of a topic in lists, beside its row: the beginning of the first message, its authors, the time of the newest
// message.

public import ParleyModel
import ParleySQLite

/// Facts about the messages of a topic.
public struct TopicFacts: Sendable, Hashable {
  /// The beginning of the first message, as Markdown; empty if the message was deleted.
  public var opening = ""
  /// Authors of live messages, the newest first.
  public var authors: [ID<User>] = []
  public var lastMessageAt: Int64?

  /// Number of newest messages whose authors are listed.
  static let maxMessages = 20
  /// Scalars of the opening.
  static let maxOpening = 600
}

extension ReadTransaction {
  /// The facts that a reader of the messages from `start` on may know.
  public func facts(of topic: Topic, from start: Int) throws(Refusal) -> TopicFacts {
    var facts = TopicFacts()
    guard topic.lastSeq >= start else { return facts }
    try run { connection in
      facts.opening =
        try connection.first(
          """
          select substr(text, 1, $1)
          from message
          where conversation_id = $2 and seq = $3 and deletion is null
          """, TopicFacts.maxOpening, topic.id.number, start
        ) { row in try row.text(0) } ?? ""
      facts.lastMessageAt =
        try connection.first(
          """
          select created_at
          from message
          where id = $1
          """, topic.lastMessage?.number ?? 0
        ) { row in Int64(try row.int(0)) }
      facts.authors = try connection.all(
        """
        select author_id
        from message
        where conversation_id = $1 and seq >= $2 and deletion is null and machine_only = 0
        order by seq desc
        limit $3
        """, topic.id.number, start, TopicFacts.maxMessages
      ) { row in ID(try row.int(0)) }
    }
    return facts
  }
}
