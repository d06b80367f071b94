public import ParleyModel

/// A message as an app shows it: one that the server has, with what waits to be done to it, or one that was not sent yet.
public struct ShownMessage: Sendable, Hashable {
  /// The same before and after it was sent.
  public let identity: String
  public let target: Draft.Target
  /// Nil while it was not sent.
  public let held: HeldMessage?
  public let author: ID<User>?
  public let text: String
  /// In milliseconds since 1970.
  public let displayDate: Int64
  public let displayLocation: String?
  public let isDeleted: Bool
  /// The user's own actions, those that wait among them.
  public let mine: Set<String>
  /// What waits to be done: the message itself, or a change of it.
  public let waiting: [OutboxOperation]

  public var message: Message? { held?.message }
  public var isUnsent: Bool { held == nil }
  /// How often it was tried to send it.
  public var attempts: Int { isUnsent ? waiting.first?.attempts ?? 0 : 0 }
  /// Why something about it has failed.
  public var failure: ClientFault? { waiting.lazy.compactMap(\.failure).first }
  public var pendingFiles: [PendingFile] { waiting.first?.draft?.files ?? [] }

  /// One that the server has, as its author sees it while operations about it wait.
  init(_ cached: CachedMessage, _ waiting: [OutboxOperation]) {
    let message = cached.message
    identity = message.clientID.map { "\(message.author):\($0)" } ?? message.id.description
    target = .message(message.id)
    held = cached.held
    author = message.author
    displayDate = cached.index.shownAt
    displayLocation = cached.index.locationName
    self.waiting = waiting
    var text = message.content?.text ?? ""
    var isDeleted = message.tombstone != nil
    var mine = cached.held.mine ?? []
    for operation in waiting where operation.failure == nil {
      switch operation.work {
      case .edit(_, let new): text = new
      case .delete:
        text = ""
        isDeleted = true
      case .action(_, let type, let isSet): if isSet { mine.insert(type) } else { mine.remove(type) }
      case .send, .read: break
      }
    }
    (self.text, self.isDeleted, self.mine) = (text, isDeleted, mine)
  }

  /// One that was not sent yet, with what it is found by; nil for what is no message.
  init?(
    _ operation: OutboxOperation, by me: ID<User>?, _ index: MessageIndex, _ others: [OutboxOperation]
  ) {
    guard let draft = operation.draft else { return nil }
    identity = me.map { "\($0):\(operation.id)" } ?? operation.id
    target = .unsent(operation.id)
    held = nil
    author = me
    text = draft.text
    displayDate = index.shownAt
    displayLocation = index.locationName
    isDeleted = false
    waiting = [operation] + others
    var mine: Set<String> = []
    for other in others { if case .action(_, let type, true) = other.work { mine.insert(type) } }
    self.mine = mine
  }
}

extension Cache {
  /// With what waits to be done to them.
  func shown(_ cached: [CachedMessage]) -> [ShownMessage] {
    let waiting = operations.values.sorted { $0.order < $1.order }.filter { $0.kind != .send && $0.kind != .read }
    return cached.map { one in ShownMessage(one, waiting.filter { $0.target == .message(one.message.id) }) }
  }
}
