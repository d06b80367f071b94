// Where a cache keeps its rows. Four functions make a store; one that can't look messages up leaves `messages` alone, and the
// cache reads all of them and filters.

public import ParleyJSON
public import ParleyModel

/// Something that keeps rows: SQLite, memory, or whatever an app has. It is used by one thread at a time.
public protocol CacheStore: AnyObject {
  /// All of it, or nothing.
  func keep(_ changes: CacheChanges) throws(CacheFault)
  /// Every row of a table.
  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow]
  /// The messages that are looked for, in their order; nil where the store can't look.
  func messages(_ lookup: MessageLookup) throws(CacheFault) -> [CachedMessage]?
  /// Nothing is left of it.
  func erase() throws(CacheFault)
}

extension CacheStore {
  public func messages(_ lookup: MessageLookup) throws(CacheFault) -> [CachedMessage]? { nil }
}

/// What stands together in a store.
public enum CacheTable: String, Sendable, CaseIterable {
  // Of the replica.
  case place, person, forum, conversation, level, relation, stream, need
  /// Messages stand under `conversation:seq`.
  case message
  /// Which stretches of a conversation are held, and how far its full sync has come.
  case history
  case operation, draft, orphan
  /// What the app and this library know of themselves.
  case note
}

/// One thing, by its name; nil for what goes.
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

/// What is kept in one step.
public struct CacheChanges: Sendable {
  public var rows: [CacheRow] = []
  public var messages: [CachedMessage] = []
  /// Messages that go, before the others come.
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
