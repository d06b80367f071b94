public import Observation
public import ParleyModel

/// A conversation for a view: its messages with the unsent ones, and the calls of its buttons. It shows the cache, also
/// offline, and every change while `run` runs: `.task { await model.run() }`.
///
/// A failed call sets `failure`; sending works offline.
@MainActor @Observable
public final class RoomModel: FailingModel {
  /// The id of the conversation.
  public nonisolated let conversation: ID<Conversation>
  /// The row of the conversation, with its title, unread count and draft; nil if it is not cached.
  public private(set) var row: ShownConversation?
  /// Oldest first, unsent messages last.
  public private(set) var messages: [ShownMessage] = []
  /// Whether there are messages before `messages`.
  public private(set) var hasOlder = false
  /// Whether there are messages after `messages`.
  public private(set) var hasNewer = false
  /// Indexes of `messages` with missing messages before them: see `MessageWindow.Update`.
  public private(set) var gaps: [Int] = []
  /// The failure of the last call; nil if it succeeded. The success of `markRead`, of `setSticking` and of what `run` loads
  /// does not remove it.
  public internal(set) var failure: (any ParleyFault)?
  /// The authors of the messages.
  public let users: ListedUsers
  @ObservationIgnored private let parley: Parley
  @ObservationIgnored private let window: MessageWindow

  /// - Parameters:
  ///   - size: the messages that each move adds.
  ///   - limit: the most messages.
  ///   - isIncluded: a filter, applied before messages are counted. Unsent messages are not filtered.
  public init(
    _ conversation: ID<Conversation>, _ parley: Parley, size: Int = 50, limit: Int = 200,
    where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) {
    self.conversation = conversation
    self.parley = parley
    users = ListedUsers(parley)
    window = MessageWindow(conversation, parley.cache, parley.sync, size: size, limit: limit, where: isIncluded)
  }

  /// Loads the newest messages and shows every change until its task is cancelled.
  public func run() async {
    async let row: Void = followRow()
    async let newest: Void = loadNewest()
    for await update in await window.updates() {
      (messages, gaps) = (update.messages, update.gaps)
      (hasOlder, hasNewer) = (update.hasOlder, update.hasNewer)
      users.show(messages.compactMap(\.author))
    }
    _ = await (row, newest)
  }

  private func loadNewest() async { await attempt(keepingFailure: true) { try await window.newest() } }

  private func followRow() async {
    let changes = await parley.changes { _, _ in true }
    await readRow()
    for await _ in changes { await readRow() }
  }

  private func readRow() async {
    // After a request without a network.
    users.show(messages.compactMap(\.author))
    do {
      let new = try await parley.cache.shown(conversation)
      if row != new { row = new }
    } catch { failure = fault(of: error) }
  }

  // MARK: Moving

  /// Shows the newest messages.
  public func showNewest() async { await attempt { try await window.newest() } }
  /// Adds messages before those shown, such as when the view is scrolled to its beginning.
  public func showOlder() async { await attempt { try await window.older() } }
  /// Adds messages after those shown.
  public func showNewer() async { await attempt { try await window.newer() } }
  /// Shows a message with those around it.
  public func show(_ message: ID<Message>) async { await attempt { try await window.around(message) } }
  /// Call it when the view is scrolled to the end, and when it no longer is.
  public func setSticking(_ isSticking: Bool) async {
    await attempt(keepingFailure: true) { try await window.setSticking(isSticking) }
  }

  // MARK: Messages

  /// Queues a message with this text, and removes the draft.
  public func send(_ text: String) async { await send(Draft(text)) }

  /// Queues a message, and removes the draft. A draft that is stored meanwhile stays.
  public func send(_ draft: Draft) async {
    await attempt {
      let before = await parley.cache.draft(in: conversation)
      try await parley.outbox.send(draft, in: conversation)
      try await parley.cache.removeDraft([before, draft], in: conversation)
    }
  }

  /// Stores the typed text as a draft; nil removes the draft.
  public func setDraft(_ draft: Draft?) async {
    await attempt { try await parley.cache.setDraft(draft, in: conversation) }
  }

  /// Queues the edit of a message. An unsent one is sent with the new text.
  public func edit(_ message: ShownMessage, to text: String) async {
    await attempt { try await parley.outbox.edit(message.target, in: conversation, to: text) }
  }

  /// Queues the deletion of a message. An unsent one is not sent.
  public func delete(_ message: ShownMessage) async {
    await attempt { try await parley.outbox.delete(message.target, in: conversation) }
  }

  /// Sets or removes an action, such as `.like`.
  public func setAction(_ type: ActionType, on message: ShownMessage, isSet: Bool = true) async {
    await attempt { try await parley.outbox.setAction(type, on: message.target, in: conversation, isSet: isSet) }
  }

  /// Retries the failed operations of a message.
  public func retry(_ message: ShownMessage) async {
    await attempt { for one in message.waiting where one.failure != nil { try await parley.outbox.retry(one.id) } }
  }

  /// Cancels the failed operations of a message.
  public func cancel(_ message: ShownMessage) async {
    await attempt { for one in message.waiting where one.failure != nil { try await parley.outbox.cancel(one.id) } }
  }

  /// Marks the messages shown as read.
  public func markRead() async {
    guard let last = messages.last(where: { !$0.isUnsent })?.message else { return }
    await attempt(keepingFailure: true) { try await parley.outbox.markRead(last.id, in: conversation) }
  }
}
