// Reads and marks the inbox. The operations that cause notifications write them.

public import ParleyModel
import Storage

/// A page of notifications and the unread counts.
public struct NotificationPage: Sendable {
  public let page: ListPage<NotificationView>
  public let unread: InboxCounts
}

extension Community {
  /// The caller's notifications, newest first. Those about content that is no longer readable are omitted.
  public func listNotifications(
    kind: Notification.Kind?, isUnread: Bool, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> NotificationPage {
    let user = try caller.requireUser()
    let found = try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      var reading = NotificationFilter(caller)
      var entries = try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.inbox(of: user, kind: kind, isUnread: isUnread, slice, &reading)
      }
      let messages = try tx.messages(of: &entries, page, by: { ListKey($0.id) }, \.message)
      let views = try tx.views(messages, by: caller, bounds)
      return (page: entries, messages: views, unread: try tx.unreadInbox(of: user, &reading))
    }
    let shown = Dictionary(
      try await apply(show, to: found.messages, for: caller).map { ($0.message.id, $0) },
      uniquingKeysWith: { one, _ in one })
    let page = try found.page.map { entries in
      entries.map { NotificationView($0, $0.message.flatMap { shown[$0] }) }
    }
    return NotificationPage(page: page, unread: found.unread)
  }

  /// Marks notifications as read up to an id. Returns the remaining counts.
  public func markNotificationsRead(upTo entry: ID<Notification>, by caller: Caller) async throws(Refusal)
    -> InboxCounts
  {
    let user = try caller.requireUser(.write)
    while try await store.write({ tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      return try tx.markNotificationsRead(of: user, upTo: entry)
    }) {}
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      var reading = NotificationFilter(caller)
      return try tx.unreadInbox(of: user, &reading)
    }
  }
}

/// Filters notifications by the caller's read access. Caches the start of the readable history of each conversation.
struct NotificationFilter {
  static let chunk = 100

  private let caller: Caller
  private var starts: [ID<Conversation>: Int?] = [:]

  init(_ caller: Caller) { self.caller = caller }

  mutating func mayRead(_ entry: Notification, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    // Moderators may read every report.
    guard entry.kind != .report, let conversation = entry.conversation else { return true }
    guard let start = try start(of: conversation, tx) else { return false }
    guard start > 1, let message = entry.message else { return true }
    return try tx.position(of: message).map { $0.seq >= start } ?? false
  }

  private mutating func start(of conversation: ID<Conversation>, _ tx: ReadTransaction) throws(Refusal) -> Int? {
    if let known = starts[conversation] { return known }
    let start = try tx.historyStart(of: conversation, for: caller)
    starts[conversation] = .some(start)
    return start
  }
}

extension ReadTransaction {
  /// The readable notifications of a slice.
  fileprivate func inbox(
    of user: ID<User>, kind: Notification.Kind?, isUnread: Bool, _ slice: ListSlice, _ reading: inout NotificationFilter
  ) throws(Refusal) -> [Notification] {
    var entries: [Notification] = []
    var rest = ListSlice(after: slice.key, isBackward: slice.isBackward, limit: NotificationFilter.chunk)
    while entries.count < slice.limit {
      let chunk = try inbox(of: user, kind: kind, isUnread: isUnread, rest)
      for entry in chunk where try reading.mayRead(entry, self) { entries.append(entry) }
      guard chunk.count == rest.limit, let last = chunk.last else { break }
      rest.key = ListKey(last.id)
    }
    return Array(entries.prefix(slice.limit))
  }

  func unreadInbox(of user: ID<User>, _ reading: inout NotificationFilter) throws(Refusal) -> InboxCounts {
    var counts = InboxCounts()
    for entry in try inbox(of: user, isUnread: true, ListSlice(limit: InboxCounts.maxCounted))
    where try reading.mayRead(entry, self) {
      counts.add(entry.kind)
    }
    return counts
  }
}

extension WriteTransaction {
  /// Creates the notifications of a stored message.
  func notifyRecipients(
    of message: NewMessage, stored: StoredMessage, in kind: Conversation.Kind
  ) throws(Refusal) {
    let recipients = try recipients(of: message, in: kind)
    for recipient in recipients.users {
      try addNotification(
        recipient.cause.kind, of: recipient.candidate.user, in: message.conversation, message: stored.id,
        by: message.author, as: recipient.candidate)
    }
    for group in recipients.groups {
      try notify(group, of: stored.id, in: message.conversation, by: message.author)
    }
    guard let forum = recipients.forum else { return }
    try notifyRoom(forum, for: stored.id, in: message.conversation, by: message.author)
  }

  /// Creates the notification of a conversation request, unless the recipient muted the sender.
  func notifyRequest(_ user: ID<User>, of conversation: ID<Conversation>, from stranger: ID<User>) throws(Refusal) {
    guard try !has(.mute, user, to: stranger) else { return }
    try addNotification(.request, of: user, in: conversation, by: stranger)
  }
}

extension NotificationCause {
  fileprivate var kind: Notification.Kind {
    switch self {
    case .mention: .mention
    case .reply: .reply
    case .direct: .direct
    case .room: .room
    }
  }
}
