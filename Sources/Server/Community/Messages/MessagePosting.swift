// Saying something, saying it otherwise, and taking it back.

public import ParleyModel
import Storage

/// What came of a send.
public struct PostedMessage: Sendable {
  public let message: SeenMessage
  /// False when the same send had made it before.
  public let isNew: Bool
}

extension Community {
  public func post(
    _ draft: MessageDraft, in conversation: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> PostedMessage {
    let author = try caller.person(for: .write)
    try draft.check(bounds)
    let canBeEmpty = draft.isMachineOnly || !draft.attachments.isEmpty
    let text = try await ReadText.of(draft.text, bounds, canBeEmpty: canBeEmpty)
    let bounds = bounds
    defer { hub.stopTyping(author, in: conversation) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (rights, standing) = try tx.rights(of: caller, in: conversation)
      var message = NewMessage(draft, text.markdown, in: conversation, by: author)
      let probation: Probation?
      do throws(Refusal) {
        try tx.check(draft, in: conversation, rights, standing, caller)
        probation = try tx.probation(of: caller, in: standing, adding: text.counted)
      } catch {
        // What has arrived has arrived, whatever was decided since.
        guard let earlier = try tx.earlier(message) else { throw error }
        return try tx.repeated(earlier.id, to: caller, bounds)
      }
      // A send that is repeated rings nobody again.
      if text.namesRoom, let earlier = try tx.earlier(message) {
        return try tx.repeated(earlier.id, to: caller, bounds)
      }
      message.text =
        try draft.isMachineOnly
        ? tx.resolved(text, in: conversation) : tx.called(text, in: conversation, by: caller)
      let stored = try tx.post(message)
      guard stored.isNew else { return try tx.repeated(stored.id, to: caller, bounds) }
      if let probation { try tx.keep(probation, of: author) }
      if standing.kind == .topic { try tx.gather(around: message, at: stored.seq) }
      try tx.ring(for: message, stored: stored)
      return PostedMessage(message: SeenMessage(message.posted(stored, at: tx.now), status: .delivered), isNew: true)
    }
  }

  /// Gives a message of the caller's another text or other files.
  public func edit(
    _ id: ID<Message>, _ change: MessageChange, by caller: Caller
  ) async throws(Refusal) -> SeenMessage {
    let editor = try caller.person(for: .write)
    if let attachments = change.attachments { try attachments.check(bounds) }
    var text: ReadText?
    // Whether it may be empty is known where the files are.
    if let changed = change.text { text = try await ReadText.of(changed, bounds, canBeEmpty: true) }
    let bounds = bounds
    return try await store.write { [text] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller), found.rights.contains(.write), found.message.kind == .message else { throw .forbidden }
      guard let content = found.message.content else { throw .gone }
      let saysNothing = (text?.markdown ?? content.text).isEmpty
      let hasFiles = !(change.attachments ?? content.attachments).isEmpty
      guard !saysNothing || hasFiles || found.message.isMachineOnly else {
        throw .invalid("text", .tooShort(least: 1))
      }
      if let attachments = change.attachments {
        guard try tx.owns(attachments, editor) else { throw .invalid("attachments", .unknown) }
      }
      if let text {
        let before = try tx.named(by: id)
        let more = Counted(
          messages: 0, links: max(0, text.linkCount - before.links),
          mentions: max(0, text.mentionCount - before.mentions))
        let probation = try tx.probation(of: caller, in: found.standing, adding: more)
        if let probation { try tx.keep(probation, of: editor) }
      }
      let conversation = found.message.conversation
      // An edit rings nobody, and what has rung stays what it was.
      let isRoomNamed = try content.wasRung()
      let resolved = try text.map { text throws(Refusal) in
        try tx.resolved(text, in: conversation, isRoomNamed: isRoomNamed)
      }
      let revision = try tx.edit(
        id, to: resolved, attachments: change.attachments, by: editor, ifRevision: change.ifRevision)
      if revision != found.message.revision, let resolved, found.standing.kind == .topic {
        let seq = found.message.seq
        for person in resolved.mentions { try tx.takePart(person, inTopic: conversation, since: seq, by: editor) }
      }
      return try tx.seenNow(id, by: caller, bounds)
    }
  }

  /// The author's way: for good.
  public func delete(_ id: ID<Message>, by caller: Caller) async throws(Refusal) -> SeenMessage {
    let actor = try caller.person(for: .write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller), found.message.kind == .message else { throw .forbidden }
      _ = try tx.delete(id, by: actor)
      return try tx.seenNow(id, by: caller, bounds)
    }
  }

  /// Takes one earlier text away: its author may, and who keeps order.
  public func deleteRevision(
    _ revision: Int, of id: ID<Message>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller) || found.rights.contains(.moderate) else { throw .forbidden }
      _ = try tx.deleteRevision(revision, of: id, by: actor)
    }
  }
}

extension WriteTransaction {
  /// Whether this may be said there, now.
  fileprivate func check(
    _ draft: MessageDraft, in conversation: ID<Conversation>, _ rights: Rights, _ standing: Standing, _ caller: Caller
  ) throws(Refusal) {
    let author = try caller.person()
    guard rights.contains(.write) else { throw .forbidden }
    if draft.isMachineOnly, standing.kind == .direct { throw .invalid("machine_only", .invalid) }
    let start = Permissions.fromSeq(of: caller.role, in: standing)
    for (field, anchor) in [("reply_to", draft.replyTo), ("catch_up_after", draft.catchUpAfter)] {
      guard let anchor else { continue }
      let place = try place(of: anchor)
      guard let place, place.conversation == conversation, place.seq >= start else { throw .invalid(field, .mismatch) }
    }
    guard try owns(draft.attachments, author) else { throw .invalid("attachments", .unknown) }
    guard !rights.contains(.moderate) else { return }
    let wait = try wait(of: author, in: conversation)
    guard wait == 0 else { throw .rateLimited(seconds: Int((wait + 999) / 1_000)) }
  }

  /// A topic's people: who writes in it, and whom they call.
  func gather(around message: NewMessage, at seq: Int) throws(Refusal) {
    try takePart(message.author, inTopic: message.conversation, since: seq, by: message.author)
    try follow(message.conversation, by: message.author)
    guard !message.isMachineOnly else { return }
    for person in message.text.mentions {
      try takePart(person, inTopic: message.conversation, since: seq, by: message.author)
    }
  }

  fileprivate func repeated(
    _ id: ID<Message>, to caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> PostedMessage {
    let found = try message(id, for: caller)
    return PostedMessage(message: try seen([found.message], by: caller, bounds)[0], isNew: false)
  }
}

extension ReadTransaction {
  /// A message after a change, for who made it.
  func seenNow(_ id: ID<Message>, by caller: Caller, _ bounds: Bounds) throws(Refusal) -> SeenMessage {
    guard let message = try message(id) else { throw .notFound }
    return try seen([message], by: caller, bounds)[0]
  }
}

extension Message.Content {
  /// Whether it has called everyone.
  fileprivate func wasRung() throws(Refusal) -> Bool {
    do {
      return try namesRoom()
    } catch {
      throw .unavailable
    }
  }
}

extension MessageDraft {
  fileprivate func check(_ bounds: Bounds) throws(Refusal) {
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    try attachments.check(bounds)
    if let annotations, annotations.json.bytes.count > bounds.annotationBytes {
      throw .invalid("annotations", .tooLong(limit: bounds.annotationBytes))
    }
  }
}

extension [ID<File>] {
  fileprivate func check(_ bounds: Bounds) throws(Refusal) {
    guard count <= bounds.attachments else { throw .invalid("attachments", .tooMany(limit: bounds.attachments)) }
    guard Set(self).count == count else { throw .invalid("attachments", .invalid) }
  }
}

extension NewMessage {
  /// Without what its text names.
  fileprivate init(
    _ draft: MessageDraft, _ text: String, in conversation: ID<Conversation>, by author: ID<Account>
  ) {
    self.init(conversation: conversation, author: author, clientID: draft.clientID, text: text)
    replyTo = draft.replyTo
    isMachineOnly = draft.isMachineOnly
    sentAt = draft.sentAt
    attachments = draft.attachments
    annotations = draft.annotations.map { annotations in
      MessageAnnotations(
        json: String(decoding: annotations.json.bytes, as: UTF8.self), types: annotations.types,
        location: annotations.location)
    }
  }
}
