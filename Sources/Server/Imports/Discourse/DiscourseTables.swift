/// The rows of a dump of Discourse that an import needs.
struct DiscourseTables {
  /// The position of a post in the dump.
  struct Post {
    let id: Int
    let topic: Int
    let number: Int
    let parent: Int
    let time: Int64
    let offset: Int
    let length: Int
  }

  private struct Topic {
    let title: String
    let category: Int?
    let author: Int
    let time: Int64
    let isPinned: Bool
    let isLocked: Bool
    let isPrivate: Bool
    var participants: [Int] = []
    var tags: [String] = []
  }

  private struct Upload {
    let address: String
    let name: String
  }

  static let names: Set<String> = [
    "users", "user_emails", "user_profiles", "groups", "group_users", "categories", "topics", "topic_allowed_users",
    "tags",
    "topic_tags", "posts", "post_actions", "uploads",
  ]
  /// Columns without which a table can't be read.
  private static let needed: [String: [String]] = [
    "users": ["id", "username"], "categories": ["id", "name"], "topics": ["id", "title", "user_id", "created_at"],
    "posts": ["id", "user_id", "topic_id", "post_number", "raw", "created_at"],
  ]
  private static let like = 2

  private(set) var posts: [Post] = []
  private(set) var hasPosts = false
  private(set) var postColumns: [String: Int] = [:]
  /// Keys of the rooms of all categories.
  private(set) var rooms: [String] = []
  private var users: [Int: SourceUser] = [:]
  private var keys: [String: Int] = [:]
  private var groups: [Int: SourceGroup] = [:]
  private var forums: [Int: SourceForum] = [:]
  private var parents: [Int: Int] = [:]
  private var topics: [Int: Topic] = [:]
  private var tags: [Int: String] = [:]
  private var topicTags: [(topic: Int, tag: Int)] = []
  private var likes: [Int: [Int]] = [:]
  private var uploads: [String: Upload] = [:]
  private var leftOut: [String: Int] = [:]
  private var site: String?

  mutating func begin(_ table: String, _ columns: [String: Int]) throws(ImportFault) {
    for column in Self.needed[table] ?? [] where columns[column] == nil {
      throw ImportFault(
        "The table \(table) of the dump has no column \(column). Upgrade Discourse and make a new backup.")
    }
    if table == "posts" { (hasPosts, postColumns) = (true, columns) }
  }

  mutating func add(
    _ row: DiscourseRow, of table: String, at range: Range<Int>, _ clock: SourceClock
  ) throws(ImportFault) {
    switch table {
    case "users": try addUser(row, clock)
    case "user_emails":
      guard let user = row.number("user_id"), row["primary"] != "f" else { return }
      users[user]?.email = row.words("email")
    case "user_profiles":
      if let user = row.number("user_id") { users[user]?.bio = row["bio_raw"] ?? "" }
    case "groups":
      guard let id = row.number("id"), let name = row.words("name"), !row.isSet("automatic") else { return }
      groups[id] = SourceGroup(String(id), name: name)
    case "group_users":
      if let group = row.number("group_id"), let user = row.number("user_id") {
        groups[group]?.members.insert(String(user))
      }
    case "categories": try addCategory(row, clock)
    case "topics": try addTopic(row, clock)
    case "topic_allowed_users":
      if let topic = row.number("topic_id"), let user = row.number("user_id") {
        topics[topic]?.participants.append(user)
      }
    case "tags": if let id = row.number("id"), let name = row.words("name") { tags[id] = name }
    case "topic_tags":
      if let topic = row.number("topic_id"), let tag = row.number("tag_id") { topicTags.append((topic, tag)) }
    case "posts": try addPost(row, at: range, clock)
    case "post_actions":
      guard row.number("post_action_type_id") == Self.like, row["deleted_at"] == nil, let post = row.number("post_id"),
        let user = row.number("user_id")
      else { return }
      likes[post, default: []].append(user)
    case "uploads":
      guard let address = row.words("url"), let digest = row.words("sha1") else { return }
      uploads[ShortAddress.encoded(hex: digest)] = Upload(
        address: address, name: row.words("original_filename") ?? "file")
    default: return
    }
  }

  private mutating func addUser(_ row: DiscourseRow, _ clock: SourceClock) throws(ImportFault) {
    guard let id = row.number("id"), let name = row.words("username") else { return }
    var user = SourceUser(String(id), name: name, displayName: row.words("name"))
    user.isBot = id < 0
    if let created = row["created_at"] {
      user.createdAt = try clock.dumped(created, of: "The user \(name)")
      // The user of the system is the first row of each site.
      if id == -1 || site == nil { site = "\(id)-\(created.filter { $0.isNumber })" }
    }
    users[id] = user
    keys[name.lowercased()] = id
    guard users.count <= ImportLimits.users else {
      throw ImportFault("The dump has more than \(ImportLimits.users) users.")
    }
  }

  private mutating func addCategory(_ row: DiscourseRow, _ clock: SourceClock) throws(ImportFault) {
    guard let id = row.number("id"), let name = row.words("name") else { return }
    var forum = SourceForum(String(id), title: name)
    forum.description = DiscourseText.withoutTags(row["description"] ?? "")
    if let created = row["created_at"] { forum.createdAt = try clock.dumped(created, of: "The category \(name)") }
    forums[id] = forum
    parents[id] = row.number("parent_category_id")
    guard forums.count <= ImportLimits.forums else {
      throw ImportFault("The dump has more than \(ImportLimits.forums) categories.")
    }
  }

  private mutating func addTopic(_ row: DiscourseRow, _ clock: SourceClock) throws(ImportFault) {
    guard let id = row.number("id"), let title = row.words("title"), row["deleted_at"] == nil else { return }
    topics[id] = Topic(
      title: title, category: row.number("category_id"), author: row.number("user_id") ?? -1,
      time: try clock.dumped(row["created_at"], of: "The topic \(id)"), isPinned: row["pinned_at"] != nil,
      isLocked: row.isSet("closed") || row.isSet("archived"), isPrivate: row["archetype"] == "private_message")
    guard topics.count <= ImportLimits.topics else {
      throw ImportFault("The dump has more than \(ImportLimits.topics) topics.")
    }
  }

  private mutating func addPost(_ row: DiscourseRow, at range: Range<Int>, _ clock: SourceClock) throws(ImportFault) {
    guard let id = row.number("id"), let topic = row.number("topic_id"), let number = row.number("post_number") else {
      throw ImportFault("The dump has a post without id, topic_id or post_number. Make a new backup.")
    }
    let time = try clock.dumped(row["created_at"], of: "The post \(id)")
    if let edited = row["last_version_at"] { _ = try clock.dumped(edited, of: "The post \(id)") }
    if row["deleted_at"] != nil || row.isSet("user_deleted") { return leaveOut("deleted posts") }
    switch row["post_type"] ?? "1" {
    case "1", "2": break
    case "4": return leaveOut("whispers of the staff")
    default: return leaveOut("notices of closed, pinned and moved topics")
    }
    guard !row.isSet("hidden") else { return leaveOut("posts hidden by flags") }
    guard row["raw"]?.isEmpty == false else { return leaveOut("posts without text") }
    guard posts.count < ImportLimits.posts else {
      throw ImportFault("The dump has more than \(ImportLimits.posts) posts.")
    }
    posts.append(
      Post(
        id: id, topic: topic, number: number, parent: row.number("reply_to_post_number") ?? 0, time: time,
        offset: range.lowerBound, length: range.count - 1))
  }

  private mutating func leaveOut(_ reason: String) { leftOut[reason, default: 0] += 1 }

  // MARK: Result

  mutating func overview(_ hasUpload: (String) throws(ImportFault) -> Bool) throws(ImportFault) -> SourceOverview {
    var overview = SourceOverview()
    overview.site = site
    for (topic, tag) in topicTags { if let name = tags[tag] { topics[topic]?.tags.append(name) } }
    let known = posts.filter { topics[$0.topic] != nil }
    if known.count < posts.count { leftOut["posts of deleted topics", default: 0] += posts.count - known.count }
    posts = known
    try checkReplies()
    addForums(to: &overview)
    for topic in orderedTopics() { if let made = conversation(topic) { overview.conversations.append(made) } }
    for user in users.values { overview.users[user.key] = user }
    overview.groups = groups.values.sorted { $0.key < $1.key }
    overview.messageCount = posts.count
    for upload in uploads.values { if try hasUpload(upload.address) { overview.fileCount += 1 } }
    overview.leftOut = leftOut
    for user in users.values where !user.isBot {
      overview.addresses.append(("u/\(user.name.lowercased())", .user, user.key))
    }
    for id in forums.keys { overview.addresses.append(("c/\(id)", .forum, String(id))) }
    return overview
  }

  private mutating func addForums(to overview: inout SourceOverview) {
    let isUncategorized = topics.values.contains { !$0.isPrivate && ($0.category.map { forums[$0] == nil } ?? true) }
    if isUncategorized, forums[0] == nil { forums[0] = SourceForum("0", title: "Uncategorized") }
    for (id, parent) in parents {
      let section = forums[parent]?.title
      forums[id]?.section = section
    }
    let sections = Set(parents.values)
    for id in sections where parents[id] == nil {
      let section = forums[id]?.title
      forums[id]?.section = section
    }
    overview.forums = forums.sorted { $0.key < $1.key }.map(\.value)
    rooms = overview.forums.map { "room-\($0.key)" }
    overview.conversations = overview.forums.map { SourceConversation("room-\($0.key)", .room, forum: $0.key) }
  }

  /// Topics by the time of their last post.
  private func orderedTopics() -> [Int] {
    var last: [Int: Int64] = [:]
    for post in posts { last[post.topic] = max(last[post.topic] ?? 0, post.time) }
    return topics.keys.filter { last[$0] != nil }.sorted { (last[$0] ?? 0, $0) < (last[$1] ?? 0, $1) }
  }

  private func conversation(_ id: Int) -> SourceConversation? {
    guard let topic = topics[id] else { return nil }
    var conversation: SourceConversation
    if topic.isPrivate {
      conversation = SourceConversation(String(id), .group, title: topic.title)
      conversation.participants = (topic.participants + [topic.author]).reduce(into: []) { list, user in
        let key = String(user)
        if users[user] != nil, !list.contains(where: { $0.user == key }) {
          list.append(SourceMember(key, role: "member"))
        }
      }
    } else {
      let forum = topic.category.flatMap { forums[$0] == nil ? nil : $0 } ?? 0
      conversation = SourceConversation(String(id), .topic, forum: String(forum), title: topic.title)
      conversation.isPinned = topic.isPinned
      conversation.isLocked = topic.isLocked
    }
    conversation.creator = users[topic.author] == nil ? nil : String(topic.author)
    conversation.createdAt = topic.time
    return conversation
  }

  /// Posts by topic, in the order of `conversations`, then by their number.
  func sortedPosts() -> [Post] {
    let rank = Dictionary(orderedTopics().enumerated().map { ($1, $0) }) { one, _ in one }
    return posts.sorted { (rank[$0.topic] ?? 0, $0.number) < (rank[$1.topic] ?? 0, $1.number) }
  }

  /// Refuses replies that lead back to themselves.
  private func checkReplies() throws(ImportFault) {
    let later = posts.filter { $0.parent >= $0.number }
    guard !later.isEmpty else { return }
    let affected = Set(later.map(\.topic))
    var parents: [Int: [Int: Int]] = [:]
    for post in posts where affected.contains(post.topic) {
      parents[post.topic, default: [:]][post.number] = post.parent
    }
    for post in later {
      var (number, steps) = (post.parent, 0)
      while number > 0, let next = parents[post.topic]?[number] {
        steps += 1
        guard number != post.number, steps <= ImportLimits.replyDepth else {
          throw ImportFault(
            "The replies of the topic \(post.topic) are a cycle. Repair it in Discourse and make a new backup.")
        }
        number = next
      }
    }
  }

  func message(_ row: DiscourseRow, _ post: Post, after last: Int64, _ clock: SourceClock) throws(ImportFault)
    -> SourceMessage
  {
    let author = row.number("user_id").flatMap { users[$0] == nil ? nil : $0 } ?? -1
    var text = DiscourseText(row["raw"] ?? "")
    var files: [SourceAttachment] = []
    text.replaceUploads { key, label, isPicture in
      guard let upload = uploads[key] else { return label }
      files.append(SourceAttachment(key, name: upload.name, .file(upload.address)))
      return isPicture ? "![\(label)](attachment:\(files.count))" : "📎 \(upload.name)"
    }
    var message = SourceMessage(
      "\(post.topic):\(post.number)", in: String(post.topic), by: String(author), at: max(last, post.time),
      text.converted { keys[$0.lowercased()].map(String.init) })
    if post.number == 1, let tags = topics[post.topic]?.tags, !tags.isEmpty {
      message.text.appendBlock(tags.compactMap { DiscourseText.hashtag($0) }.joined(separator: " "))
    }
    message.files = files
    message.replyTo = post.parent > 0 ? "\(post.topic):\(post.parent)" : nil
    if let version = row.number("version"), version > 1, let edited = row["last_version_at"] {
      message.editedAt = max(message.time, try clock.dumped(edited, of: "The post \(post.id)"))
    }
    if let users = likes[post.id] { message.reactions = [SourceReaction("like", by: users.map(String.init))] }
    return message
  }
}

/// The numbers of short addresses of uploads: a SHA-1 in base 62.
enum ShortAddress {
  private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

  static func encoded(hex: String) -> String {
    var number = hex.utf8.compactMap { byte -> Int? in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 48
      case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 87
      default: nil
      }
    }
    guard number.count <= 64 else { return "" }
    var text: [UInt8] = []
    while number.contains(where: { $0 != 0 }) {
      var rest = 0
      for index in number.indices {
        let value = rest * 16 + number[index]
        (number[index], rest) = (value / 62, value % 62)
      }
      text.append(digits[rest])
    }
    return String(decoding: text.reversed(), as: UTF8.self)
  }
}
