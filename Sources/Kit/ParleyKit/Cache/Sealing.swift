// The data on a shared device after a session. An erased copy leaves the unsent operations, drafts and lost messages of its
// user, sealed: they are neither shown nor sent until that user signs in again. A locked copy stays whole, and is unlocked by
// the same user only.

import ParleyJSON
public import ParleyModel

extension Cache {
  static let lockNote = "locked"
  static let ownerNote = "owner"

  /// The user of the copy; of one whose user must be fetched again, the noted one.
  var owner: ID<User>? { replica.me?.summary.id ?? number(Self.ownerNote).map { ID($0) } }

  /// The user of a locked copy. Its data can neither be read nor changed.
  public var lockedFor: ID<User>? { number(Self.lockNote).map { ID($0) } }

  /// Erases the copy, and seals the unsent work of its user.
  func seal() throws(CacheFault) {
    var sealed: [String: CacheRow] = [:]
    for row in try store.rows(of: .sealed) { sealed[row.key] = row }
    if let user = lockedFor ?? owner {
      var work = try sealedWork(of: user)
      work.add(try unsentWork())
      if !work.isEmpty { sealed[user.description] = CacheRow(.sealed, user.description, writing: work) }
    }
    try erase(keeping: sealed.values.sorted { $0.key < $1.key })
  }

  /// Locks the copy for its user.
  func lock() throws(CacheFault) {
    guard lockedFor == nil, let user = owner else { return }
    try save([CacheRow(.note, Self.lockNote, writing: user.number)])
    forget()
    publish(.erased)
  }

  func unlock() throws(CacheFault) {
    guard lockedFor != nil else { return }
    var changes = CacheChanges()
    changes.rows = [CacheRow(.note, Self.lockNote, nil)]
    try store.save(changes)
    notes[Self.lockNote] = nil
    try load()
  }

  /// Reads the user's own row only: an unreadable one of another user must not stop this user.
  private func sealedWork(of user: ID<User>) throws(CacheFault) -> SealedWork {
    let row = try store.rows(of: .sealed).first { $0.key == user.description }
    guard let raw = row?.value else { return SealedWork() }
    do { return try SealedWork(json: JSONValue(parsing: raw.bytes)) } catch { throw .broken("\(error)") }
  }

  /// The rows that give a user the sealed work back. A draft of a later session stays.
  func unsealed(for user: ID<User>) throws(CacheFault) -> [CacheRow] {
    let work = try sealedWork(of: user)
    guard !work.isEmpty else { return [] }
    var rows = [CacheRow(.sealed, user.description, nil)]
    var order = operations.values.map(\.order).max() ?? 0
    for var operation in work.operations where operations[operation.id] == nil {
      order += 1
      operation.order = order
      // The client id makes another attempt safe.
      if operation.failure == .unfinished { operation.state = .pending }
      rows.append(CacheRow(.operation, operation.id, writing: operation))
    }
    for (conversation, draft) in work.drafts where drafts[conversation] == nil {
      rows.append(CacheRow(.draft, conversation.description, draft))
    }
    for orphan in work.orphans { rows.append(CacheRow(.orphan, orphan.message.id.description, writing: orphan)) }
    return rows
  }
}

/// The unsent work of a user with an erased copy.
private struct SealedWork {
  /// In their order.
  var operations: [OutboxOperation] = []
  var drafts: [ID<Conversation>: JSONRaw] = [:]
  var orphans: [ReplicaMessage] = []

  var isEmpty: Bool { operations.isEmpty && drafts.isEmpty && orphans.isEmpty }

  mutating func add(_ unsent: Cache.Unsent) {
    // A read position is not missed.
    operations += unsent.operations.values.filter { $0.kind != .read }.sorted { $0.order < $1.order }.map(\.interrupted)
    drafts.merge(unsent.drafts) { $1 }
    orphans += unsent.orphans.values.sorted { $0.message.id < $1.message.id }
  }
}

extension SealedWork: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("operations", operations)
      json.array("drafts") { json in
        for (conversation, draft) in drafts.sorted(by: { $0.key < $1.key }) {
          json.object { json in
            json.field("conversation_id", conversation)
            json.field("draft", draft)
          }
        }
      }
      json.field("orphans", orphans)
    }
  }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    // An earlier version may have stored them: the readable parts are kept.
    for value in try object.value("operations").array() {
      do { operations.append(try OutboxOperation(json: value)) } catch {
        if let operation = try OutboxOperation(salvaging: value) { operations.append(operation) }
      }
    }
    for row in try object.value("drafts").array() {
      var draft = try row.object()
      drafts[try draft.read("conversation_id")] = try draft.value("draft").raw
    }
    for value in try object.value("orphans").array() {
      do { orphans.append(try ReplicaMessage(json: value)) } catch {
        operations.append(try OutboxOperation(salvagingOrphan: value, order: operations.count + 1))
      }
    }
  }
}
