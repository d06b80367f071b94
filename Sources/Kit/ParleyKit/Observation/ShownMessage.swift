public import ParleyModel

/// A message as an app shows it: a message of the server with its pending changes, or an unsent message.
public struct ShownMessage: Sendable, Hashable {
  /// The same before and after sending.
  public let identity: String
  public let target: Draft.Target
  /// Nil while unsent.
  public let held: HeldMessage?
  public let author: ParleyModel.ID<User>?
  public let text: String
  /// In milliseconds since 1970.
  public let displayDate: Int64
  public let displayLocation: String?
  public let isDeleted: Bool
  /// The user's own actions, including pending ones.
  public let mine: Set<String>
  /// The pending operations: the message itself or its changes.
  public let waiting: [OutboxOperation]

  public var message: Message? { held?.message }
  public var isUnsent: Bool { held == nil }
  /// The number of attempts to send the message.
  public var attempts: Int { isUnsent ? waiting.first?.attempts ?? 0 : 0 }
  /// The first failure of its operations.
  public var failure: ClientFault? { waiting.lazy.compactMap(\.failure).first }
  public var pendingFiles: [PendingFile] { waiting.first?.draft?.files ?? [] }

  /// A message of the server with the pending changes applied, as its author sees it.
  init(_ cached: CachedMessage, _ waiting: [OutboxOperation]) {
    let message = cached.message
    identity = message.clientID.map { "\(message.author):\($0)" } ?? message.id.description
    target = .message(message.id)
    held = cached.held
    author = message.author
    displayDate = cached.index.shownAt
    displayLocation = cached.index.locationName
    self.waiting = waiting
    var content = Content(text: message.content?.text ?? "", isDeleted: message.tombstone != nil)
    content.mine = cached.held.mine ?? []
    content.apply(waiting)
    (text, isDeleted, mine) = (content.text, content.isDeleted, content.mine)
  }

  /// The part of a message that pending operations change.
  private struct Content {
    var text: String
    var isDeleted = false
    var mine: Set<String> = []

    /// Failed operations change nothing.
    mutating func apply(_ waiting: [OutboxOperation]) {
      for operation in waiting where operation.failure == nil {
        switch operation.work {
        case .edit(_, let new): text = new
        case .delete: (text, isDeleted) = ("", true)
        case .action(_, let type, let isSet): if isSet { mine.insert(type) } else { mine.remove(type) }
        case .send, .read: break
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
    held = nil
    author = me
    displayDate = index.shownAt
    displayLocation = index.locationName
    waiting = [operation] + others
    var content = Content(text: draft.text)
    content.apply(others)
    (text, isDeleted, mine) = (content.text, content.isDeleted, content.mine)
  }
}

extension Cache {
  /// Cached messages with their pending changes.
  func shown(_ cached: [CachedMessage]) -> [ShownMessage] {
    let changes = operations.values.sorted { $0.order < $1.order }.filter { $0.kind != .send && $0.kind != .read }
    return cached.map { one in ShownMessage(one, changes.filter { $0.target == .message(one.message.id) }) }
  }
}
