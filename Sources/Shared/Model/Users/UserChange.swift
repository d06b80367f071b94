public import ParleyJSON

/// PATCH of a user. Absent members stay unchanged.
public struct UserChange: Sendable, Equatable {
  /// The profile; the role is set by staff.
  public var fields: Patch<UserSummary>
  /// Private settings.
  public var own: Patch<User.Own>
  /// Addresses for discovery; they replace the previous ones.
  public var addresses: [String]?
  // Set by staff.
  /// The new name, unique on the site; nil for no change.
  public var name: String?
  /// True to disable the user, false to enable them again; nil for no change.
  public var isDisabled: Bool?
  /// Ends all sessions and tokens of the user, except the caller's own session.
  public var endsSessions: Bool?
  /// The reason in the audit log, at most 1,000 characters; nil for none.
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// New values of some members; nil and an empty patch stand for no change.
  public init(
    _ fields: Patch<UserSummary> = [], own: Patch<User.Own> = [], addresses: [String]? = nil, name: String? = nil,
    isDisabled: Bool? = nil, endsSessions: Bool? = nil, reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.fields = fields
    self.own = own
    self.addresses = addresses
    self.name = name
    self.isDisabled = isDisabled
    self.endsSessions = endsSessions
    self.reason = reason
    self.ifRevision = ifRevision
  }

  /// Whether the change is permitted to the user only.
  public var isOwn: Bool { !own.isEmpty || addresses != nil }

  /// Whether the change needs staff.
  public var governs: Bool { fields.contains(\.role) || name != nil || isDisabled != nil || endsSessions != nil }
}

extension UserChange: JSONWritable {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    own = try Patch(&object)
    _ = try object.optional("preferences") { value throws(JSONError) in try value.object() }
    addresses = try object.optional("addresses")
    name = try object.optional("name")
    isDisabled = try object.optional("disabled")
    endsSessions = try object.optional("end_sessions")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      own.writeMembers(to: &json)
      if let addresses { json.field("addresses", addresses) }
      if let name { json.field("name", name) }
      if let isDisabled { json.field("disabled", isDisabled) }
      if let endsSessions { json.field("end_sessions", endsSessions) }
      if let reason { json.field("reason", reason) }
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
