public import ParleyJSON

/// PATCH of a forum. Absent members stay unchanged.
public struct ForumChange: Sendable, Hashable {
  public var title: String?
  public var about: String?
  public var iconURL = Change<String>.unchanged
  public var icon = Change<ID<File>>.unchanged
  public var visibility: Visibility?
  /// With a wider visibility: start of the history that is open to new readers.
  public var from: HistoryStart?
  public var write: ForumPolicy?
  public var startTopics: ForumPolicy?
  public var roomMention: ForumPolicy?
  public var isArchived: Bool?
  public var isSolvable: Bool?
  public var showsRevisions: Bool?
  public var callURL = Change<String>.unchanged
  // Set by site staff.
  public var section = Change<String>.unchanged
  public var position: Int?
  // Set by moderators.
  public var slowSeconds: Int?
  public var isLocked: Bool?
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public enum HistoryStart: String, Sendable {
    case now, beginning
  }

  /// An empty change.
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

  /// Whether the change concerns the forum itself and not only its moderation.
  public var changesForum: Bool {
    title != nil || about != nil || iconURL != .unchanged || icon != .unchanged || visibility != nil || write != nil
      || startTopics != nil
      || roomMention != nil || isArchived != nil || isSolvable != nil || showsRevisions != nil || callURL != .unchanged
      || arranges
  }

  /// Whether the change sets the forum's position in the list.
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
  /// The value after the change.
  public func applied(to value: Value?) -> Value? {
    switch self {
    case .unchanged: value
    case .cleared: nil
    case .set(let value): value
    }
  }
}
