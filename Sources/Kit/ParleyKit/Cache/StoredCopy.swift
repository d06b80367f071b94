// Reads the rows of a store. An earlier version of the app may have written them, and a type that has gained a required
// member since then can't decode them:
//
// - Rows that the server has are dropped. A reset fetches them again and verifies the cached messages.
// - Unsent operations, drafts and lost messages exist only here. Their readable parts are kept.

import ParleyJSON
import ParleyModel

struct StoredCopy {
  private(set) var replica = Replica()
  private(set) var histories: [ID<Conversation>: CachedHistory] = [:]
  private(set) var unsent: Cache.Unsent
  /// The changes that make the store readable.
  private(set) var repairs = CacheChanges()

  init(_ store: any CacheStore) throws(CacheFault) {
    let work = try StoredWork(store)
    unsent = (work.operations, work.drafts, work.orphans)
    repairs.rows = work.repairs
    for table in ReplicaRow.Table.allCases {
      for row in try store.rows(of: CacheTable(table)) {
        do { try replica.take(ReplicaRow(.init(table, row.key), row.value)) } catch { try drop(row) }
      }
    }
    for row in try store.rows(of: .history) {
      guard let id = ID<Conversation>(row.key), let raw = row.value else { continue }
      do { histories[id] = try CachedHistory(json: JSONValue(parsing: raw.bytes)) } catch {
        repairs.removed.append(.init(id))
        try drop(row)
      }
    }
  }

  private mutating func drop(_ row: CacheRow) throws(CacheFault) {
    if row.table == .site, row.key == "me" {
      // Unsent messages must not be sent as another user.
      do {
        var user = try JSONValue(parsing: (row.value ?? JSONRaw(trusted: [])).bytes).object()
        let id: ID<User> = try user.read("id")
        repairs.rows.append(CacheRow(.note, Cache.ownerNote, writing: id.number))
      } catch { throw .broken("\(error)") }
    }
    repairs.rows += [CacheRow(row.table, row.key, nil), CacheRow(.note, Cache.resetNote, writing: 1)]
  }
}

/// The work of the user that the server does not have.
struct StoredWork {
  private(set) var operations: [String: OutboxOperation] = [:]
  private(set) var drafts: [ID<Conversation>: JSONRaw] = [:]
  private(set) var orphans: [ID<Message>: ReplicaMessage] = [:]
  private(set) var repairs: [CacheRow] = []

  init(_ store: any CacheStore) throws(CacheFault) {
    do {
      for row in try store.rows(of: .operation) {
        guard let raw = row.value else { continue }
        let value = try JSONValue(parsing: raw.bytes)
        if let operation = try? OutboxOperation(json: value) {
          operations[row.key] = operation.interrupted
        } else {
          let operation = try OutboxOperation(salvaging: value)
          operations[row.key] = operation
          repairs.append(
            operation.map { CacheRow(.operation, row.key, writing: $0) } ?? CacheRow(.operation, row.key, nil))
        }
      }
      for row in try store.rows(of: .draft) {
        guard let id = ID<Conversation>(row.key), let raw = row.value else { continue }
        drafts[id] = raw
        let value = try JSONValue(parsing: raw.bytes)
        guard (try? Draft(json: value)) == nil else { continue }
        let row = CacheRow(.draft, row.key, writing: try Draft(salvaging: value))
        drafts[id] = row.value
        repairs.append(row)
      }
      for row in try store.rows(of: .orphan) {
        guard let id = ID<Message>(row.key), let raw = row.value else { continue }
        let value = try JSONValue(parsing: raw.bytes)
        if let orphan = try? ReplicaMessage(json: value) {
          orphans[id] = orphan
          continue
        }
        let order = (operations.values.map(\.order).max() ?? 0) + 1
        let operation = try OutboxOperation(salvagingOrphan: value, order: order)
        repairs.append(CacheRow(.orphan, row.key, nil))
        guard operations[operation.id] == nil else { continue }
        operations[operation.id] = operation
        repairs.append(CacheRow(.operation, operation.id, writing: operation))
      }
    } catch { throw error as? CacheFault ?? .broken("\(error)") }
  }
}

// MARK: Salvage

extension OutboxOperation {
  private static let salvaged = ClientFault.unreadable("an earlier version of the app has stored it")

  /// The readable parts of an undecodable operation. It has failed if parts of its message are missing: the user retries or
  /// cancels it. Nil for a read position, which is not missed.
  init?(salvaging value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let kind: Kind = try object.word("kind")
    guard kind != .read else { return nil }
    let (work, isWhole) = try Work.salvaged(kind, &object, of: value)
    self.init(
      try object.string("id"), order: (try? object.int("order")) ?? 0, try Self.conversation(kind, &object), work,
      createdAt: Self.time(&object))
    state = .failed(isWhole ? .unfinished : Self.salvaged)
    // Its client id makes another attempt safe.
    mayBeSent = true
  }

  /// The operation that sends a lost message again, when the user retries it.
  init(salvagingOrphan value: JSONValue, order: Int) throws(JSONError) {
    var replica = try value.object()
    let message = try replica.value("message")
    var object = try message.object()
    let id: ID<Message> = try object.read("id")
    self.init(
      (try? object.optional("client_id")) ?? nil ?? "orphan-\(id)", order: order, try object.read("conversation_id"),
      .send(try Draft(salvagingMessage: message)), createdAt: Self.time(&object))
    state = .failed(Self.salvaged)
    mayBeSent = true
  }

  private static func time(_ object: inout JSONObject) -> Int64 {
    let time = (try? object.optional("created_at") as Timestamp?) ?? nil
    return time.map { Int64($0.milliseconds) } ?? 0
  }
}

extension Draft {
  init(salvaging value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("text"))
    replyTo = (try? object.optional("reply_to")) ?? nil
    annotations = (try? object.optional("annotations")) ?? nil ?? []
    attachments = (try? object.optional("attachments")) ?? nil ?? []
    descriptions = (try? object.optional("descriptions")) ?? nil ?? []
    files = (try? object.optional("files")) ?? nil ?? []
    poll = (try? object.optional("poll")) ?? nil
    isMachineOnly = (try? object.optional("machine_only")) ?? nil ?? false
  }

  fileprivate init(salvagingMessage value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("text"))
    replyTo = ((try? object.optional("reply_to") as ID<Message>?) ?? nil).map { .message($0) }
    annotations = (try? object.optional("annotations")) ?? nil ?? []
    attachments = (try? object.optional("attachments")) ?? nil ?? []
    descriptions = (try? object.optional("descriptions")) ?? nil ?? []
    isMachineOnly = (try? object.optional("machine_only")) ?? nil ?? false
  }
}
