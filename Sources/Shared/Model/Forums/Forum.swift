public import ParleyJSON

/// Forum for a subject: one live room, and topics.
public struct Forum: Sendable, Hashable {
  /// The id of the forum.
  public let id: ID<Forum>
  /// The title, unique among all forums; at most 120 characters.
  public var title: String
  /// The description, at most 2,000 characters; empty without one.
  public var about = ""
  /// The address of a picture; nil for a picture generated from the title.
  public var iconURL: String?
  /// Overrides `iconURL`.
  /// The id of a picture that was uploaded; nil without one.
  public var icon: ID<File>?
  /// The readers: anyone, all users except guests, or members only.
  public var visibility: Visibility
  /// The users that may write in the room and in topics.
  public var write = ForumPolicy.readers
  /// The users that may start topics.
  public var startTopics = ForumPolicy.readers
  /// Permission to mention all members at once.
  public var roomMention = ForumPolicy.moderators
  /// Section heading and position in the list; only staff may set them.
  public var section: String?
  /// The sort position in the list of forums, within `positions`; only staff may set it.
  public var position = 0
  /// Minimum seconds between two messages of a user; 0 for no limit.
  public var slowSeconds = 0
  /// Whether only moderators may write, react and start topics.
  public var isLocked = false
  /// Whether the forum is closed to writing and reactions, for moderators too.
  public var isArchived = false
  /// Whether topics can be marked as solved.
  public var isSolvable = false
  /// Whether all readers may see previous revisions of edited messages.
  public var showsRevisions = false
  /// Whether each new user joins; only staff may set it.
  public var isDefault = false
  /// Groups whose members may read besides the other readers, by id. They do not become members of the forum.
  public var readGroups: [ID<UserGroup>] = []
  /// Groups whose members may read, write and start topics besides the others, by id.
  public var writeGroups: [ID<UserGroup>] = []
  /// Address of the forum's voice call.
  public var callURL: String?
  /// The id of the room's conversation.
  public let room: ID<Conversation>
  /// The id of the creator.
  public let createdBy: ID<User>
  /// The time of the creation, in milliseconds since 1970.
  public let createdAt: Int64
  /// Newest message in the room or a topic.
  public package(set) var lastMessage: ID<Message>?
  /// Increases with each change of the forum; 1 at first.
  public package(set) var revision: Int

  /// Sort key for "newest activity first". Ids grow with time, so a forum without messages sorts by its creation.
  public var activity: Int { max(lastMessage?.number ?? 0, id.number) }

  /// Range of `position`.
  public static let positions = 0...1_000_000
  /// Default gap between the positions of two forums, so that another fits between.
  public static let positionStep = 10
  /// Range of `slowSeconds`, up to a day.
  public static let slowness = 0...86_400
  /// Upper bound of member counts.
  public static let maxCounted = 1_000

  /// A forum with default values for all policies and settings except its visibility.
  public init(
    id: ID<Forum>, title: String = "", visibility: Visibility = .members, room: ID<Conversation>, createdBy: ID<User>,
    createdAt: Int64, lastMessage: ID<Message>? = nil, revision: Int = 1
  ) {
    self.id = id
    self.title = title
    self.visibility = visibility
    self.room = room
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.lastMessage = lastMessage
    self.revision = revision
  }

  /// Search key of a title or a part of one: case-folded, Latin letters without accents.
  public static func key(_ title: String) -> String {
    var key = String.UnicodeScalarView()
    for scalar in title.unicodeScalars { key.append(SearchFolding.fold(scalar)) }
    return String(key)
  }
}

extension Forum: Record {
  /// Default values: the base of a `Patch`.
  public static let blank = Forum(id: ID(0), room: ID(0), createdBy: ID(0), createdAt: 0)

  /// Passes each field that a PATCH may change to a visitor, by the name of its JSON member.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Forum>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("title", &title, \.title)
    try visitor.field("description", &about, \.about)
    try visitor.field("icon_url", &iconURL, \.iconURL)
    try visitor.field("icon_file", &icon, \.icon, column: "icon_file_id")
    try visitor.field("visibility", &visibility, \.visibility)
    try visitor.field("write", &write, \.write)
    try visitor.field("start_topics", &startTopics, \.startTopics)
    try visitor.field("room_mention", &roomMention, \.roomMention)
    try visitor.field("section", &section, \.section)
    try visitor.field("position", &position, \.position, in: Self.positions)
    try visitor.field("slow_seconds", &slowSeconds, \.slowSeconds, in: Self.slowness)
    try visitor.field("locked", &isLocked, \.isLocked)
    try visitor.field("archived", &isArchived, \.isArchived, column: "archived_at")
    try visitor.field("solvable", &isSolvable, \.isSolvable)
    try visitor.field("shows_revisions", &showsRevisions, \.showsRevisions)
    try visitor.field("is_default", &isDefault, \.isDefault)
    try visitor.field("read_groups", &readGroups, \.readGroups)
    try visitor.field("write_groups", &writeGroups, \.writeGroups)
    try visitor.field("call_url", &callURL, \.callURL)
  }
}

extension Forum {
  /// The groups with access, by id.
  public var groups: [ID<UserGroup>] { Set(readGroups + writeGroups).sorted() }

  /// The access of the members of a group.
  public func access(of group: ID<UserGroup>) -> GroupAccess? {
    if writeGroups.contains(group) { return .write }
    return readGroups.contains(group) ? .read : nil
  }

  /// The groups whose access differs in another state of the forum, by id.
  public func groups(changedFrom before: Forum) -> [ID<UserGroup>] {
    Set(groups + before.groups).sorted().filter { access(of: $0) != before.access(of: $0) }
  }
}

extension Forum: JSONMembers {
  /// Writes the members for all viewers into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    writeFields(to: &json)
    json.field("room_id", room)
    json.field("last_message_id", lastMessage)
    json.field("created_by", createdBy)
    json.field("created_at", Timestamp(createdAt))
    json.field("revision", revision)
  }

  /// Decodes the members for all viewers; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), room: try object.read("room_id"), createdBy: try object.read("created_by"),
      createdAt: Int64(createdAt.milliseconds), lastMessage: try object.optional("last_message_id"),
      revision: try object.int("revision", in: 1...Int.max))
    try readFields(from: &object)
  }
}

/// The newest topic of a forum, for its tile.
public struct LastTopic: Sendable, Hashable {
  /// The id of the topic, a conversation.
  public let id: ID<Conversation>
  /// The title of the topic.
  public let title: String
  /// The author of its newest message; the creator of a topic without messages.
  public let author: ID<User>
  /// The time of the newest message, or else of the creation, in milliseconds since 1970.
  public let lastActivityAt: Int64

  /// The newest topic of a forum, with its last author.
  public init(id: ID<Conversation>, title: String, author: ID<User>, lastActivityAt: Int64) {
    self.id = id
    self.title = title
    self.author = author
    self.lastActivityAt = lastActivityAt
  }
}

/// Facts in lists of forums, beside the forum.
public struct ForumActivity: Sendable, Hashable {
  /// The time of the newest message; nil without one.
  /// In milliseconds since 1970.
  public var lastActivityAt: Int64?
  /// The topic with the newest activity; nil without topics.
  public var lastTopic: LastTopic?
  /// At most `Forum.maxCounted`.
  public var topicCount = 0
  /// Unread messages of the room and of the viewer's topics, by notification level; nil for visitors.
  public var unread: Int?
  /// New topics for the viewer, as `UnreadItem.newTopics` counts them; nil for visitors.
  public var newTopics: Int?

  /// The activity of a forum without messages and topics.
  public init() {}
}

/// A forum as one viewer sees it.
public struct ForumView: Sendable, Hashable {
  /// The members that all viewers see.
  public var forum: Forum
  /// The viewer's role; nil for non-members.
  public var role: ForumRole?
  /// The viewer's access by groups, independent of the role.
  public var groupAccess: GroupAccess?
  /// At most `Forum.maxCounted`. For viewers that may list its members.
  public var memberCount: Int?
  /// Only in lists, for readers.
  public var activity: ForumActivity?
  /// Number of messages that a wider visibility has opened to new readers; only in the response to that change.
  public var opened: Int?
  /// Job that revokes access after a narrower visibility; only in the response to that change.
  public var job: ID<Job>?

  /// A forum with the members for one viewer.
  public init(
    _ forum: Forum, role: ForumRole? = nil, groupAccess: GroupAccess? = nil, memberCount: Int? = nil,
    opened: Int? = nil
  ) {
    self.forum = forum
    self.role = role
    self.groupAccess = groupAccess
    self.memberCount = memberCount
    self.opened = opened
  }

  /// The facts by which the viewer's rights are derived; of a silenced one, those to read.
  public var standing: ForumStanding { ForumStanding(forum, role: role, groupAccess: groupAccess) }
}

extension LastTopic: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("title", title)
      json.field("author_id", author)
      json.field("last_activity_at", Timestamp(lastActivityAt))
    }
  }
}

extension LastTopic: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let lastActivityAt: Timestamp = try object.read("last_activity_at")
    self.init(
      id: try object.read("id"), title: try object.string("title"), author: try object.read("author_id"),
      lastActivityAt: Int64(lastActivityAt.milliseconds))
  }
}

extension ForumActivity {
  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.field("last_activity_at", lastActivityAt.map { Timestamp($0) })
    json.field("last_topic", lastTopic)
    json.field("topic_count", topicCount)
    if let unread { json.field("unread_count", unread) }
    if let newTopics { json.field("new_topics", newTopics) }
  }

  /// Nil without the members of lists.
  fileprivate init?(_ object: inout JSONObject) throws(JSONError) {
    guard let topicCount: Int = try object.optional("topic_count") else { return nil }
    self.topicCount = topicCount
    let lastActivityAt: Timestamp? = try object.optional("last_activity_at")
    self.lastActivityAt = lastActivityAt.map { Int64($0.milliseconds) }
    lastTopic = try object.optional("last_topic")
    unread = try object.optional("unread_count")
    newTopics = try object.optional("new_topics")
  }
}

extension ForumView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      forum.writeMembers(to: &json)
      json.field("role", role?.rawValue)
      json.field("group_access", groupAccess?.rawValue)
      if let memberCount { json.field("member_count", memberCount) }
      activity?.writeMembers(to: &json)
      if let opened { json.field("opened", opened) }
      if let job { json.field("job_id", job) }
    }
  }
}

extension ForumView: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try Forum(&object), role: try object.optionalWord("role"), groupAccess: try object.optionalWord("group_access"),
      memberCount: try object.optional("member_count"), opened: try object.optional("opened"))
    activity = try ForumActivity(&object)
    job = try object.optional("job_id")
  }
}
