public import ParleyJSON

/// PATCH of a user. Absent members stay unchanged.
public struct UserChange: Sendable, Hashable {
  // Profile.
  public var displayName = Change<String>.unchanged
  public var bio: String?
  // Private settings.
  public var isDiscoverable: Bool?
  public var reachableBy: Reach?
  public var showsReceipts: Bool?
  public var showsPresence: Bool?
  public var preferences: JSONRaw?
  /// Addresses for discovery; they replace the previous ones.
  public var addresses: [String]?
  // Set by staff.
  public var name: String?
  public var role: Role?
  public var isDisabled: Bool?
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// An empty change.
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

  /// Whether the change is permitted to the user only.
  public var isOwn: Bool {
    isDiscoverable != nil || reachableBy != nil || showsReceipts != nil || showsPresence != nil
      || preferences != nil || addresses != nil
  }

  /// Whether the change needs staff.
  public var governs: Bool { name != nil || role != nil || isDisabled != nil }
}
