public import ParleyJSON

/// The data of a first screen at one moment, and the cursor to resume the events from.
public struct Snapshot: Sendable, Hashable {
  /// The position in the event log: the snapshot includes all events up to it.
  public var cursor: EventCursor
  /// The user of the snapshot, with all members.
  public var me: User
  /// The settings of the site.
  public var settings: SiteSettings
  /// The forums that the user may see, newest activity first; at most 1,000.
  public var forums: [ForumView] = []
  /// The lists are limited; pagination returns the rest.
  public var hasMoreForums = false
  /// Whether the user has more conversations than those of the snapshot.
  public var hasMoreConversations = false
  /// The user's own conversations, last active first.
  public var conversations: [OwnConversation] = []
  /// Notification levels that the user has set.
  public var levels: [LevelScope: Level] = [:]
  /// The user's follows, mutes and blocks, by the other user.
  public var relations: [ID<User>: Set<Relation>] = [:]
  /// Unread notifications by kind.
  public var inbox = InboxCounts()
  /// All users that the other members refer to.
  public var users: [User] = []
  /// The last offsets of the site's stream and the user's own stream.
  public var offsets: [EventStream: Int] = [:]

  /// A snapshot without forums and conversations, which are added afterwards.
  public init(_ cursor: EventCursor, me: User, settings: SiteSettings) {
    self.cursor = cursor
    self.me = me
    self.settings = settings
  }
}

extension Snapshot: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("cursor", cursor)
      json.field("me", me)
      json.field("settings", settings)
      json.field("forums", forums)
      json.field("more_forums", hasMoreForums)
      json.field("conversations", conversations)
      json.field("more_conversations", hasMoreConversations)
      json.array("levels") { json in
        for (scope, level) in levels.sorted(by: { $0.key.number < $1.key.number }) {
          json.object { json in
            scope.writeMember(to: &json)
            json.field("level", level.rawValue)
          }
        }
      }
      json.object("relations") { json in
        for kind in Relation.allCases {
          json.field(kind.rawValue, relations.filter { $0.value.contains(kind) }.keys.sorted())
        }
      }
      json.field("inbox", inbox)
      json.field("users", users)
      json.object("offsets") { json in
        for (stream, offset) in offsets.sorted(by: { $0.key.number < $1.key.number }) {
          json.field(stream.description, offset)
        }
      }
    }
  }
}

extension Snapshot: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("cursor"), me: try object.read("me"), settings: try object.read("settings"))
    forums = try object.read("forums")
    hasMoreForums = try object.bool("more_forums")
    conversations = try object.read("conversations")
    hasMoreConversations = try object.bool("more_conversations")
    let scopedLevels: [ScopedLevel] = try object.read("levels")
    for level in scopedLevels { levels[level.scope] = level.level }
    var kinds = try object.object("relations")
    for kind in Relation.allCases {
      let users: [ID<User>] = try kinds.read(kind.rawValue)
      for user in users { relations[user, default: []].insert(kind) }
    }
    inbox = try object.read("inbox")
    users = try object.read("users")
    var ends = try object.object("offsets")
    for (name, offset) in ends.members() {
      guard let stream = EventStream(name) else { throw offset.error(.invalid) }
      offsets[stream] = try offset.int(in: 0...Int.max)
    }
  }
}

private struct ScopedLevel: JSONReadable {
  let scope: LevelScope
  let level: Level

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    scope = try LevelScope(&object)
    level = try object.word("level")
  }
}
