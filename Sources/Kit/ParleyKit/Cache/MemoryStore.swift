import ParleyModel

/// A store in memory, for tests and for apps without local storage. It has no queries.
public final class MemoryStore: CacheStore {
  private var tables: [CacheTable: [String: CacheRow]] = [:]
  private var messages: [ID<Conversation>: [Int: CachedMessage]] = [:]

  /// An empty store.
  public init() {}

  /// Stores the changes.
  public func save(_ changes: CacheChanges) {
    for removal in changes.removed {
      guard let known = messages[removal.conversation] else { continue }
      messages[removal.conversation] = known.filter { !removal.seqs.contains($0.key) }
    }
    for row in changes.rows { tables[row.table, default: [:]][row.key] = row.value == nil ? nil : row }
    for message in changes.messages {
      messages[message.message.conversation, default: [:]][message.message.seq] = message
    }
  }

  /// All rows of a table.
  public func rows(of table: CacheTable) -> [CacheRow] {
    guard table == .message else { return tables[table].map { Array($0.values) } ?? [] }
    return messages.values.flatMap(\.values).map { CacheRow(.message, $0.key, writing: $0) }
  }

  /// Deletes everything, and stores the rows that stay.
  public func erase(keeping kept: [CacheRow]) {
    tables = [:]
    messages = [:]
    for row in kept { tables[row.table, default: [:]][row.key] = row }
  }
}
