public import ParleyJSON

/// Request to create a forum.
public struct ForumDraft: Sendable {
  public var title: String
  public var about = ""
  public var iconURL: String?
  public var icon: ID<File>?
  public var visibility: Visibility
  public var write = ForumPolicy.readers
  public var startTopics = ForumPolicy.readers
  public var section: String?
  /// Nil for the end of its section.
  public var position: Int?
  public var clientID: String?

  public init(title: String, visibility: Visibility) {
    self.title = title
    self.visibility = visibility
  }

  public init(_ object: inout JSONObject) throws(JSONError) {
    title = try object.string("title")
    about = try object.optional("description") ?? ""
    iconURL = try object.optional("icon_url")
    icon = try object.optional("icon_file")
    visibility = try object.optionalWord("visibility") ?? .members
    write = try object.optionalWord("write") ?? .readers
    startTopics = try object.optionalWord("start_topics") ?? .readers
    section = try object.optional("section")
    position = try object.optional("position") { value throws(JSONError) in try value.int(in: Forum.positions) }
    clientID = try object.optional("client_id")
  }

  /// Whether the draft sets the forum's position in the list.
  public var arranges: Bool { section != nil || position != nil }
}
