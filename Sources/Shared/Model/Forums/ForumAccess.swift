public import ParleyJSON

/// Hypothetical user, or a visitor, whose view of the forums staff examines.
public enum ForumViewer: Sendable, Hashable {
  /// A request without an account.
  case visitor
  /// A guest without forums.
  case guest
  /// A member on probation.
  case newcomer
  /// A member of this group alone.
  case group(ID<UserGroup>)

  /// The accepted values, for messages.
  public static let forms = ["visitor", "guest", "newcomer", "<group>"]

  /// Parses one of `forms`; nil for other text.
  public init?(_ text: String) {
    switch text {
    case "visitor": self = .visitor
    case "guest": self = .guest
    case "newcomer": self = .newcomer
    default:
      guard let group = ID<UserGroup>(text) else { return nil }
      self = .group(group)
    }
  }
}

extension ForumViewer: CustomStringConvertible {
  public var description: String {
    switch self {
    case .visitor: "visitor"
    case .guest: "guest"
    case .newcomer: "newcomer"
    case .group(let group): group.description
    }
  }
}

/// Permitted operations of a viewer in a forum.
public struct ForumAccess: Sendable, Hashable {
  /// Operations in a forum that depend on permissions.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    /// See the title, icon and description.
    case see
    /// Read the room and the topics.
    case read
    /// Like and react.
    case react
    /// Write in the room and in topics.
    case write
    /// Create a topic.
    case startTopics = "start_topics"
    /// Notify all members.
    case mentionRoom = "mention_room"
    /// Become a member.
    case join
  }

  /// The id of the forum.
  public let forum: ID<Forum>
  /// The title of the forum.
  public let title: String
  /// The readers: anyone, all users except guests, or members only.
  public let visibility: Visibility
  /// In the order of `Operation`; empty for a forum that the viewer does not see.
  public let operations: [Operation]
  /// Topics that the viewer sees, at most `Forum.maxCounted`.
  public let topicCount: Int

  /// The permissions of one viewer in a forum.
  public init(
    _ forum: ID<Forum>, title: String, visibility: Visibility, operations: [Operation], topicCount: Int
  ) {
    self.forum = forum
    self.title = title
    self.visibility = visibility
    self.operations = operations
    self.topicCount = topicCount
  }
}

extension ForumAccess: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum_id", forum)
      json.field("title", title)
      json.field("visibility", visibility.rawValue)
      json.field("operations", operations.map(\.rawValue))
      json.field("topic_count", topicCount)
    }
  }
}

extension ForumAccess: JSONReadable {
  /// Ignores unknown operations: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let operations: [String] = try object.read("operations")
    self.init(
      try object.read("forum_id"), title: try object.string("title"), visibility: try object.word("visibility"),
      operations: operations.compactMap { Operation(rawValue: $0) },
      topicCount: try object.int("topic_count", in: 0...Forum.maxCounted))
  }
}
