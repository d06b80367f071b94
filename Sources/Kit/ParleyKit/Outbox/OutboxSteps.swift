// The state transitions of the outbox. Each one reads the operations, decides and saves in one transaction of the cache, so
// a crash leaves the state before or after it, and no other transition runs in between.

import ParleyModel

extension OutboxOperation {
  /// Whether the server can't have the message of this operation.
  fileprivate var isCertainlyUnsent: Bool { kind == .send && !isUnderWay && !mayBeSent }

  /// The operation after the end of the process.
  var interrupted: OutboxOperation {
    guard isUnderWay else { return self }
    var operation = self
    (operation.isUnderWay, operation.mayBeSent, operation.state) = (false, true, .failed(.unfinished))
    return operation
  }
}

extension Cache {
  /// The operations in their order.
  var orderedOperations: [OutboxOperation] { operations.values.sorted { $0.order < $1.order } }

  private var nextOrder: Int { (operations.values.map(\.order).max() ?? 0) + 1 }

  private func save(_ changed: [OutboxOperation], removing removed: [OutboxOperation] = []) throws(CacheFault) {
    var rows = removed.map { CacheRow(.operation, $0.id, nil) }
    rows += changed.map { CacheRow(.operation, $0.id, writing: $0) }
    if !rows.isEmpty { try save(rows) }
  }

  // MARK: Adding

  /// Adds an operation and removes those that it replaces.
  /// - Returns: nil if a reference to an unsent message has no target.
  private func append(
    _ work: OutboxOperation.Work, in conversation: ID<Conversation>, id: OutboxOperation.Name, at time: Int64,
    replacing replaced: [OutboxOperation] = []
  ) throws(CacheFault) -> OutboxOperation? {
    var operation = OutboxOperation(id, order: nextOrder, conversation, work, createdAt: time)
    if let target = operation.target, case .message(let id) = try sentTarget(target) { operation.retarget(at: id) }
    if let name = operation.dependsOn, operations[name] == nil { return nil }
    try save([operation], removing: replaced)
    return operation
  }

  func addOperation(
    _ work: OutboxOperation.Work, in conversation: ID<Conversation>, id: OutboxOperation.Name, at time: Int64
  ) throws(CacheFault) -> OutboxOperation? {
    try append(work, in: conversation, id: id, at: time)
  }

  /// Changes the draft of a message that the server can't have, or adds an edit.
  func addEdit(
    of target: Draft.Target, in conversation: ID<Conversation>, to text: String, id: OutboxOperation.Name,
    at time: Int64
  ) throws(CacheFault) -> OutboxOperation? {
    if var unsent = unsentOperation(target), case .send(var draft) = unsent.work {
      draft.text = text
      unsent.work = .send(draft)
      try save([unsent])
      return unsent
    }
    return try append(.edit(target, text: text), in: conversation, id: id, at: time)
  }

  enum AddedDeletion {
    /// The operations that the server has nothing of, and is not to have.
    case removed([OutboxOperation])
    case added(OutboxOperation)
    case noTarget
  }

  /// Removes a message that the server can't have, or adds a deletion that replaces the other changes of the message. A
  /// failed message that the server may have is sent again first: its response names the message to delete.
  func addDeletion(
    of target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool, id: OutboxOperation.Name, at time: Int64
  ) throws(CacheFault) -> AddedDeletion {
    if let unsent = unsentOperation(target) { return .removed(try removeOperation(unsent.id)) }
    let target = try sentTarget(target)
    let others = orderedOperations.filter {
      $0.target == target && !$0.isUnderWay && $0.kind != .send && $0.kind.isOfMessage
    }
    let work = OutboxOperation.Work.delete(target, andFiles: andFiles)
    guard let added = try append(work, in: conversation, id: id, at: time, replacing: others) else { return .noTarget }
    if let name = added.dependsOn { try retryOperations { $0.id == name } }
    return .added(added)
  }

  /// Removes an operation. A message that the server may have is deleted there, unless the server has refused that, too.
  /// - Returns: nil if there is no such operation.
  func cancelOperation(
    _ name: OutboxOperation.Name, deletion id: OutboxOperation.Name, at time: Int64
  ) throws(CacheFault) -> AddedDeletion? {
    guard let operation = operations[name] else { return nil }
    let target = Draft.Target.unsent(name)
    let isDeleted = operations.values.contains { $0.kind == .delete && $0.target == target }
    let isRefused = operation.failure.map { !$0.isTemporary } ?? false
    guard operation.kind == .send, !operation.isCertainlyUnsent, !(isDeleted && isRefused) else {
      return .removed(try removeOperation(name))
    }
    return try addDeletion(of: target, in: operation.conversation, andFiles: false, id: id, at: time)
  }

  enum AddedAction {
    case unchanged
    case added(OutboxOperation)
    case noTarget
  }

  /// Adds an action that replaces a pending one of the same type. If the server has nothing of that one, and the message
  /// has the state already, both are dropped.
  func addAction(
    _ type: ActionType, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool,
    id: OutboxOperation.Name,
    at time: Int64
  ) throws(CacheFault) -> AddedAction {
    let target = try sentTarget(target)
    let same = orderedOperations.filter { operation in
      if case .action(target, type, _) = operation.work { true } else { false }
    }
    let pending = same.filter { !$0.isUnderWay }
    if !same.contains(where: { $0.isUnderWay || $0.mayBeSent }), try hasAction(type, target) == isSet {
      try save([], removing: pending)
      return .unchanged
    }
    let work = OutboxOperation.Work.action(target, type: type, isSet: isSet)
    return try append(work, in: conversation, id: id, at: time, replacing: pending).map { .added($0) } ?? .noTarget
  }

  /// Whether the server's message has the user's action; nil if unknown.
  private func hasAction(_ type: ActionType, _ target: Draft.Target) throws(CacheFault) -> Bool? {
    switch target {
    case .message(let id): try messages(.ids([id])).first?.replica.mine?.contains(type.name)
    case .unsent(let name): operations[name] == nil ? nil : false
    }
  }

  /// Adds a read position that replaces earlier ones. A queued position that is not before the new one stays.
  func addRead(
    _ message: ID<Message>, in conversation: ID<Conversation>, id: OutboxOperation.Name, at time: Int64
  ) throws(CacheFault) -> OutboxOperation {
    var earlier: [OutboxOperation] = []
    for operation in orderedOperations where operation.conversation == conversation {
      guard case .read(let other) = operation.work else { continue }
      if operation.failure.map(\.isTemporary) ?? true, try !isBefore(other, message) { return operation }
      if !operation.isUnderWay { earlier.append(operation) }
    }
    let operation = OutboxOperation(id, order: nextOrder, conversation, .read(message), createdAt: time)
    try save([operation], removing: earlier)
    return operation
  }

  /// Compares by `seq`, or by id if a message is not cached: ids grow in the same order.
  private func isBefore(_ one: ID<Message>, _ other: ID<Message>) throws(CacheFault) -> Bool {
    var seqs: [ID<Message>: Int] = [:]
    for cached in try messages(.ids([one, other])) { seqs[cached.message.id] = cached.message.seq }
    guard let first = seqs[one], let second = seqs[other] else { return one < other }
    return first < second
  }

  /// Adds the operation that sends an orphan again and removes the orphan.
  func addOrphan(
    _ orphan: ID<Message>, _ draft: Draft, in conversation: ID<Conversation>, id: OutboxOperation.Name, at time: Int64
  ) throws(CacheFault) -> OutboxOperation {
    let operation = OutboxOperation(id, order: nextOrder, conversation, .send(draft), createdAt: time)
    try save([CacheRow(.operation, id, writing: operation), CacheRow(.orphan, orphan.description, nil)])
    return operation
  }

  /// The target, by its id if it was sent in the meantime.
  private func sentTarget(_ target: Draft.Target) throws(CacheFault) -> Draft.Target {
    guard case .unsent(let name) = target, operations[name] == nil else { return target }
    return try messages(.clientIDs([name])).first.map { .message($0.message.id) } ?? target
  }

  /// The post of a cached repost; nil for any other message.
  func post(ofRepost target: Draft.Target) throws(CacheFault) -> ID<Message>? {
    guard case .message(let id) = target else { return nil }
    return try messages(.ids([id])).first?.message.content?.repostOf
  }

  /// The operation of a message that the server can't have.
  private func unsentOperation(_ target: Draft.Target) -> OutboxOperation? {
    guard case .unsent(let name) = target, let operation = operations[name], operation.isCertainlyUnsent else {
      return nil
    }
    return operation
  }

  // MARK: Attempts

  /// Begins an attempt.
  /// - Returns: nil if the operation was removed, has failed or waits for another one.
  func beginTry(of id: OutboxOperation.Name) throws(CacheFault) -> OutboxOperation? {
    guard var operation = operations[id], operation.state == .pending,
      operation.dependsOn.map({ operations[$0] == nil }) ?? true
    else { return nil }
    operation.attempts += 1
    operation.isUnderWay = true
    try save([operation])
    return operation
  }

  /// The result of a failed attempt.
  enum EndedTry {
    /// The operation stays, pending or failed.
    case kept(OutboxOperation)
    /// Nothing is left of the operation to retry.
    case dropped(OutboxOperation, with: [OutboxOperation])
    /// The operation is pending with another body, which the server may accept.
    case changed
    /// The operation was removed meanwhile.
    case removed
  }

  /// Ends a failed attempt.
  func endTry(
    of id: OutboxOperation.Name, _ fault: ClientFault, isDeferred: Bool
  ) throws(CacheFault) -> EndedTry {
    guard var operation = operations[id] else { return .removed }
    operation.isUnderWay = false
    if !fault.wasNotProcessed { operation.mayBeSent = true }
    // A body that the server rejects is not stored from an earlier attempt either: the server looks for the `client_id`
    // first.
    if let status = fault.problem?.status, status == 400 || status == 413 { operation.mayBeSent = false }
    // The server has lost the message, or the user may not read it any more. The text is sent without the reference.
    if case .send(var draft) = operation.work, draft.replyTo != nil, fault.refusesReply {
      draft.replyTo = nil
      operation.work = .send(draft)
      try save([operation])
      return .changed
    }
    if !isDeferred { operation.state = .failed(fault) }
    let deletions = operations.values.filter { $0.kind == .delete && $0.state == .pending }
    var own = isDeferred ? [] : deletions.filter { $0.target == .unsent(id) }
    let isUseless =
      switch operation.kind {
      case .read: !isDeferred
      case .send: operation.isCertainlyUnsent && !own.isEmpty
      // A deletion that was added during the attempt goes first.
      case .edit, .action: deletions.contains { $0.target == operation.target }
      case .delete, .createConversation, .updateConversation, .leaveConversation, .deleteConversation: false
      }
    if isUseless { return .dropped(operation, with: try removeOperation(id)) }
    // A deletion fails with the message that it waits for, so that both are shown.
    for index in own.indices { own[index].state = operation.state }
    try save([operation] + own)
    return .kept(operation)
  }

  /// Saves the id of an uploaded file. The other parts of the operation stay.
  func setFile(_ file: ID<File>, at index: Int, of id: OutboxOperation.Name) throws(CacheFault) {
    guard var operation = operations[id], case .send(var draft) = operation.work, draft.files.indices.contains(index)
    else { return }
    draft.files[index].file = file
    operation.work = .send(draft)
    try save([operation])
  }

  /// Makes failed operations pending again.
  func retryOperations(where isIncluded: (OutboxOperation) -> Bool) throws(CacheFault) {
    let failed = orderedOperations.filter { $0.failure != nil && isIncluded($0) }.map { operation in
      var operation = operation
      operation.state = .pending
      return operation
    }
    try save(failed)
  }

  // MARK: Removing

  /// Removes an operation and the changes of the message that it would have created. Replies to the message stay, as
  /// messages without a reference.
  /// - Returns: the removed operations.
  @discardableResult
  func removeOperation(_ id: OutboxOperation.Name) throws(CacheFault) -> [OutboxOperation] {
    guard let operation = operations[id] else { return [] }
    var removed = [operation]
    var kept: [OutboxOperation] = []
    for var other in orderedOperations where other.dependsOn == id {
      if case .send(var draft) = other.work {
        draft.replyTo = nil
        other.work = .send(draft)
        kept.append(other)
      } else {
        removed.append(other)
      }
    }
    try save(kept, removing: removed)
    return removed
  }
}
