import ParleyJSON

/// An export of a site by `parley export`: its zip archive, or the folder of it.
public final class ParleyExport: ImportSource {
  public let kind = SourceKind.parley
  private let tree: SourceTree
  private let clock: SourceClock
  private var overview = SourceOverview()
  private var files: [String: SourceAttachment] = [:]
  /// Lines of the messages of a conversation.
  private var messageLines: [String: Range<Int>] = [:]
  /// Conversations by the time of their last message.
  private var order: [(time: Int64, key: String)] = []
  /// Posts of feeds by their time: a repost follows its original in another feed.
  private var posts: [(time: Int64, id: Int, feed: String, lines: Range<Int>)] = []
  /// Conversations of reposted messages.
  private var originals: [Int: String] = [:]
  /// Lines of further tables by message.
  private var details: [Detail: [Int: Range<Int>]] = [:]

  private enum Detail: String, CaseIterable {
    case attachments, actions, revisions, polls, votes
  }

  private static let format = "parley-export"
  private static let version = 1

  public init(path: String, now: Int64) throws(ImportFault) {
    tree = try SourceTree(path)
    clock = SourceClock(now: now)
  }

  // MARK: Overview

  public func overview(_ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) -> SourceOverview {
    overview = SourceOverview()
    try checkFormat()
    try readUsers()
    try readForums()
    try readConversations()
    try each("files") { line, _ throws(ImportFault) in
      guard let id = line.key("id") else { return }
      let path = line.words("path")
      if path != nil { overview.fileCount += 1 } else { overview.leaveOut("files that the export only names") }
      let name = line.words("name") ?? "file"
      files[id] = SourceAttachment(id, name: name, path.map { .file($0) } ?? .missing(name))
    }
    for detail in Detail.allCases { try index(detail) }
    try scanMessages(check)
    return overview
  }

  private func checkFormat() throws(ImportFault) {
    guard let source = try tree.source("export.json") else {
      throw ImportFault("\(tree.path) has no export.json, so it is no export of Parley. Name a file of parley export.")
    }
    let bytes = try source.readAll(limit: 65_536, of: "export.json")
    var object: JSONObject?
    do throws(JSONError) { object = try JSONValue(parsing: bytes).object() } catch { object = nil }
    guard object?.text("format") == Self.format, let version = object?.number("version") else {
      throw ImportFault("export.json is not that of an export of Parley. Name a file of parley export.")
    }
    guard version <= Self.version else {
      throw ImportFault("The export has the format \(version), which this program does not know. Upgrade Parley first.")
    }
    guard object?.text("scope") == "site" else {
      throw ImportFault(
        "The export has the data of one user, and an import needs that of a site. Run parley export without --user.")
    }
  }

  private func readUsers() throws(ImportFault) {
    try each("users") { line, _ throws(ImportFault) in
      guard let id = line.key("id") else { return }
      var user = SourceUser(id, name: line.words("name") ?? "deleted_user", displayName: line.words("display_name"))
      user.bio = line.text("bio") ?? ""
      user.isBot = line.text("role") == "bot"
      user.createdAt = try clock.time(line.text("created_at"), of: "A user")
      if overview.site == nil { overview.site = "\(id)-\(user.createdAt ?? 0)" }
      overview.users[id] = user
      guard overview.users.count <= ImportLimits.users else {
        throw ImportFault("users.jsonl has more than \(ImportLimits.users) users.")
      }
    }
    var positions: [String: Int] = [:]
    try each("groups") { line, _ throws(ImportFault) in
      guard let id = line.key("id"), let name = line.words("name") else { return }
      positions[id] = overview.groups.count
      overview.groups.append(SourceGroup(id, name: name, hue: line.number("hue").flatMap { 0...359 ~= $0 ? $0 : nil }))
    }
    try each("group_members") { line, _ throws(ImportFault) in
      guard let group = line.key("group_id").flatMap({ positions[$0] }), let user = line.key("user_id") else { return }
      overview.groups[group].members.insert(user)
    }
  }

  private func readForums() throws(ImportFault) {
    var positions: [String: Int] = [:]
    try each("forums") { line, _ throws(ImportFault) in
      guard let id = line.key("id"), let title = line.words("title") else { return }
      var forum = SourceForum(id, title: title)
      forum.description = line.text("description") ?? ""
      forum.section = line.words("section")
      forum.visibility = line.words("visibility")
      forum.isArchived = line.words("archived_at") != nil
      forum.createdAt = try clock.time(line.text("created_at"), of: "A forum")
      positions[id] = overview.forums.count
      overview.forums.append(forum)
      guard overview.forums.count <= ImportLimits.forums else {
        throw ImportFault("forums.jsonl has more than \(ImportLimits.forums) forums.")
      }
    }
    try each("forum_members") { line, _ throws(ImportFault) in
      guard let forum = line.key("forum_id").flatMap({ positions[$0] }), let user = line.key("user_id") else { return }
      overview.forums[forum].members.append(SourceMember(user, role: line.text("role") ?? "member"))
    }
  }

  private func readConversations() throws(ImportFault) {
    var positions: [String: Int] = [:]
    try each("conversations") { line, _ throws(ImportFault) in
      guard let id = line.key("id"), let kind = line.text("kind").flatMap({ SourceConversation.Kind(rawValue: $0) })
      else { return }
      var conversation = SourceConversation(id, kind, forum: line.key("forum_id"), title: line.words("title"))
      conversation.owner = line.key("owner_id")
      conversation.creator = line.key("created_by")
      conversation.createdAt = try clock.time(line.text("created_at"), of: "A conversation")
      conversation.isPinned = line.flag("pinned")
      conversation.isLocked = line.flag("locked")
      conversation.solvedBy = line.key("solved_by").map { "\(id):\($0)" }
      positions[id] = overview.conversations.count
      overview.conversations.append(conversation)
      guard overview.conversations.count <= ImportLimits.topics else {
        throw ImportFault("conversations.jsonl has more than \(ImportLimits.topics) conversations.")
      }
    }
    try each("participants") { line, _ throws(ImportFault) in
      guard let position = line.key("conversation_id").flatMap({ positions[$0] }), let user = line.key("user_id"),
        overview.conversations[position].kind != .room
      else { return }
      overview.conversations[position].participants.append(SourceMember(user, role: line.text("role") ?? "member"))
    }
  }

  /// Notes where the lines of each message are. The tables are in the order of the messages.
  private func index(_ detail: Detail) throws(ImportFault) {
    var found: [Int: Range<Int>] = [:]
    try each(detail.rawValue) { line, range throws(ImportFault) in
      guard let message = line.key("message_id").flatMap({ Int($0) }) else { return }
      guard let earlier = found[message] else {
        found[message] = range
        return
      }
      guard earlier.upperBound == range.lowerBound else {
        throw ImportFault(
          "\(detail.rawValue).jsonl is not in the order of the messages. Import the file of parley export unchanged.")
      }
      found[message] = earlier.lowerBound..<range.upperBound
    }
    details[detail] = found
  }

  private func scanMessages(_ check: (Int) throws(ImportFault) -> Void) throws(ImportFault) {
    (order, messageLines, posts) = ([], [:], [])
    let feeds = Set(overview.conversations.lazy.filter { $0.kind == .feed }.map(\.key))
    try each("messages") { line, range throws(ImportFault) in
      try check(overview.messageCount)
      guard let conversation = line.key("conversation_id"), let id = line.key("id").flatMap({ Int($0) }) else {
        throw ImportFault("messages.jsonl has a message without an id or a conversation. Make the export again.")
      }
      let time = try clock.time(line.text("created_at"), of: "The message \(id)")
      if let parent = line.key("reply_to").flatMap({ Int($0) }), parent >= id {
        throw ImportFault(
          "The message \(id) replies to a later one, which would be a reply cycle. Make the export again.")
      }
      overview.messageCount += 1
      guard !feeds.contains(conversation) else {
        posts.append((time, id, conversation, range))
        originals[id] = conversation
        return
      }
      guard let earlier = messageLines[conversation] else {
        messageLines[conversation] = range
        order.append((time, conversation))
        return
      }
      guard earlier.upperBound == range.lowerBound else {
        throw ImportFault(
          "messages.jsonl is not in the order of the conversations. Import the file of parley export unchanged.")
      }
      messageLines[conversation] = earlier.lowerBound..<range.upperBound
      order[order.count - 1].time = max(order[order.count - 1].time, time)
    }
    order.sort { ($0.time, $0.key) < ($1.time, $1.key) }
    posts.sort { ($0.time, $0.id) < ($1.time, $1.id) }
    let filled = Set(messageLines.keys).union(feeds)
    order += overview.conversations.lazy.map(\.key).filter { !filled.contains($0) }.map { (0, $0) }
  }

  // MARK: Messages

  public func messages(_ receive: (SourceItem) async throws(ImportFault) -> Void) async throws(ImportFault) {
    for (_, conversation) in order {
      if let range = messageLines[conversation] {
        var lines = LineReader(try tree.source("messages.jsonl", range), "messages.jsonl")
        var last: Int64 = 0
        while let bytes = try lines.next() {
          var line = try Self.object(bytes, "messages.jsonl")
          let message = try message(&line, in: conversation, after: last)
          last = message.time
          try await receive(.message(message))
        }
      }
      try await receive(.finished([conversation]))
    }
    var times: [String: Int64] = [:]
    for post in posts {
      var lines = LineReader(try tree.source("messages.jsonl", post.lines), "messages.jsonl")
      guard let bytes = try lines.next() else { continue }
      var line = try Self.object(bytes, "messages.jsonl")
      let message = try message(&line, in: post.feed, after: times[post.feed] ?? 0)
      times[post.feed] = message.time
      try await receive(.message(message))
    }
    try await receive(.finished(overview.conversations.lazy.filter { $0.kind == .feed }.map(\.key)))
  }

  private func message(
    _ line: inout JSONObject, in conversation: String, after last: Int64
  ) throws(ImportFault) -> SourceMessage {
    let id = line.key("id") ?? ""
    let time = max(last, try clock.time(line.text("created_at"), of: "The message \(id)"))
    var message = SourceMessage(
      "\(conversation):\(id)", in: conversation, by: line.key("author_id") ?? "", at: time,
      SourceText(line.text("text") ?? ""))
    message.isNotice = line.text("kind") == "system"
    message.replyTo = line.key("reply_to").map { "\(conversation):\($0)" }
    message.repostOf = line.key("repost_of").flatMap { id in
      Int(id).flatMap { originals[$0] }.map { "\($0):\(id)" } ?? "\(id)"
    }
    message.editedAt = try line.words("edited_at").map { text throws(ImportFault) in
      try clock.time(text, of: "The message \(id)")
    }
    if let annotations = line.member("annotations"), annotations.kind == .array {
      message.annotations = annotations.raw
    }
    guard let number = Int(id) else { return message }
    for var row in try rows(.attachments, of: number) {
      guard var file = row.key("file_id").flatMap({ files[$0] }) else { continue }
      file.description = row.text("description") ?? ""
      message.files.append(file)
    }
    var actions: [(String, [String])] = []
    for var row in try rows(.actions, of: number) {
      guard let type = row.words("type"), let user = row.key("user_id") else { continue }
      if actions.last?.0 == type { actions[actions.count - 1].1.append(user) } else { actions.append((type, [user])) }
    }
    message.reactions = actions.map { SourceReaction($0.0, by: $0.1) }
    for var row in try rows(.revisions, of: number) {
      let time = try clock.time(row.text("edited_at"), of: "A revision of the message \(id)")
      message.revisions.append(SourceRevision(row.text("text") ?? "", at: time))
    }
    message.poll = try poll(of: number)
    return message
  }

  private func poll(of message: Int) throws(ImportFault) -> SourcePoll? {
    guard var row = try rows(.polls, of: message).first else { return nil }
    let options = row.parts("options").compactMap { option in
      var option = option
      return option.words("text")
    }
    guard 2...10 ~= options.count else { return nil }
    let closesAt = row.words("closes_at").flatMap { Timestamp.parse($0) }.map { Int64($0) }
    let votes = try rows(.votes, of: message).compactMap { vote -> SourcePoll.Vote? in
      var vote = vote
      guard let option = vote.number("option"), options.indices.contains(option), let user = vote.key("user_id")
      else { return nil }
      return SourcePoll.Vote(option: option, user: user)
    }
    let choices = row.number("choices").map { min(max($0, 1), 10) } ?? 1
    return SourcePoll(options, choices: choices, isAnonymous: row.flag("anonymous"), closesAt: closesAt, votes)
  }

  public func content(_ content: SourceContent) throws(ImportFault) -> (any ByteSource)? {
    guard case .file(let name) = content else { return nil }
    return try tree.source(name)
  }

  // MARK: Lines

  private func each(
    _ table: String, _ body: (inout JSONObject, Range<Int>) throws(ImportFault) -> Void
  ) throws(ImportFault) {
    let name = "\(table).jsonl"
    guard let source = try tree.source(name) else {
      throw ImportFault("\(tree.path) has no \(name). Make the export again.")
    }
    var lines = LineReader(source, name)
    var start = 0
    while let bytes = try lines.next() {
      var object = try Self.object(bytes, name)
      try body(&object, start..<lines.offset)
      start = lines.offset
    }
  }

  private func rows(_ detail: Detail, of message: Int) throws(ImportFault) -> [JSONObject] {
    guard let range = details[detail]?[message] else { return [] }
    let name = "\(detail.rawValue).jsonl"
    var lines = LineReader(try tree.source(name, range), name)
    var rows: [JSONObject] = []
    while let bytes = try lines.next() { rows.append(try Self.object(bytes, name)) }
    return rows
  }

  private static func object(_ line: [UInt8], _ name: String) throws(ImportFault) -> JSONObject {
    do throws(JSONError) { return try JSONValue(parsing: line).object() } catch {
      throw ImportFault("\(name) has a line that is not JSON, as in a cut file. Make the export again.")
    }
  }
}
