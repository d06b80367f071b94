public import ParleyJSON

/// Named, coloured set of users. It shares its name space with users, since both can be mentioned.
public struct UserGroup: Sendable, Hashable {
  public let id: ID<UserGroup>
  /// Of the same form as the name of a user.
  public var name = ""
  /// Colour of the badge in degrees.
  public var hue = 260
  /// Whether users may join and leave by themselves.
  public var isSelfChosen = false
  public package(set) var revision = 1

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
public struct UserGroupDraft: Sendable, Equatable {
  /// A patch of `UserGroup.blank`.
  public var fields: Patch<UserGroup>
  public var clientID: String?

  public init(_ fields: Patch<UserGroup>, clientID: String? = nil) {
    self.fields = fields
    self.clientID = clientID
  }
}

extension UserGroupDraft: JSONWritable {
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    clientID = try object.optional("client_id")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let clientID { json.field("client_id", clientID) }
    }
  }
}

/// PATCH of a group of users. Absent members stay unchanged.
public struct UserGroupChange: Sendable, Equatable {
  public var fields: Patch<UserGroup>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  public init(_ fields: Patch<UserGroup> = [], ifRevision: Int? = nil) {
    self.fields = fields
    self.ifRevision = ifRevision
  }
}

extension UserGroupChange: JSONWritable {
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
