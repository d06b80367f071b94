// A to-do list that works offline: messages of a private channel are the entries, an action flags urgent ones, and
// another device has everything after a full sync.

import ParleyKit

struct Todo {
  let cache: Cache
  let outbox: Outbox
  let sync: Sync
  let channel: ID<Conversation>

  private static let type = "com.example.todo"
  private static let urgent = ActionType.own("com.example.high_priority")

  struct Entry: Equatable {
    var title: String
    var isUrgent: Bool
    /// Not sent yet.
    var isWaiting: Bool
  }

  /// Finds or creates the list: needs the network only the first time.
  init(_ parley: Parley) async throws {
    (cache, outbox, sync) = (parley.cache, parley.outbox, parley.sync)
    try await sync.begin()
    channel = try await sync.privateChannel(ConversationSpec(Self.type, title: "To do"))
  }

  func add(_ title: String) async throws -> Draft.Target {
    let kind = Draft.Annotation(Self.type) { json in json.field("done", false) }
    return .unsent(try await outbox.send(Draft(title, annotations: [kind]), in: channel).id)
  }

  func setUrgent(_ entry: Draft.Target, _ isUrgent: Bool = true) async throws {
    try await outbox.setAction(Self.urgent, on: entry, in: channel, isSet: isUrgent)
  }

  /// Deletes a finished entry.
  func finish(_ entry: Draft.Target) async throws { try await outbox.delete(entry, in: channel) }

  func find(_ title: String) async throws -> Draft.Target? {
    try await cache.search(title, in: channel, limit: 1).messages.first?.target
  }

  var urgentTitles: [String] {
    get async throws { try await cache.messagesWithAction(Self.urgent, in: channel).map(\.text) }
  }

  /// Oldest first, unsent entries last.
  var entries: [Entry] {
    get async throws {
      let shown = try await MessageWindow(channel, cache, size: 1_000).newest().messages
      return shown.filter { !$0.isDeleted && $0.message?.kind != .system }.map { message in
        Entry(title: message.text, isUrgent: message.mine.contains(Self.urgent), isWaiting: message.isUnsent)
      }
    }
  }

  /// Fetches everything, for a new device.
  func fetchEverything() async throws {
    try await sync.catchUp()
    try await sync.fetchAll([channel])
  }
}
