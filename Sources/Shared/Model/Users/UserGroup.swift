public import ParleyJSON

/// Named, coloured set of users. It shares its name space with users, since both can be mentioned.
public struct UserGroup: Sendable, Hashable {
  public let id: ID<UserGroup>
  /// The name, in the form of the name of a user.
  public var name = ""
  /// Colour of the badge in degrees.
  public var hue = 260
  /// Whether users may join and leave by themselves.
  public var isSelfChosen = false
  /// The users that may notify the members with `@name`, besides staff.
  public var mentionableBy = Mentioners.members
  public package(set) var revision = 1

  /// Users that may mention a group.
  public enum Mentioners: String, Sendable, Hashable, CaseIterable {
    /// All users except guests, and all members.
    case users
    case members, staff
  }

  public static let hues = SiteSettings.hues

  public init(id: ID<UserGroup>, revision: Int = 1) {
    self.id = id
    self.revision = revision
  }
}

extension UserGroup: Record {
  public static let blank = UserGroup(id: ID(0))

  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<UserGroup>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("name", &name, \.name)
    try visitor.field("hue", &hue, \.hue, in: Self.hues)
    try visitor.field("self_chosen", &isSelfChosen, \.isSelfChosen)
    try visitor.field("mentionable_by", &mentionableBy, \.mentionableBy)
  }
}

extension UserGroup: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(id: try object.read("id"), revision: try object.int("revision", in: 1...Int.max))
    try readFields(from: &object)
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    writeFields(to: &json)
    json.field("revision", revision)
  }
}

/// Request to create a group of users.
public typealias UserGroupDraft = RecordDraft<UserGroup>

/// PATCH of a group of users.
public typealias UserGroupChange = RecordChange<UserGroup>
