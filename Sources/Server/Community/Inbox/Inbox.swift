// What waits for somebody. It is written where its cause is; here it is read.

public import ParleyModel
import Storage

/// Some of what waits for somebody.
public struct InboxPage: Sendable {
  public let entries: [SeenInboxEntry]
  /// The last that was looked at, where there are more.
  public let next: ID<InboxEntry>?
  public let unread: InboxCounts
}

extension Community {
  /// What waits for the caller, the newest first. What they can't read any longer is as if it were not there.
  public func inbox(
    kind: InboxEntry.Kind?, isUnread: Bool, before entry: ID<InboxEntry>?, limit: Int, _ show: MessageShow,
    for caller: Caller
  ) async throws(Refusal) -> InboxPage {
    let person = try caller.person()
    let found = try await store.readInBackground { [bounds] tx throws(Refusal) in
      var reading = InboxReading(caller)
      var entries: [InboxEntry] = []
      var last = entry
      var isMore = true
      while isMore, entries.count <= limit {
        let chunk = try tx.inbox(
          of: person, kind: kind, isUnread: isUnread, before: last, limit: InboxReading.chunk)
        isMore = chunk.count == InboxReading.chunk
        last = chunk.last?.id ?? last
        for entry in chunk where try reading.mayRead(entry, tx) { entries.append(entry) }
      }
      let page = Array(entries.prefix(limit))
      let messages = try tx.seen(try tx.messages(page.compactMap(\.message)), by: caller, bounds)
      return (
        page: page, messages: messages, isMore: entries.count > limit,
        unread: try tx.unreadInbox(of: person, &reading)
      )
    }
    let shown = Dictionary(
      await found.messages.shown(show).map { ($0.message.id, $0) }, uniquingKeysWith: { one, _ in one })
    return InboxPage(
      entries: found.page.map { SeenInboxEntry($0, $0.message.flatMap { shown[$0] }) },
      next: found.isMore ? found.page.last?.id : nil, unread: found.unread)
  }

  /// Reads what waits up to an entry; what waits still.
  public func readInbox(upTo entry: ID<InboxEntry>, by caller: Caller) async throws(Refusal) -> InboxCounts {
    let person = try caller.person(for: .write)
    while try await store.write({ tx throws(Refusal) in
      _ = try tx.renewed(caller)
      return try tx.readInbox(of: person, upTo: entry)
    }) {}
    return try await store.readInBackground { tx throws(Refusal) in
      var reading = InboxReading(caller)
      return try tx.unreadInbox(of: person, &reading)
    }
  }
}

/// What of an inbox its owner may still read, asked once for each conversation.
struct InboxReading {
  static let chunk = 100

  private let caller: Caller
  private var conversations: [ID<Conversation>: Bool] = [:]

  init(_ caller: Caller) { self.caller = caller }

  mutating func mayRead(_ entry: InboxEntry, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    // A report is read by who keeps order, wherever it is from.
    guard entry.kind != .report, let conversation = entry.conversation else { return true }
    if let known = conversations[conversation] { return known }
    let mayRead = try tx.historyStart(of: conversation, for: caller) != nil
    conversations[conversation] = mayRead
    return mayRead
  }
}

extension ReadTransaction {
  func unreadInbox(of person: ID<Account>, _ reading: inout InboxReading) throws(Refusal) -> InboxCounts {
    var counts = InboxCounts()
    for entry in try inbox(of: person, isUnread: true, limit: InboxCounts.most) where try reading.mayRead(entry, self) {
      counts.add(entry.kind)
    }
    return counts
  }
}

extension WriteTransaction {
  /// Lets a message that was just stored wait for those whom it rings.
  func ring(for message: NewMessage, stored: StoredMessage) throws(Refusal) {
    let rings = try rings(of: message)
    for person in rings.people {
      try addToInbox(
        person.why.kind, of: person.account, in: message.conversation, message: stored.id, by: message.author)
    }
    guard let forum = rings.forum else { return }
    try ringRoom(forum, for: stored.id, in: message.conversation, by: message.author)
  }

  /// Asks somebody to let in a stranger; not who has muted them.
  func ring(_ person: ID<Account>, toTake conversation: ID<Conversation>, from stranger: ID<Account>) throws(Refusal) {
    guard try !has(.mute, person, to: stranger) else { return }
    try addToInbox(.request, of: person, in: conversation, by: stranger)
  }
}

extension Ring {
  fileprivate var kind: InboxEntry.Kind {
    switch self {
    case .mention: .mention
    case .reply: .reply
    case .direct: .direct
    case .room: .room
    }
  }
}
