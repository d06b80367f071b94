public import ParleyJSON
public import ParleyModel

extension AccountChange {
  /// What is not named stays; what may be cleared is `.set(…)` or `.cleared`.
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
      json.given("display_name", displayName)
      json.given("bio", bio)
      json.given("discoverable", isDiscoverable)
      json.given("reachable_by", reachableBy)
      json.given("show_receipts", showsReceipts)
      json.given("show_presence", showsPresence)
      json.given("preferences", preferences)
      json.given("addresses", addresses)
      json.given("name", name)
      json.given("role", role)
      json.given("disabled", isDisabled)
      json.given("reason", reason)
      json.given("if_revision", ifRevision)
    }
  }
}
