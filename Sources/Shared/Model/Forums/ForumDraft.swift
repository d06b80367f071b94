public import ParleyJSON

/// A forum that somebody asks to be made, as the request says it.
public struct ForumDraft: Sendable {
  public var title: String
  public var about = ""
  public var iconURL: String?
  public var icon: ID<File>?
  public var visibility: Visibility
  public var write = ForumPolicy.readers
  public var startTopics = ForumPolicy.readers
  public var section: String?
  /// Nil for behind the others of its section.
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

  /// Whether it says where it stands among the others.
  public var arranges: Bool { section != nil || position != nil }
}
