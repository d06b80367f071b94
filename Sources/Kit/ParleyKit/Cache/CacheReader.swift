import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Reads the copy of an app from another process of it, while the app uses it: a notification service extension, a widget. The
/// app opens its store with `DiskStore(path, isShared: true)`. Each call reads what the app has committed last. A locked copy
/// is not read.
///
/// A reader changes nothing. A process that writes opens a `DiskStore` itself, while no other has it.
public final class CacheReader {
  private let connection: Connection

  /// - Throws: `inUse` if the app has the file for itself, `newer` if the file is from a newer version of the app.
  public init(_ path: String, patience: Duration = .seconds(5)) throws(CacheFault) {
    var options = Connection.Options()
    options.busyTimeout = patience
    options.cacheKibibytes = 1_024
    do {
      connection = try .reader(path, options)
      let version = try connection.first("pragma user_version") { row in try row.int(0) } ?? 0
      guard version <= DiskStore.version else { throw CacheFault.newer(version: version) }
      guard version == DiskStore.version else { throw CacheFault.broken("the app has not opened the file yet") }
    } catch { throw error as? CacheFault ?? CacheFault(error) }
  }

  /// The user of the copy; nil before the first synchronization.
  public func me() throws(CacheFault) -> User? { try value(.site, "me") }

  /// A cached user, such as the author of a message.
  public func user(_ id: ID<User>) throws(CacheFault) -> User? { try value(.user, id.description) }

  /// A cached conversation of the user.
  public func conversation(_ id: ID<Conversation>) throws(CacheFault) -> Conversation? {
    let known: ReplicaConversation? = try value(.conversation, id.description)
    return known?.conversation
  }

  /// A cached forum, such as that of a room.
  public func forum(_ id: ID<Forum>) throws(CacheFault) -> Forum? {
    let known: ReplicaForum? = try value(.forum, id.description)
    return known?.forum
  }

  /// The message of a push notification; nil if its revision is not cached. Then the process requests it:
  /// `client.send(.getMessage(payload.message))`.
  public func message(of payload: MessagePayload) throws(CacheFault) -> Message? {
    guard let message = try message(payload.message), message.revision >= payload.revision ?? 0 else { return nil }
    return message
  }

  /// A cached message.
  public func message(_ id: ID<Message>) throws(CacheFault) -> Message? {
    let stored: ReplicaMessage? = try read { () throws -> String? in
      try connection.first("select value from message where id = $1", id.number) { row in try row.text(0) }
    }
    return stored?.message
  }

  private func value<Value: JSONReadable>(_ table: CacheTable, _ key: String) throws(CacheFault) -> Value? {
    try read { () throws -> String? in
      try connection.first("select value from thing where kind = $1 and key = $2", table.rawValue, key) { row in
        try row.text(0)
      }
    }
  }

  /// Reads a row in one transaction with the lock of the copy.
  private func read<Value: JSONReadable>(_ row: () throws -> String?) throws(CacheFault) -> Value? {
    do {
      return try connection.transaction(.deferred) {
        let isLocked = try connection.first(
          "select 1 from thing where kind = $1 and key = $2", CacheTable.note.rawValue, Cache.lockNote
        ) { _ in true }
        guard isLocked != true else { throw CacheFault.locked }
        guard let text = try row() else { return nil }
        return try Value(json: JSONValue(parsing: Array(text.utf8)))
      }
    } catch { throw error as? CacheFault ?? CacheFault(error) }
  }
}
