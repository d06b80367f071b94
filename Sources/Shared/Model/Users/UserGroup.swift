public import ParleyJSON

/// Named, coloured set of users. It shares its name space with users, since both can be mentioned.
public struct UserGroup: Sendable, Hashable {
  /// The id of the group.
  public let id: ID<UserGroup>
  /// The name, in the form of the name of a user.
  public var name = ""
  /// Colour of the badge in degrees.
  public var hue = 260
  /// Whether users may join and leave by themselves.
  public var isSelfChosen = false
  /// The users that may notify the members with `@name`, besides staff.
  public var mentionableBy = Mentioners.members
  /// Increases with each change.
  public package(set) var revision = 1

  /// Users that may mention a group.
  public enum Mentioners: String, Sendable, Hashable, CaseIterable {
    /// All users except guests, and all members.
    case users
    /// The members of the group, or the staff.
    case members, staff
  }

  /// The permitted values of `hue`, in degrees.
  public static let hues = SiteSettings.hues

  /// A group without a name, with default values.
  public init(id: ID<UserGroup>, revision: Int = 1) {
    self.id = id
    self.revision = revision
  }
}

extension UserGroup: Record {
  /// A group with default values, for visitors of names and types.
  public static let blank = UserGroup(id: ID(0))

  /// Visits the fields that a PATCH may change, as JSON members and as columns.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<UserGroup>>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("name", &name, \.name)
    try visitor.field("hue", &hue, \.hue, in: Self.hues)
    try visitor.field("self_chosen", &isSelfChosen, \.isSelfChosen)
    try visitor.field("mentionable_by", &mentionableBy, \.mentionableBy)
  }
}

extension UserGroup: JSONMembers {
  /// Decodes a group from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(id: try object.read("id"), revision: try object.int("revision", in: 1...Int.max))
    try readFields(from: &object)
  }

  /// Encodes the members of a group.
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
