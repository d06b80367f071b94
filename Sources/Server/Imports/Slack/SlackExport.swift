import ParleyJSON

/// An export of a Slack workspace: a zip archive, or its folder, with `users.json`, the lists of channels, and a folder per
/// channel with a file per day. A thread becomes a topic.
public final class SlackExport: ImportSource {
  public let kind = SourceKind.slack
  private let tree: SourceTree
  private let clock: SourceClock
  /// The folder of the export inside of the archive, with its slash.
  private let prefix: String
  private var channels: [SlackChannel] = []
  private var overview = SourceOverview()

  /// Lists of conversations, in their order.
  private static let lists: [(file: String, kind: SourceConversation.Kind)] = [
    ("channels.json", .room), ("groups.json", .room), ("dms.json", .direct), ("mpims.json", .group),
  ]

  public init(path: String, now: Int64) throws(ImportFault) {
    tree = try SourceTree(path)
    clock = SourceClock(now: now)
    let file = "users.json"
    guard
      let users = tree.names.filter({ $0 == file || $0.hasSuffix("/" + file) }).min(by: {
        $0.utf8.count < $1.utf8.count
      })
    else {
      throw ImportFault("\(path) has no users.json, so it is no export of Slack. Name its zip archive or folder.")
    }
    prefix = String(users.dropLast(file.utf8.count))
  }

  // MARK: Overview

  public func overview(_ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) -> SourceOverview {
    overview = SourceOverview()
    channels = []
    try readUsers()
    for (file, kind) in Self.lists {
      guard let source = try tree.source(prefix + file) else { continue }
      var stream = JSONStream(source, file)
      while case .element(let value)? = try stream.next() {
        guard let channel = SlackChannel(value, kind) else { continue }
        channels.append(channel)
      }
    }
    guard !channels.isEmpty, channels.count <= ImportLimits.forums else {
      throw ImportFault("\(tree.path) has no channels, or more than \(ImportLimits.forums). Name an export of Slack.")
    }
    var days: [String: [String]] = [:]
    for name in tree.names where name.hasPrefix(prefix) && name.hasSuffix(".json") {
      let parts = name.dropFirst(prefix.count).split(separator: "/")
      if parts.count == 2 { days[String(parts[0]), default: []].append(name) }
    }
    for index in channels.indices {
      channels[index].files = days[channels[index].folder]?.sorted() ?? []
      try scan(index, check)
    }
    channels.sort { ($0.last, $0.id) < ($1.last, $1.id) }
    for channel in channels { try add(channel) }
    return overview
  }

  private func readUsers() throws(ImportFault) {
    guard let source = try tree.source(prefix + "users.json") else { return }
    var stream = JSONStream(source, "users.json")
    while case .element(let value)? = try stream.next() {
      guard let user = Self.user(value) else { continue }
      overview.users[user.key] = user
      guard overview.users.count <= ImportLimits.users else {
        throw ImportFault("users.json has more than \(ImportLimits.users) users, which no workspace has.")
      }
    }
  }

  private static func user(_ value: JSONValue) -> SourceUser? {
    guard var object = value.part, let id = object.key("id"), let name = object.words("name") else { return nil }
    var user = SourceUser(id, name: name)
    var profile = object.part("profile")
    user.displayName =
      profile?.words("display_name") ?? profile?.words("real_name") ?? object.words("real_name")
    user.email = profile?.words("email")
    user.bio = profile?.words("title") ?? ""
    user.isBot = object.flag("is_bot")
    return user
  }

  private func scan(_ index: Int, _ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) {
    var last: Int64 = 0
    for file in channels[index].files {
      try read(file) { message throws(ImportFault) in
        try check(overview.messageCount)
        if let reason = message.isLeftOut { return overview.leaveOut(reason) }
        guard message.time >= last else {
          throw ImportFault("\(file) is not in the order of its times. Make a new export.")
        }
        last = message.time
        overview.messageCount += 1
        if channels[index].first == nil { channels[index].first = message.time }
        channels[index].last = message.time
        if overview.users[message.author.key] == nil { overview.users[message.author.key] = message.author }
        if let root = message.thread {
          channels[index].threads[root, default: SlackThread()].note(message, isRoot: root == message.ts)
        }
        if message.fileCount > 0 { overview.leaveOut("files that the export only names", message.fileCount) }
      }
    }
    guard channels[index].threads.count <= ImportLimits.topics else {
      throw ImportFault("\(channels[index].name) has more than \(ImportLimits.topics) threads. Import fewer channels.")
    }
    // A root without replies stays in the channel.
    channels[index].threads = channels[index].threads.filter { $0.value.replies > 0 }
  }

  private func add(_ channel: SlackChannel) throws(ImportFault) {
    guard channel.kind == .room else {
      var conversation = SourceConversation(
        channel.id, channel.kind, title: channel.kind == .direct ? nil : channel.name)
      conversation.createdAt = channel.createdAt ?? channel.first
      conversation.participants = channel.members.filter { overview.users[$0] != nil }.map {
        SourceMember($0, role: "member")
      }
      overview.conversations.append(conversation)
      return
    }
    var forum = SourceForum(channel.id, title: channel.name)
    forum.description = channel.purpose
    forum.isArchived = channel.isArchived
    forum.createdAt = channel.first
    overview.forums.append(forum)
    overview.conversations.append(SourceConversation(channel.id, .room, forum: channel.id))
    for (root, thread) in channel.threads.sorted(by: { $0.key < $1.key }) {
      var topic = SourceConversation(
        "\(channel.id).\(root)", .topic, forum: channel.id,
        title: SlackText(thread.title, overview.users).plain ?? "Thread")
      topic.creator = thread.author
      topic.createdAt = thread.first
      overview.conversations.append(topic)
    }
  }

  private func read(
    _ file: String, _ body: (SlackPost) throws(ImportFault) -> Void
  ) throws(ImportFault) {
    guard let source = try tree.source(file) else { throw ImportFault("\(file) is gone. Import again.") }
    var stream = JSONStream(source, file)
    while case .element(let value)? = try stream.next() { try body(try SlackPost(value, file, clock)) }
  }

  // MARK: Messages

  public func messages(_ receive: (SourceItem) async throws(ImportFault) -> Void) async throws(ImportFault) {
    for channel in channels {
      for file in channel.files {
        guard let source = try tree.source(file) else { throw ImportFault("\(file) is gone. Import again.") }
        var stream = JSONStream(source, file)
        while case .element(let value)? = try stream.next() {
          let message = try SlackPost(value, file, clock)
          guard message.isLeftOut == nil else { continue }
          try await receive(.message(item(of: message, in: channel)))
        }
      }
      let topics = channel.kind == .room ? channel.threads.keys.sorted().map { "\(channel.id).\($0)" } : []
      try await receive(.finished([channel.id] + topics))
    }
  }

  /// A thread of a channel is a topic. In other conversations its replies are replies.
  private func item(of message: SlackPost, in channel: SlackChannel) -> SourceMessage {
    let root = message.thread.flatMap { channel.threads[$0] == nil ? nil : $0 }
    let topic = channel.kind == .room ? root.map { "\(channel.id).\($0)" } : nil
    var item = SourceMessage(
      "\(channel.id):\(message.ts)", in: topic ?? channel.id, by: message.author.key, at: message.time,
      message.text(of: overview.users))
    // All messages of a topic answer its first one.
    if topic == nil, let root, root != message.ts { item.replyTo = "\(channel.id):\(root)" }
    item.editedAt = message.editedAt
    item.reactions = message.reactions
    item.isPinned = channel.pins.contains(message.ts)
    return item
  }

  public func content(_ content: SourceContent) throws(ImportFault) -> (any ByteSource)? {
    guard case .file(let name) = content else { return nil }
    return try tree.source(name)
  }
}

struct SlackThread {
  var replies = 0
  var author: String?
  var title = ""
  var first: Int64?

  mutating func note(_ message: SlackPost, isRoot: Bool) {
    if first == nil { first = message.time }
    guard isRoot else {
      replies += 1
      if title.isEmpty { title = message.raw }
      return
    }
    title = String(message.raw.prefix(400))
    author = message.author.key
  }
}

struct SlackChannel {
  let id: String
  let name: String
  let kind: SourceConversation.Kind
  /// The folder of its days: the name of a channel, the id of a direct conversation.
  let folder: String
  let purpose: String
  let isArchived: Bool
  let members: [String]
  let createdAt: Int64?
  let pins: Set<String>
  var files: [String] = []
  var first: Int64?
  var last: Int64 = 0
  /// By the `ts` of the first message.
  var threads: [String: SlackThread] = [:]

  init?(_ value: JSONValue, _ kind: SourceConversation.Kind) {
    guard var object = value.part, let id = object.key("id") else { return nil }
    self.id = id
    self.kind = kind
    name = object.words("name") ?? id
    folder = kind == .direct ? id : name
    var purpose = object.part("purpose")
    var topic = object.part("topic")
    self.purpose = [topic?.words("value"), purpose?.words("value")].compactMap(\.self).joined(separator: "\n\n")
    isArchived = object.flag("is_archived")
    members = object.texts("members").filter(SourceKey.isValid)
    let created = object.number("created").map { Int64(clamping: $0) } ?? 0
    createdAt = (1...253_402_300_799).contains(created) ? created * 1_000 : nil
    pins = Set(
      object.parts("pins").compactMap { pin in
        var pin = pin
        return pin.words("id")
      })
  }
}
