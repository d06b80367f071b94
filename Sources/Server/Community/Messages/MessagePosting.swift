// Posting messages.

public import ParleyModel
import Storage

/// The result of posting.
public struct PostedMessage: Sendable {
  public let message: MessageView
  /// False if an earlier request with the same `client_id` created the message.
  public let isNew: Bool
  /// Whether only its author can read the message. Such messages count towards no rate limit.
  public let isPrivate: Bool
}

extension Community {
  public func postMessage(
    _ draft: MessageDraft, in conversation: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> PostedMessage {
    try await post(draft, in: conversation, by: caller) { _ throws(Refusal) in }
  }

  /// - Parameters:
  ///   - check: runs first in the transaction of the post.
  ///   - finish: runs last, after a new message.
  func post(
    _ draft: MessageDraft, in conversation: ID<Conversation>, by caller: Caller,
    checking check: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Void,
    finishing finish: @escaping @Sendable (WriteTransaction, ID<Message>) throws(Refusal) -> Void = { _, _ in }
  ) async throws(Refusal) -> PostedMessage {
    let author = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    let text = try await ParsedText.of(draft.text, bounds, canBeEmpty: draft.canBeEmpty)
    let bounds = bounds
    let rules = try await compiledRules()
    defer { hub.stopTyping(author, in: conversation) }
    let posted: PostedMessage? = try await store.write { tx throws(Refusal) in
      try check(tx)
      let (caller, rights, known) = try tx.reloadAuthor(caller, in: conversation)
      let standing = known.standing
      var message = NewMessage(draft, text.markdown, in: conversation, by: author)
      let isPrivate = try tx.isPrivateChannel(conversation, standing)
      let probation: Probation?
      do throws(Refusal) {
        try tx.check(draft, in: conversation, rights, standing, caller)
        probation =
          isPrivate
          ? nil : try tx.probation(of: caller, in: standing, adding: text.counted, known: known.newcomer)
      } catch {
        // A repeated post returns its message even if a lock, slow mode or silence was set since.
        guard let earlier = try tx.earlier(message) else { throw error }
        return try tx.repeatedPost(earlier.id, to: caller, bounds)
      }
      // A repeated post sends no notifications.
      if text.mentionCount > 0, let earlier = try tx.earlier(message) {
        return try tx.repeatedPost(earlier.id, to: caller, bounds)
      }
      let rule = try tx.rule(
        of: rules, matching: text, options: draft.poll?.options ?? [], attachments: draft.attachments,
        descriptions: draft.descriptions, by: caller, in: standing)
      if let rule, rule.action != .report {
        if let earlier = try tx.earlier(message) { return try tx.repeatedPost(earlier.id, to: caller, bounds) }
        guard rule.action == .hold else { throw .contentRefused }
        if let probation { try tx.store(probation, of: author) }
        try tx.hold(
          HeldPost(draft), by: author, in: conversation, of: try tx.forum(of: conversation), rule, bounds)
        return nil
      }
      let stored = try tx.publish(&message, text, standing, after: known.end, by: caller, bounds)
      guard stored.isNew else { return try tx.repeatedPost(stored.id, to: caller, bounds) }
      if let probation { try tx.store(probation, of: author) }
      let published = message.posted(stored, at: tx.now)
      if let rule { try tx.report(published, in: try tx.forum(of: conversation), rule, bounds) }
      try finish(tx, published.id)
      return PostedMessage(
        message: MessageView(published, status: .delivered), isNew: true, isPrivate: isPrivate)
    }
    guard let posted else { throw .heldForReview }
    return posted
  }
}

extension WriteTransaction {
  /// Checks the right to post and the limits.
  fileprivate func check(
    _ draft: MessageDraft, in conversation: ID<Conversation>, _ rights: Rights, _ standing: Standing, _ caller: Caller
  ) throws(Refusal) {
    let author = try caller.requireUser()
    guard !rights.isDisjoint(with: [.write, .reply]) else {
      throw try refusal(of: author, in: conversation, standing.isSilenced)
    }
    if draft.replyTo == nil, !rights.contains(.write) { throw .invalid("reply_to", .missing) }
    if draft.isMachineOnly, standing.kind == .direct { throw .invalid("machine_only", .invalid) }
    if !draft.buttons.isEmpty { try caller.checkMayHaveButtons() }
    let start = Permissions.fromSeq(of: caller.role, in: standing)
    for (field, anchor) in [("reply_to", draft.replyTo), ("catch_up_after", draft.catchUpAfter)] {
      guard let anchor else { continue }
      let position = try position(of: anchor)
      guard let position, position.conversation == conversation, position.seq >= start else {
        throw .invalid(field, .mismatch)
      }
    }
    if standing.kind == .feed, let anchor = draft.replyTo, try message(anchor)?.content?.repostOf != nil {
      throw .invalid("reply_to", .mismatch)
    }
    guard try mayAttach(draft.attachments, caller) else { throw .invalid("attachments", .unknown) }
    try draft.poll?.checkClosing(after: now)
    guard !rights.contains(.moderate) else { return }
    let wait = try wait(of: author, in: conversation, slowSeconds: standing.slowSeconds)
    guard wait == 0 else { throw .rateLimited(seconds: Int((wait + 999) / 1_000)) }
  }

  /// Stores a message with its mentions and notifies their recipients. A repeated message changes nothing.
  ///
  /// - Parameter end: the end of the conversation, for a caller that has read it.
  func publish(
    _ message: inout NewMessage, _ text: ParsedText, _ standing: Standing, after end: ConversationEnd? = nil,
    by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> StoredMessage {
    message.text =
      try message.isMachineOnly
      ? resolved(text, in: message.conversation)
      : resolvedForPosting(text, in: message.conversation, by: caller, bounds)
    let stored = try post(message, after: end)
    guard stored.isNew else { return stored }
    if standing.kind == .topic {
      try joinTopic(from: message, at: stored.seq, isParticipant: standing.participant != nil)
    }
    try notifyRecipients(of: message, stored: stored, in: standing.kind)
    return stored
  }

  /// Adds the author and the mentioned users to the participants of a topic.
  func joinTopic(from message: NewMessage, at seq: Int, isParticipant: Bool) throws(Refusal) {
    if !isParticipant {
      try takePart(message.author, inTopic: message.conversation, since: seq, by: message.author)
    }
    try follow(message.conversation, by: message.author)
    guard !message.isMachineOnly else { return }
    for user in message.text.mentions {
      try takePart(user, inTopic: message.conversation, since: seq, by: message.author)
    }
  }

  fileprivate func repeatedPost(
    _ id: ID<Message>, to caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> PostedMessage {
    let found = try message(id, for: caller)
    return PostedMessage(message: try views([found.message], by: caller, bounds)[0], isNew: false, isPrivate: false)
  }
}

extension ReadTransaction {
  /// The message after a change, as the author sees it.
  func currentView(_ id: ID<Message>, by caller: Caller, _ bounds: Bounds) throws(Refusal) -> MessageView {
    guard let message = try message(id) else { throw .notFound }
    return try views([message], by: caller, bounds)[0]
  }
}

extension MessageDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> MessageDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    check { () throws(Refusal) in checked.poll = try poll?.checked() }
    check { () throws(Refusal) in checked.buttons = try buttons.checked() }
    check { () throws(Refusal) in try Texts.checkMessage(text, bounds, canBeEmpty: canBeEmpty) }
    check { () throws(Refusal) in try attachments.check(bounds) }
    check { () throws(Refusal) in
      checked.descriptions = try descriptions.checkedDescriptions(bounds)
      try descriptions.checkCount(of: attachments)
    }
    check { () throws(Refusal) in
      if let annotations, annotations.json.bytes.count > bounds.annotationBytes {
        throw .invalid("annotations", .tooLong(limit: bounds.annotationBytes))
      }
    }
    try check.finish()
    return checked
  }

  fileprivate var canBeEmpty: Bool { isMachineOnly || !attachments.isEmpty }
}

extension [ID<File>] {
  func check(_ bounds: Bounds) throws(Refusal) {
    guard count <= bounds.attachments else { throw .invalid("attachments", .tooMany(limit: bounds.attachments)) }
    guard Set(self).count == count else { throw .invalid("attachments", .invalid) }
  }
}

extension [String] {
  /// The descriptions of attachments, without white space around them.
  func checkedDescriptions(_ bounds: Bounds) throws(Refusal) -> [String] {
    guard count <= bounds.attachments else { throw .invalid("descriptions", .tooMany(limit: bounds.attachments)) }
    var checked: [String] = []
    for (index, text) in enumerated() {
      checked.append(
        try Texts.trimmedBlock(text, "descriptions[\(index)]", scalars: bounds.pictureDescriptionScalars))
    }
    return checked
  }

  func checkCount(of attachments: [ID<File>]) throws(Refusal) {
    guard count <= attachments.count else { throw .invalid("descriptions", .mismatch) }
  }
}

extension NewMessage {
  /// A held message before its mentions are resolved.
  init(_ held: HeldPost, in conversation: ID<Conversation>, by author: ID<User>) throws(Refusal) {
    self.init(conversation: conversation, author: author, clientID: held.clientID, text: held.text)
    replyTo = held.replyTo
    isMachineOnly = held.isMachineOnly
    sentAt = held.sentAt
    attachments = held.attachments
    descriptions = held.descriptions
    poll = held.poll.map { Poll($0) }
    buttons = held.buttons
    guard let json = held.annotations else { return }
    do {
      let read = try Annotations(stored: json)
      annotations = MessageAnnotations(
        json: String(decoding: json.bytes, as: UTF8.self), types: read.types, location: read.location)
    } catch {
      throw .unavailable
    }
  }

  /// A new message before its mentions are resolved.
  fileprivate init(
    _ draft: MessageDraft, _ text: String, in conversation: ID<Conversation>, by author: ID<User>
  ) {
    self.init(conversation: conversation, author: author, clientID: draft.clientID, text: text)
    replyTo = draft.replyTo
    isMachineOnly = draft.isMachineOnly
    sentAt = draft.sentAt
    attachments = draft.attachments
    descriptions = draft.descriptions
    poll = draft.poll.map { Poll($0) }
    buttons = draft.buttons
    annotations = draft.annotations.map { annotations in
      MessageAnnotations(
        json: String(decoding: annotations.json.bytes, as: UTF8.self), types: annotations.types,
        location: annotations.location)
    }
  }
}
