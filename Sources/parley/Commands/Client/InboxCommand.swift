import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let listNotifications = Command.client(
    "inbox", usage: "[--unread] [--kind KIND] [--read] [--limit N] [--json]",
    summary: "list your notifications",
    description: """
      Lists your notifications, the newest first: number of the message, local time, user, reason and text. * marks unread
      ones. parley reply takes the number.
      """,
    settings: [InboxCommand.unread, InboxCommand.kind, InboxCommand.markRead, .limit, .json],
    operations: ["listNotifications", "markNotificationsRead"], run: InboxCommand.run)
}

enum InboxCommand {
  fileprivate static let unread = Setting(
    name: "unread", value: nil, summary: "only unread notifications", isFlagOnly: true)
  fileprivate static let kind = Setting(
    name: "kind", value: "KIND", summary: "only one reason: \(kinds.joined(separator: ", "))", isFlagOnly: true)
  fileprivate static let markRead = Setting(
    name: "read", value: nil, summary: "also mark all notifications as read", isFlagOnly: true)
  private static let kinds = Notification.Kind.allCases.map(\.rawValue)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let kind = settings.text(kind)
    if let kind, !kinds.contains(kind) {
      throw Settings.UsageError(message: "--kind takes \(kinds.joined(separator: ", ")), not \"\(kind)\".")
    }
    await session.sendOutbox()
    let inbox = try await session.client.send(
      Request<Resource<Inbox>>.listNotifications(
        kind: kind.flatMap { Notification.Kind(rawValue: $0) }, unread: settings.isOn(unread) ? true : nil,
        limit: try settings.limit()
      ).includingNames())
    if settings.isOn(.json) {
      Terminal.print(try lines(of: inbox.representation))
    } else {
      var names = try IncludedNames(inbox.representation)
      let missing = Set(inbox.entries.compactMap(\.entry.actor)).subtracting(names.users.keys)
      names.users.merge(try await session.names(of: missing)) { one, _ in one }
      let style = Terminal.style
      for entry in inbox.entries where !Terminal.print(line(entry, names, style)) { break }
    }
    if settings.isOn(markRead), let newest = inbox.entries.map(\.entry.id).max() {
      try await session.client.send(.markNotificationsRead(upTo: newest))
    }
    return Outcome(.success, "")
  }

  /// The notifications as JSON lines.
  private static func lines(of page: JSONRaw) throws(ClientFault) -> String {
    do throws(JSONError) {
      var object = try JSONValue(parsing: page.bytes).object()
      return try object.value("data").array().map { entry in
        String(decoding: entry.raw.compact.bytes, as: UTF8.self) + "\n"
      }.joined()
    } catch {
      throw .invalidResponse("\(error)")
    }
  }

  private static func line(_ shown: NotificationView, _ names: IncludedNames, _ style: TextStyle) -> String {
    let entry = shown.entry
    let actor = entry.actor.map { names.users[$0] ?? $0.description } ?? "-"
    var parts = [
      entry.readAt == nil ? "*" : " ", style.dim(entry.message?.description ?? "-"),
      style.dim(Terminal.localTime(entry.createdAt)), style.bold(Terminal.plain(actor)), entry.kind.rawValue,
    ]
    if let text = shown.message?.message.content?.text {
      parts.append(Terminal.plain(text))
    } else if let conversation = entry.conversation {
      parts.append("(conversation \(conversation))")
    }
    return parts.joined(separator: "  ") + "\n"
  }
}
