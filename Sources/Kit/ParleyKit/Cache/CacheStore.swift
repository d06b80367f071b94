// The storage interface of the cache. A store without queries omits `messages`; the cache then reads and filters all rows.

public import ParleyJSON
public import ParleyModel

/// A store of rows, in SQLite, in memory or in an app's own database. One thread uses it at a time.
public protocol CacheStore: AnyObject {
  /// Saves the changes in one transaction.
  func save(_ changes: CacheChanges) throws(CacheFault)
  /// All rows of a table.
  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow]
  /// The messages of a query, in its order; nil if the store has no queries.
  func messages(_ query: CacheQuery) throws(CacheFault) -> [CachedMessage]?
  /// Erases all rows and saves `kept`, in one transaction.
  func erase(keeping kept: [CacheRow]) throws(CacheFault)
}

extension CacheStore {
  /// Nil: the cache filters the rows in memory.
  public func messages(_ query: CacheQuery) throws(CacheFault) -> [CachedMessage]? { nil }
}

/// The tables of a store.
public enum CacheTable: String, Sendable, CaseIterable {
  // Tables of the replica.
  /// Rows of the replica.
  case site, user, forum, conversation, level, relation, stream, need
  /// Keyed by `conversation:seq`.
  case message
  /// The cached ranges of a conversation and the progress of its full sync.
  case history
  /// Unsent operations, drafts and lost messages.
  case operation, draft, orphan
  /// Metadata of the cache.
  case note
  /// The unsent work of a user with an erased copy, keyed by the user.
  case sealed
}

/// A row. A nil value deletes it.
public struct CacheRow: Sendable, Hashable {
  /// The table of the row.
  public var table: CacheTable
  /// Unique in the table.
  public var key: String
  /// Nil deletes the row.
  public var value: JSONRaw?

  /// A row with a JSON value; a nil value deletes it.
  public init(_ table: CacheTable, _ key: String, _ value: JSONRaw?) {
    self.table = table
    self.key = key
    self.value = value
  }

  init(_ table: CacheTable, _ key: String, writing value: some JSONWritable) {
    var json = JSONWriter()
    json.value(value)
    self.init(table, key, JSONRaw(trusted: json.bytes))
  }
}

/// The changes of one transaction.
public struct CacheChanges: Sendable {
  /// Rows to store or delete.
  public var rows: [CacheRow] = []
  /// Messages to store.
  public var messages: [CachedMessage] = []
  /// Ranges of messages to delete before the others are saved.
  public var removed: [Removal] = []
  var syncs: [ID<Conversation>: SyncState] = [:]

  /// A transaction without changes.
  public init() {}

  /// A range of messages to delete.
  public struct Removal: Sendable, Hashable {
    /// The conversation of the messages.
    public var conversation: ID<Conversation>
    /// Positions of the messages.
    public var seqs: ClosedRange<Int>

    /// A range of a conversation, or all of it.
    public init(_ conversation: ID<Conversation>, _ seqs: ClosedRange<Int> = 1...Int.max) {
      self.conversation = conversation
      self.seqs = seqs
    }
  }

  /// Whether the transaction changes nothing.
  public var isEmpty: Bool { rows.isEmpty && messages.isEmpty && removed.isEmpty }
}
