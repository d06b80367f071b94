public import ParleyJSON

/// What a PATCH of a forum says. What is absent stays.
public struct ForumChange: Sendable, Hashable {
  public var title: String?
  public var about: String?
  public var iconURL = Change<String>.unchanged
  public var icon = Change<ID<File>>.unchanged
  public var visibility: Visibility?
  /// With a wider visibility: from where on those may read whom it lets in.
  public var from: HistoryStart?
  public var write: ForumPolicy?
  public var startTopics: ForumPolicy?
  public var roomMention: ForumPolicy?
  public var isArchived: Bool?
  public var isSolvable: Bool?
  public var showsRevisions: Bool?
  public var callURL = Change<String>.unchanged
  // What the place's staff decides.
  public var section = Change<String>.unchanged
  public var position: Int?
  // What keeps order.
  public var slowSeconds: Int?
  public var isLocked: Bool?
  public var reason: String?
  /// Refused unless it is the present one.
  public var ifRevision: Int?

  public enum HistoryStart: String, Sendable {
    case now, beginning
  }

  /// Nothing yet.
  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.optional("title")
    about = try object.optional("description")
    iconURL = try object.change("icon_url")
    icon = try object.change("icon_file")
    visibility = try object.optionalWord("visibility")
    from = try object.optionalWord("from")
    write = try object.optionalWord("write")
    startTopics = try object.optionalWord("start_topics")
    roomMention = try object.optionalWord("room_mention")
    isArchived = try object.optional("archived")
    isSolvable = try object.optional("solvable")
    showsRevisions = try object.optional("shows_revisions")
    callURL = try object.change("call_url")
    section = try object.change("section")
    position = try object.optional("position") { value throws(JSONError) in try value.int(in: Forum.positions) }
    slowSeconds = try object.optional("slow_seconds") { value throws(JSONError) in try value.int(in: Forum.slowness) }
    isLocked = try object.optional("locked")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  /// Whether it says something of what the forum is, and not only how order is kept in it.
  public var changesForum: Bool {
    title != nil || about != nil || iconURL != .unchanged || icon != .unchanged || visibility != nil || write != nil
      || startTopics != nil
      || roomMention != nil || isArchived != nil || isSolvable != nil || showsRevisions != nil || callURL != .unchanged
      || arranges
  }

  /// Whether it says where the forum stands among the others.
  public var arranges: Bool { section != .unchanged || position != nil }

  public func applied(to forum: Forum) -> Forum {
    var forum = forum
    forum.title = title ?? forum.title
    forum.about = about ?? forum.about
    forum.iconURL = iconURL.applied(to: forum.iconURL)
    forum.icon = icon.applied(to: forum.icon)
    forum.visibility = visibility ?? forum.visibility
    forum.write = write ?? forum.write
    forum.startTopics = startTopics ?? forum.startTopics
    forum.roomMention = roomMention ?? forum.roomMention
    forum.isArchived = isArchived ?? forum.isArchived
    forum.isSolvable = isSolvable ?? forum.isSolvable
    forum.showsRevisions = showsRevisions ?? forum.showsRevisions
    forum.callURL = callURL.applied(to: forum.callURL)
    forum.section = section.applied(to: forum.section)
    forum.position = position ?? forum.position
    forum.slowSeconds = slowSeconds ?? forum.slowSeconds
    forum.isLocked = isLocked ?? forum.isLocked
    return forum
  }
}

extension Change {
  /// What is there after it.
  public func applied(to value: Value?) -> Value? {
    switch self {
    case .unchanged: value
    case .cleared: nil
    case .set(let value): value
    }
  }
}
