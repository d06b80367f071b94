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
  public func messages(_ query: CacheQuery) throws(CacheFault) -> [CachedMessage]? { nil }
}

/// The tables of a store.
public enum CacheTable: String, Sendable, CaseIterable {
  // Tables of the replica.
  case site, user, forum, conversation, level, relation, stream, need
  /// Keyed by `conversation:seq`.
  case message
  /// The cached ranges of a conversation and the progress of its full sync.
  case history
  case operation, draft, orphan
  /// Metadata of the cache.
  case note
  /// The unsent work of a user with an erased copy, keyed by the user.
  case sealed
}

/// A row. A nil value deletes it.
public struct CacheRow: Sendable, Hashable {
  public var table: CacheTable
  public var key: String
  public var value: JSONRaw?

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
  public var rows: [CacheRow] = []
  public var messages: [CachedMessage] = []
  /// Ranges of messages to delete before the others are saved.
  public var removed: [Removal] = []
  var syncs: [ID<Conversation>: SyncState] = [:]

  public init() {}

  public struct Removal: Sendable, Hashable {
    public var conversation: ID<Conversation>
    public var seqs: ClosedRange<Int>

    public init(_ conversation: ID<Conversation>, _ seqs: ClosedRange<Int> = 1...Int.max) {
      self.conversation = conversation
      self.seqs = seqs
    }
  }

  public var isEmpty: Bool { rows.isEmpty && messages.isEmpty && removed.isEmpty }
}
