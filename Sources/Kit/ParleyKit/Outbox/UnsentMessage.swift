import ParleyJSON
import ParleyMarkup
import ParleyModel

// Unsent messages are shown and searched like other messages, in the form that they will have on the server. Entities are
// parsed locally for that purpose and not sent, because the server parses the text itself.

extension OutboxOperation {
  /// - Parameters:
  ///   - conversation: the message follows its last message.
  ///   - users: finds the user with a name.
  func message(
    of draft: Draft, by author: ID<User>, after conversation: Conversation?, users: (String) -> ID<User>?
  ) -> Message {
    var content = Message.Content(
      text: draft.text, attachments: draft.attachments,
      descriptions: draft.descriptions, sentAt: createdAt)
    content.entities = Self.entities(of: draft.text, users).stored.map { JSONRaw(trusted: Array($0.utf8)) }
    if !draft.annotations.isEmpty { content.annotations = draft.annotations.json }
    content.poll = draft.poll.map { Poll($0) }
    content.buttons = draft.buttons
    var replyTo: ID<Message>?
    if case .message(let id) = draft.replyTo { replyTo = id }
    return Message(
      id: ID(0), conversation: self.conversation, author: author, clientID: id, seq: (conversation?.lastSeq ?? 0) + 1,
      previous: conversation?.lastMessage, replyTo: replyTo, isMachineOnly: draft.isMachineOnly, createdAt: createdAt,
      state: .live(content))
  }

  private static func entities(of text: String, _ users: (String) -> ID<User>?) -> MessageEntities {
    var entities = MessageEntities()
    for entity in MarkupDocument(text).entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
      case .link: entities.links.append(.init(span, url: entity.value))
      case .mention:
        if let id = users(entity.value) { entities.mentions.append(.init(span, name: entity.value, user: id)) }
      }
    }
    return entities
  }
}

extension Cache {
  /// The unsent messages, in the order of sending.
  func unsent(in conversation: ID<Conversation>?) -> [ShownMessage] {
    unsent(in: conversation) { _ in true }
  }

  /// The unsent messages that match a query.
  func unsent(_ query: CacheQuery) -> [ShownMessage] {
    unsent(in: query.conversation) { cached in !query.matching([cached]).isEmpty }
  }

  private func unsent(
    in conversation: ID<Conversation>?, where isIncluded: (CachedMessage) -> Bool
  ) -> [ShownMessage] {
    let ordered = operations.values.sorted { $0.order < $1.order }
    let me = replica.me?.summary.id
    var changes: [OutboxOperation.Name: [OutboxOperation]] = [:]
    for operation in ordered where operation.kind != .send {
      if case .unsent(let name) = operation.target { changes[name, default: []].append(operation) }
    }
    return ordered.filter { (conversation ?? $0.conversation) == $0.conversation }.compactMap { operation in
      guard let cached = unsent(operation), isIncluded(cached) else { return nil }
      return ShownMessage(operation, by: me, cached.index, changes[operation.id] ?? [])
    }
  }
}
