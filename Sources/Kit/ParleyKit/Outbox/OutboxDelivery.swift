// The requests of an operation. The response is saved and the operation removed in one transaction.

import ParleyJSON
import ParleyModel

struct OutboxDelivery: Sendable {
  let cache: Cache
  let client: Client
  /// Opens a local file.
  let open: @Sendable (PendingFile) async throws -> FileSource
  /// Reports the upload progress of a file.
  let progress: @Sendable (_ operation: OutboxOperation.Name, _ file: String, _ sent: Int, _ size: Int) -> Void

  /// - Returns: the target message or the created message.
  /// - Parameter operation: gets the conversation that was created.
  func deliver(_ operation: inout OutboxOperation) async throws -> ID<Message>? {
    // The response reflects at least the events before the request.
    let known = await cache.responseAge
    switch operation.work {
    case .createConversation, .updateConversation, .leaveConversation, .deleteConversation:
      operation.conversation = try await changeConversation(operation, known)
      return nil
    case .send(let draft): return try await post(draft, as: operation, known)
    case .edit(let target, let text):
      let message = try id(of: target)
      let edited = try await client.send(.editMessage(message, text: text))
      try await cache.complete(operation.id, [edited.value], asOf: known)
      return message
    case .delete(let target, let andFiles):
      return try await deleteMessage(id(of: target), andFiles: andFiles, operation, known)
    case .action(let target, let type, let isSet):
      let message = try id(of: target)
      if !isSet { try await client.send(.removeAction(on: message, type: type)) }
      let seen: Request<Resource<MessageView>> = isSet ? .setAction(on: message, type: type) : .getMessage(message)
      try await cache.complete(operation.id, [client.send(seen).value], asOf: known)
      return message
    case .read(let message):
      try await client.send(.markRead(operation.conversation, upTo: message))
      try await cache.complete(operation.id, [], asOf: known)
      return nil
    }
  }

  private func id(of target: Draft.Target) throws(ClientFault) -> ID<Message> {
    guard case .message(let id) = target else { throw .invalidResponse("the target message was not sent") }
    return id
  }

  // MARK: Posting

  /// Losses of uploaded files before the server's refusal counts.
  private static let maxLosses = 5

  private func post(
    _ draft: Draft, as operation: OutboxOperation, _ known: Cache.ResponseAge
  ) async throws -> ID<Message> {
    var draft = draft
    for _ in 0..<Self.maxLosses {
      do { return try await post(draft, uploading: operation, known) } catch let fault as ClientFault {
        // A restored server has lost the files of an earlier attempt, or of this one.
        guard fault.refusesAttachments, !draft.files.isEmpty else { throw fault }
        for index in draft.files.indices { draft.files[index].file = nil }
      }
    }
    return try await post(draft, uploading: operation, known)
  }

  private func post(
    _ draft: Draft, uploading operation: OutboxOperation, _ known: Cache.ResponseAge
  ) async throws -> ID<Message> {
    var draft = draft
    // One for each uploaded file: those of the uploads follow.
    draft.descriptions = draft.attachments.indices.map { $0 < draft.descriptions.count ? draft.descriptions[$0] : "" }
    for (file, id) in zip(draft.files, try await upload(operation, draft)) {
      draft.attachments.append(id)
      draft.descriptions.append(file.description ?? "")
      if file.shown == .embed { draft.annotations.append(.embedded(id, file.kind)) }
    }
    let last = try await cache.lastContiguousMessage(in: operation.conversation)
    var sent: SentMessage
    do { sent = try await client.send(try request(operation, draft, catchUpAfter: last)) } catch {
      // A restored server may have lost the last cached message.
      guard last != nil, let problem = error.problem, problem.errors.contains(where: { $0.field == "catch_up_after" })
      else { throw error }
      sent = try await client.send(try request(operation, draft, catchUpAfter: nil))
    }
    let message = sent.message.message.id
    try await cache.complete(operation.id, sent.messages, asOf: known, creating: message)
    return message
  }

  private func request(
    _ operation: OutboxOperation, _ draft: Draft, catchUpAfter last: ID<Message>?
  ) throws(ClientFault) -> Request<SentMessage> {
    let replyTo = try draft.replyTo.map { target throws(ClientFault) in try id(of: target) }
    let body = RequestBody.message(
      draft.text, replyTo: replyTo, attachments: draft.attachments.isEmpty ? nil : draft.attachments,
      descriptions: draft.descriptions.allSatisfy(\.isEmpty) ? nil : draft.descriptions,
      annotations: draft.annotations.isEmpty ? nil : draft.annotations, poll: draft.poll,
      buttons: draft.buttons.isEmpty ? nil : draft.buttons, isMachineOnly: draft.isMachineOnly ? true : nil,
      sentAt: Timestamp(operation.createdAt), catchUpAfter: last,
      clientID: operation.id)
    return Request(.post, "/conversations/{id}/messages", [operation.conversation.description], body: body)
  }

  /// Uploads the files of a draft. An uploaded file is not uploaded again.
  private func upload(_ operation: OutboxOperation, _ draft: Draft) async throws -> [ID<File>] {
    var ids: [ID<File>] = []
    for index in draft.files.indices {
      let file = draft.files[index]
      if let known = file.file {
        ids.append(known)
        continue
      }
      let (name, progress) = (operation.id, progress)
      let id = try await upload(file) { sent, size in progress(name, file.id, sent, size) }
      try await cache.setFile(id, at: index, of: operation.id)
      ids.append(id)
    }
    return ids
  }

  private func upload(
    _ file: PendingFile, _ progress: @escaping @Sendable (_ sent: Int, _ size: Int) -> Void
  ) async throws(ClientFault) -> ID<File> {
    if let original = file.original {
      let copied = try await client.source(of: original)
      return try await client.upload(copied, clientID: file.id, public: file.isPublic, progress: progress).id
    }
    var source: FileSource
    do { source = try await open(file) } catch { throw .unreadable("\(error)") }
    source.name = file.name
    source.type = file.type.isEmpty ? nil : file.type
    return try await client.upload(source, clientID: file.id, public: file.isPublic, progress: progress).id
  }

  // MARK: Deleting

  private func deleteMessage(
    _ message: ID<Message>, andFiles: Bool, _ operation: OutboxOperation, _ known: Cache.ResponseAge
  ) async throws -> ID<Message> {
    var files: [ID<File>] = []
    if andFiles { files = try await cache.messages(.ids([message])).first?.message.content?.attachments ?? [] }
    let tombstone = try await client.send(.deleteMessage(message))
    for file in files { try await deleteFile(file) }
    try await cache.complete(operation.id, [tombstone.value], asOf: known)
    return message
  }

  /// Deletes a file. A file that is gone or still in use is not an error.
  private func deleteFile(_ file: ID<File>) async throws {
    do {
      try await client.send(.deleteFile(file))
    } catch {
      guard error.isGone || error.problem?.status == 409 else { throw error }
    }
  }
}

/// The response to a posted message, with the uncached messages before it.
private struct SentMessage: JSONReadable, Sendable {
  let message: MessageView
  let catchUp: [MessageView]

  init(json value: JSONValue) throws(JSONError) {
    message = try MessageView(json: value)
    var object = try value.object()
    catchUp =
      try object.optional("catch_up") { value throws(JSONError) in
        var page = try value.object()
        return try page.read("data")
      } ?? []
  }

  var messages: [MessageView] { catchUp.filter { $0.message.id != message.message.id } + [message] }
}

extension Cache {
  /// The newest message of the last cached range without a gap.
  func lastContiguousMessage(in conversation: ID<Conversation>) throws(CacheFault) -> ID<Message>? {
    let cached = history(of: conversation).cached.all
    // A message that was sent ahead of earlier events leaves a gap before it.
    let lastSeq = replica.conversations[conversation]?.conversation.lastSeq ?? .max
    guard let range = cached.last(where: { $0.lowerBound - 1 <= lastSeq }) ?? cached.last else { return nil }
    return try messages(.range(range, of: conversation, .descending, limit: 1)).first?.message.id
  }

  /// Removes the operation, saves the response and retargets dependent operations to the message, in one transaction.
  fileprivate func complete(
    _ operation: OutboxOperation.Name, _ seen: [MessageView], asOf age: Cache.ResponseAge,
    creating message: ID<Message>? = nil
  ) throws {
    // The response is of a server that has been restored or restarted since, or of an erased cache: the operation is sent
    // again.
    guard isCurrent(age) else { throw ClientFault.interrupted("the local data was reset during the request") }
    var changes = CacheChanges()
    changes.rows = [CacheRow(.operation, operation, nil)]
    if let message {
      for var dependent in operations.values where dependent.dependsOn == operation {
        dependent.retarget(at: message)
        changes.rows.append(CacheRow(.operation, dependent.id, writing: dependent))
      }
    }
    try merge(ahead: seen, asOf: event(of: age), changes)
  }
}
