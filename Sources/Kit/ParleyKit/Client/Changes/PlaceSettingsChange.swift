public import ParleyJSON
public import ParleyModel

extension PlaceSettingsChange {
  /// What is not named stays; what may be cleared is `.set(…)` or `.cleared`.
  public init(
    name: String? = nil, hue: Int? = nil, welcome: String? = nil, rules: String? = nil,
    registration: PlaceSettings.Registration? = nil, mayInvite: PlaceSettings.Circle? = nil,
    mayCreateForums: PlaceSettings.Circle? = nil, mayPublish: PlaceSettings.Circle? = nil, hasDiscovery: Bool? = nil,
    newcomers: NewcomersChange? = nil, cutsMetadata: Bool? = nil, linkPreviews: Bool? = nil,
    icon: Change<ID<File>> = .unchanged, ifRevision: Int? = nil
  ) {
    self.init()
    self.name = name
    self.hue = hue
    self.welcome = welcome
    self.rules = rules
    self.registration = registration
    self.mayInvite = mayInvite
    self.mayCreateForums = mayCreateForums
    self.mayPublish = mayPublish
    self.hasDiscovery = hasDiscovery
    self.newcomers = newcomers
    self.cutsMetadata = cutsMetadata
    self.linkPreviews = linkPreviews
    self.icon = icon
    self.ifRevision = ifRevision
  }

  var body: RequestBody {
    .object { json in
      json.given("name", name)
      json.given("hue", hue)
      json.given("welcome", welcome)
      json.given("rules", rules)
      json.given("registration", registration)
      json.given("may_invite", mayInvite)
      json.given("may_create_forums", mayCreateForums)
      json.given("may_publish", mayPublish)
      json.given("discovery", hasDiscovery)
      if let newcomers { json.object("newcomers", newcomers.write) }
      json.given("cut_metadata", cutsMetadata)
      json.given("link_previews", linkPreviews)
      json.given("icon_file", icon)
      json.given("if_revision", ifRevision)
    }
  }
}

extension NewcomersChange {
  fileprivate func write(_ json: inout JSONWriter) {
    json.given("days", days)
    json.given("messages", messages)
    json.given("messages_per_hour", messagesPerHour)
    json.given("links_per_hour", linksPerHour)
    json.given("mentions_per_hour", mentionsPerHour)
  }
}
