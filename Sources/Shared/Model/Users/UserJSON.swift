// A user as one JSON object: public members first, then restricted ones. Members that the viewer may not read are
// absent.

public import ParleyJSON

extension UserSummary: JSONMembers {
  /// Encodes the public members of a user.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    writeFields(to: &json)
    if let bioEntities { json.field("bio_entities", bioEntities) }
    if !groups.isEmpty { json.field("groups", groups) }
    json.field("avatar", avatar)
    if let avatarFile { json.field("avatar_file", avatarFile) }
    json.field("created_at", Timestamp(createdAt))
    json.field("revision", revision)
  }

  /// Decodes the public members of a user.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), name: try object.optional("name"), role: .guest,
      createdAt: Int64(createdAt.milliseconds), revision: try object.int("revision", in: 1...Int.max))
    try readFields(from: &object)
    bioEntities = try object.optional("bio_entities")
    groups = try object.optional("groups") ?? []
    avatarFile = try object.optional("avatar_file")
  }
}

extension User: JSONMembers {
  /// Encodes the public members of a user, and those of `standing` and `own` unless they are nil.
  public func writeMembers(to json: inout JSONWriter) {
    summary.writeMembers(to: &json)
    if let standing {
      json.field("state", standing.state.rawValue)
      json.field("imported", standing.isImported)
      json.field("last_seen_at", standing.lastSeenAt.map { Timestamp($0) })
      if summary.role == .bot { json.field("owner_id", standing.owner) }
    }
    if let own {
      own.writeFields(to: &json)
      if !own.silences.isEmpty { json.field("silences", own.silences) }
    }
  }

  /// Decodes a user with the members that the server has sent to this viewer.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(try UserSummary(&object), standing: try Standing(&object), own: try Own(&object))
  }
}

extension User.Standing {
  fileprivate init?(_ object: inout JSONObject) throws(JSONError) {
    guard let state: UserState = try object.optionalWord("state") else { return nil }
    let lastSeenAt: Timestamp? = try object.optional("last_seen_at")
    self.init(
      state: state, isImported: try object.bool("imported"), lastSeenAt: lastSeenAt.map { Int64($0.milliseconds) },
      owner: try object.optional("owner_id"))
  }
}

extension User.Own {
  fileprivate init?(_ object: inout JSONObject) throws(JSONError) {
    guard object.member("preferences") != nil else { return nil }
    self.init()
    try readFields(from: &object)
    silences = try object.optional("silences") ?? []
  }
}
