public import ParleyModel

/// The ids of changed objects.
public struct CacheUpdate: Sendable, Hashable {
  /// Whether everything was erased, as at sign-out.
  public var isErased = false
  /// Conversations with new, removed or changed messages.
  public var messages: Set<ID<Conversation>> = []
  /// Users that were added or changed.
  public var users: Set<ID<User>> = []
  /// Forums that were added, changed or removed.
  public var forums: Set<ID<Forum>> = []
  /// Conversations that were added, changed or removed.
  public var conversations: Set<ID<Conversation>> = []
  /// Names of unsent operations that were added, changed or completed.
  public var operations: Set<String> = []
  /// The cursor or other data has changed.
  public var isOther = false

  static let erased: CacheUpdate = {
    var update = CacheUpdate()
    update.isErased = true
    return update
  }()

  private init() {}

  init(_ changes: CacheChanges) {
    messages = Set(changes.messages.map(\.message.conversation) + changes.removed.map(\.conversation))
    for row in changes.rows {
      switch row.table {
      case .user: if let id = ID<User>(row.key) { users.insert(id) }
      case .forum: if let id = ID<Forum>(row.key) { forums.insert(id) }
      case .conversation: if let id = ID<Conversation>(row.key) { conversations.insert(id) }
      case .operation: operations.insert(row.key)
      case .site, .level, .relation, .stream, .need, .message, .history, .draft, .orphan, .note, .sealed: isOther = true
      }
    }
  }
}
