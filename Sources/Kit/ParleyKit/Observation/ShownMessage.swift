public import ParleyModel

/// A message as an app shows it: a message of the server with its pending changes, or an unsent message.
public struct ShownMessage: Sendable, Hashable {
  /// The same before and after sending.
  public let identity: String
  /// The message for operations of the outbox.
  public let target: Draft.Target
  /// Nil while unsent.
  public let replica: ReplicaMessage?
  /// Nil for an unsent message of a user that is not known yet.
  public let author: ParleyModel.ID<User>?
  /// The text with pending edits.
  public let text: String
  /// In milliseconds since 1970.
  public let displayDate: Int64
  /// The name of the location.
  public let displayLocation: String?
  /// The location of the message with its coordinates, as its annotation names it.
  public let location: Location?
  /// Whether the message is a tombstone, or its deletion is pending.
  public let isDeleted: Bool
  /// The user's own actions, including pending ones.
  public let mine: Set<ActionType>
  /// The pending operations: the message itself or its changes.
  public let waiting: [OutboxOperation]

  /// The message of the server; nil while unsent.
  public var message: Message? { replica?.message }
  /// Whether the server does not have the message yet.
  public var isUnsent: Bool { replica == nil }
  /// The number of attempts to send the message.
  public var attempts: Int { isUnsent ? waiting.first?.attempts ?? 0 : 0 }
  /// The first failure of its operations.
  public var failure: ClientFault? { waiting.lazy.compactMap(\.failure).first }
  /// Files that are still to be uploaded.
  public var pendingFiles: [PendingFile] { waiting.first?.draft?.files ?? [] }

  /// A message of the server with the pending changes applied, as its author sees it.
  init(_ cached: CachedMessage, _ waiting: [OutboxOperation]) {
    let message = cached.message
    identity = message.clientID.map { "\(message.author):\($0)" } ?? message.id.description
    target = .message(message.id)
    replica = cached.replica
    author = message.author
    displayDate = cached.index.shownAt
    displayLocation = cached.index.locationName
    location = message.content?.parsedAnnotations?.location
    self.waiting = waiting
    var content = Content(text: message.content?.text ?? "", isDeleted: message.tombstone != nil)
    content.mine = Set((cached.replica.mine ?? []).map { ActionType(named: $0) })
    content.apply(waiting)
    (text, isDeleted, mine) = (content.text, content.isDeleted, content.mine)
  }

  /// The part of a message that pending operations change.
  private struct Content {
    var text: String
    var isDeleted = false
    var mine: Set<ActionType> = []

    /// Failed operations change nothing.
    mutating func apply(_ waiting: [OutboxOperation]) {
      for operation in waiting where operation.failure == nil {
        switch operation.work {
        case .edit(_, let new): text = new
        case .delete: (text, isDeleted) = ("", true)
        case .action(_, let type, let isSet): if isSet { mine.insert(type) } else { mine.remove(type) }
        case .send, .read, .createConversation, .updateConversation, .leaveConversation, .deleteConversation: break
        }
      }
    }
  }

  /// An unsent message with its index entry; nil if the operation sends no message.
  init?(
    _ operation: OutboxOperation, by me: ParleyModel.ID<User>?, _ index: MessageIndex, _ others: [OutboxOperation]
  ) {
    guard let draft = operation.draft else { return nil }
    identity = me.map { "\($0):\(operation.id)" } ?? operation.id
    target = .unsent(operation.id)
    replica = nil
    author = me
    displayDate = index.shownAt
    displayLocation = index.locationName
    location = draft.location
    waiting = [operation] + others
    var content = Content(text: draft.text)
    content.apply(others)
    (text, isDeleted, mine) = (content.text, content.isDeleted, content.mine)
  }
}

extension Cache {
  /// Cached messages with their pending changes.
  func shown(_ cached: [CachedMessage]) -> [ShownMessage] {
    let changes = operations.values.sorted { $0.order < $1.order }.filter { $0.kind != .send && $0.kind.isOfMessage }
    return cached.map { one in ShownMessage(one, changes.filter { $0.target == .message(one.message.id) }) }
  }
}

extension Draft {
  /// The location that one of the annotations names.
  fileprivate var location: Location? {
    guard !annotations.isEmpty else { return nil }
    do throws(JSONError) { return try Annotations(stored: annotations.json).location } catch { return nil }
  }
}

extension [ShownMessage] {
  /// Adds the messages of another page of the same conversation, each once. Of two forms of one message the newer one
  /// stays. Sent messages are in the order of the conversation, unsent ones follow.
  public func merged(with incoming: [ShownMessage]) -> [ShownMessage] {
    var newest: [String: ShownMessage] = [:]
    for shown in self + incoming {
      guard let known = newest[shown.identity], known.isNewer(than: shown) else {
        newest[shown.identity] = shown
        continue
      }
    }
    let sent = newest.values.filter { !$0.isUnsent }.sorted { $0.message?.seq ?? 0 < $1.message?.seq ?? 0 }
    let unsent = newest.values.filter(\.isUnsent).sorted { $0.waiting.first?.order ?? 0 < $1.waiting.first?.order ?? 0 }
    return sent + unsent
  }
}

extension ShownMessage {
  /// Whether the other form is older. The later one of two equal revisions stays: its pending operations may differ.
  fileprivate func isNewer(than other: ShownMessage) -> Bool {
    guard let message else { return false }
    return message.revision > other.message?.revision ?? 0
  }
}
