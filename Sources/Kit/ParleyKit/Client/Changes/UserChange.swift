public import ParleyJSON
public import ParleyModel

extension UserChange {
  /// Omitted values stay unchanged. A value that may be cleared is `.set(…)` or `.cleared`.
  public init(
    displayName: Change<String> = .unchanged, bio: String? = nil, isDiscoverable: Bool? = nil,
    reachableBy: Reach? = nil, showsReceipts: Bool? = nil, showsPresence: Bool? = nil, preferences: JSONRaw? = nil,
    addresses: [String]? = nil, name: String? = nil, role: Role? = nil, isDisabled: Bool? = nil,
    reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.init()
    self.displayName = displayName
    self.bio = bio
    self.isDiscoverable = isDiscoverable
    self.reachableBy = reachableBy
    self.showsReceipts = showsReceipts
    self.showsPresence = showsPresence
    self.preferences = preferences
    self.addresses = addresses
    self.name = name
    self.role = role
    self.isDisabled = isDisabled
    self.reason = reason
    self.ifRevision = ifRevision
  }

  var body: RequestBody {
    .object { json in
      json.optional("display_name", displayName)
      json.optional("bio", bio)
      json.optional("discoverable", isDiscoverable)
      json.optional("reachable_by", reachableBy)
      json.optional("show_receipts", showsReceipts)
      json.optional("show_presence", showsPresence)
      json.optional("preferences", preferences)
      json.optional("addresses", addresses)
      json.optional("name", name)
      json.optional("role", role)
      json.optional("disabled", isDisabled)
      json.optional("reason", reason)
      json.optional("if_revision", ifRevision)
    }
  }
}
