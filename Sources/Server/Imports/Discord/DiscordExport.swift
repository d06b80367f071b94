import ParleyJSON
import ParleyWire

/// An export by DiscordChatExporter in JSON: a file per channel or thread, or several parts of one, with a folder of media.
public final class DiscordExport: ImportSource {
  public let kind = SourceKind.discord
  private let folder: SourceFolder
  private let clock: SourceClock
  /// One file, if the operator has named one.
  private let only: String?
  private var channels: [Channel] = []
  private var overview = SourceOverview()
  private var seenEmoji: Set<String> = []

  private struct Channel {
    var id: String
    var header: DiscordChannel
    /// Parts by the time of their first message.
    var parts: [(name: String, first: Int64)]
    var first: Int64
    var last: Int64
    var authors: Set<String>
  }

  public init(path: String, now: Int64) throws(ImportFault) {
    clock = SourceClock(now: now)
    if SourceFolder.exists(path) {
      folder = try SourceFolder(path)
      only = nil
    } else {
      let slash = path.lastIndex(of: "/")
      folder = try SourceFolder(slash.map { String(path[...$0]) } ?? ".")
      only = slash.map { String(path[path.index(after: $0)...]) } ?? path
    }
  }

  // MARK: Overview

  public func overview(_ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) -> SourceOverview {
    overview = SourceOverview()
    channels = []
    seenEmoji = []
    var positions: [String: Int] = [:]
    let names = if let only { [only] } else { try folder.names().filter { $0.hasSuffix(".json") } }
    for name in names {
      guard let channel = try scan(name, check) else { continue }
      guard let known = positions[channel.id] else {
        positions[channel.id] = channels.count
        channels.append(channel)
        continue
      }
      channels[known].parts += channel.parts
      channels[known].first = min(channels[known].first, channel.first)
      channels[known].last = max(channels[known].last, channel.last)
      channels[known].authors.formUnion(channel.authors)
    }
    guard !channels.isEmpty else {
      throw ImportFault("\(folder.path) has no JSON file of DiscordChatExporter. Export with --format Json.")
    }
    for index in channels.indices { channels[index].parts.sort { ($0.first, $0.name) < ($1.first, $1.name) } }
    channels.sort { ($0.last, $0.id) < ($1.last, $1.id) }
    try addForums()
    return overview
  }

  /// Forums of channels, then topics of threads.
  private func addForums() throws(ImportFault) {
    var forums: [String: SourceForum] = [:]
    for channel in channels where channel.header.kind == .channel {
      var forum = SourceForum(channel.id, title: channel.header.name)
      forum.description = channel.header.topic ?? ""
      forum.section = channel.header.category
      forum.createdAt = channel.first
      forums[channel.id] = forum
    }
    // A forum of Discord has no messages besides those of its threads, and a channel may not be in the export.
    for channel in channels where channel.header.kind == .thread {
      let parent = channel.header.parent(of: channel.id)
      guard forums[parent] == nil else { continue }
      forums[parent] = SourceForum(parent, title: channel.header.category ?? channel.header.name)
    }
    guard forums.count <= ImportLimits.forums else {
      throw ImportFault("\(folder.path) has more than \(ImportLimits.forums) channels. Import fewer at a time.")
    }
    overview.forums = forums.values.sorted { $0.key < $1.key }
    for channel in channels {
      switch channel.header.kind {
      case .channel:
        overview.conversations.append(SourceConversation(channel.id, .room, forum: channel.id))
      case .thread:
        var topic = SourceConversation(
          channel.id, .topic, forum: channel.header.parent(of: channel.id), title: channel.header.name)
        topic.createdAt = channel.first
        overview.conversations.append(topic)
      case .private:
        var group = SourceConversation(channel.id, .group, title: channel.header.name)
        group.createdAt = channel.first
        group.participants = channel.authors.sorted().map { SourceMember($0, role: "member") }
        overview.conversations.append(group)
      }
    }
  }

  /// Reads and checks a file; nil for the JSON of another program.
  private func scan(_ name: String, _ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) -> Channel? {
    guard let file = try folder.file(name) else {
      throw ImportFault("Can't read \(name). Check the path and its permissions.")
    }
    var stream = JSONStream(file.source(), name, list: "messages")
    var header: DiscordChannel?
    var guild: String?
    var channel: Channel?
    var (count, announced): (Int, Int?) = (0, nil)
    var last: Int64 = 0
    while let item = try stream.next() {
      switch item {
      case .member("guild", let value):
        var object = value.part
        guild = object?.key("id")
      case .member("channel", let value): header = DiscordChannel(value)
      case .member("messageCount", let value):
        do throws(JSONError) { announced = try value.int() } catch { announced = nil }
      case .member: continue
      case .element(let value):
        guard guild != nil, let header else { return nil }
        count += 1
        try check(overview.messageCount)
        let message = try DiscordPost(value, name, clock)
        if channel == nil {
          channel = Channel(
            id: header.id, header: header, parts: [(name, message.time)], first: message.time, last: 0, authors: [])
        }
        guard message.time >= last else {
          throw ImportFault("\(name) is not in the order of its times. Export again without --reverse.")
        }
        last = message.time
        channel?.last = last
        if message.isLeftOut == nil { channel?.authors.insert(message.author.key) }
        try note(message)
      }
    }
    guard guild != nil, let header else { return nil }
    guard announced == nil || announced == count else {
      throw ImportFault("\(name) has \(count) messages and announces \(announced ?? 0). Export it again.")
    }
    return channel ?? Channel(id: header.id, header: header, parts: [(name, 0)], first: 0, last: 0, authors: [])
  }

  private func note(_ message: DiscordPost) throws(ImportFault) {
    if let reason = message.isLeftOut { return overview.leaveOut(reason) }
    overview.messageCount += 1
    for user in [message.author] + message.others where overview.users[user.key] == nil {
      var user = user
      if case .file(let path) = user.avatar { user.avatar = try located(path) }
      overview.users[user.key] = user
    }
    guard overview.users.count <= ImportLimits.users else {
      throw ImportFault("\(folder.path) has more than \(ImportLimits.users) users. Import fewer channels at a time.")
    }
    for role in message.roles {
      let index = overview.groups.firstIndex { $0.key == role.key } ?? overview.groups.endIndex
      if index == overview.groups.endIndex { overview.groups.append(role) }
      overview.groups[index].members.insert(message.author.key)
    }
    for emoji in message.emoji where seenEmoji.insert(emoji.name).inserted {
      guard case .file(let path) = emoji.picture, case .file(let found) = try located(path) else { continue }
      overview.emoji.append(SourceEmoji(emoji.key, name: emoji.name, picture: .file(found)))
    }
    for file in message.files {
      if case .file(let path) = file.content, case .file = try located(path) {
        overview.fileCount += 1
      } else {
        overview.leaveOut("files that the export only names")
      }
    }
  }

  // MARK: Messages

  public func messages(_ receive: (SourceItem) async throws(ImportFault) -> Void) async throws(ImportFault) {
    for channel in channels {
      var last: Int64 = 0
      for part in channel.parts {
        guard let file = try folder.file(part.name) else { throw ImportFault("\(part.name) is gone. Import again.") }
        var stream = JSONStream(file.source(), part.name, list: "messages")
        while let item = try stream.next() {
          guard case .element(let value) = item else { continue }
          let message = try DiscordPost(value, part.name, clock)
          guard message.isLeftOut == nil else { continue }
          last = max(last, message.time)
          try await receive(.message(try self.item(of: message, in: channel.id, at: last)))
        }
      }
      try await receive(.finished([channel.id]))
    }
  }

  private func item(of message: DiscordPost, in channel: String, at time: Int64) throws(ImportFault) -> SourceMessage {
    var item = SourceMessage(
      "\(channel):\(message.id)", in: channel, by: message.author.key, at: time, message.text(of: overview.users))
    item.replyTo = message.replyTo.map { "\(channel):\($0)" }
    item.editedAt = message.editedAt
    item.isPinned = message.isPinned
    item.reactions = message.reactions
    for file in message.files {
      var file = file
      if case .file(let path) = file.content { file.content = try located(path) }
      item.files.append(file)
    }
    return item
  }

  public func content(_ content: SourceContent) throws(ImportFault) -> (any ByteSource)? {
    guard case .file(let name) = content else { return nil }
    return try folder.file(name)?.source()
  }

  /// A file of the media folder. The exporter of Windows writes `\`, and newer versions encode names.
  private func located(_ path: String) throws(ImportFault) -> SourceContent {
    let name = path.replacing("\\", with: "/")
    for candidate in [name, Percent.decode(name) ?? name] where SafePath.isSafe(candidate) {
      if try folder.file(candidate) != nil { return .file(candidate) }
    }
    return .missing(path)
  }
}
