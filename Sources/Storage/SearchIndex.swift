import SQLite

/// One text that enters the index or leaves it.
enum SearchChange {
  case add(message: Int, words: String, scope: String)
  /// Exactly what was added: a contentless index keeps no copy to remove by.
  case remove(message: Int, words: String, scope: String)
}

enum SearchIndex {
  static func apply(_ changes: [SearchChange], _ connection: Connection) throws {
    for change in changes {
      switch change {
      case .add(let message, let words, let scope):
        try connection.execute("insert into search (rowid, words, scope) values ($1, $2, $3)", message, words, scope)
      case .remove(let message, let words, let scope):
        try connection.execute(
          "insert into search (search, rowid, words, scope) values ('delete', $1, $2, $3)", message, words, scope)
      }
    }
  }
}
