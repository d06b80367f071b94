public import ParleyJSON

/// What a PATCH of a user says. What is absent stays.
public struct UserChange: Sendable, Hashable {
  // The profile.
  public var displayName = Change<String>.unchanged
  public var bio: String?
  // What is one's own.
  public var isDiscoverable: Bool?
  public var reachableBy: Reach?
  public var showsReceipts: Bool?
  public var showsPresence: Bool?
  public var preferences: JSONRaw?
  /// To be found by; these in the place of those before.
  public var addresses: [String]?
  // What the staff decides.
  public var name: String?
  public var role: Role?
  public var isDisabled: Bool?
  public var reason: String?
  /// Refused unless it is the present one.
  public var ifRevision: Int?

  /// Nothing yet.
  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    displayName = try object.change("display_name")
    bio = try object.optional("bio")
    isDiscoverable = try object.optional("discoverable")
    reachableBy = try object.optionalWord("reachable_by")
    showsReceipts = try object.optional("show_receipts")
    showsPresence = try object.optional("show_presence")
    preferences = try object.optional("preferences") { value throws(JSONError) in
      guard value.kind == .object else { throw value.error(.wrongType(expected: .object)) }
      return value.raw.compact
    }
    addresses = try object.optional("addresses")
    name = try object.optional("name")
    role = try object.optionalWord("role")
    isDisabled = try object.optional("disabled")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  /// Whether it says something that only the user may say.
  public var isOwn: Bool {
    isDiscoverable != nil || reachableBy != nil || showsReceipts != nil || showsPresence != nil
      || preferences != nil || addresses != nil
  }

  /// Whether it says something that only the staff may say.
  public var governs: Bool { name != nil || role != nil || isDisabled != nil }
}
