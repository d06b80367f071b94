import Model
import SQLite

/// What the index holds of one message.
struct SearchEntry: Hashable {
  let message: Int
  /// The message's text, and the name of the place that it gives.
  let words: String
  /// Where it stands: the conversation, its forum, its author.
  let scope: String

  init(
    _ message: ID<Message>, text: String, place: String?, conversation: ID<Conversation>, forum: ID<Forum>?,
    author: ID<Account>
  ) {
    self.message = message.number
    words = place.map { "\(text)\n\($0)" } ?? text
    scope = "c\(conversation)" + (forum.map { " f\($0)" } ?? "") + " a\(author)"
  }
}

/// An entry that comes or goes. The index keeps no copy, so what goes must be exactly what was added: read it with
/// `searchEntry(of:)` before the message changes.
enum SearchChange {
  case add(SearchEntry)
  case remove(SearchEntry)
}

enum SearchIndex {
  static func apply(_ changes: [SearchChange], _ connection: Connection) throws {
    for change in changes {
      switch change {
      case .add(let entry):
        try connection.execute(
          "insert into search (rowid, words, scope) values ($1, $2, $3)", entry.message, entry.words, entry.scope)
      case .remove(let entry):
        try connection.execute(
          "insert into search (search, rowid, words, scope) values ('delete', $1, $2, $3)", entry.message, entry.words,
          entry.scope)
      }
    }
  }
}

extension ReadTransaction {
  /// What the index should hold of a message as it is now: nothing of a tombstone, nor of what is for machines only.
  func searchEntry(of message: ID<Message>) throws(Refusal) -> SearchEntry? {
    try run { connection in
      try connection.first(
        """
        select m.text, l.name, m.conversation_id, c.forum_id, m.author_id
        from message m
        join conversation c on c.id = m.conversation_id
        left join location l on l.message_id = m.id
        where m.id = $1 and m.deletion is null and m.machine_only = 0
        """, message.number
      ) { row in
        SearchEntry(
          message, text: try row.text(0), place: try row.optionalText(1), conversation: ID(try row.int(2)),
          forum: try row.optionalInt(3).map { ID($0) }, author: ID(try row.int(4)))
      }
    }
  }
}
