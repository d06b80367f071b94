public import ParleyJSON
public import ParleyModel

extension SiteSettingsChange {
  /// Omitted values stay unchanged. A value that may be cleared is `.set(…)` or `.cleared`.
  public init(
    name: String? = nil, hue: Int? = nil, welcome: String? = nil, rules: String? = nil,
    registration: SiteSettings.Registration? = nil, mayInvite: SiteSettings.Circle? = nil,
    mayCreateForums: SiteSettings.Circle? = nil, mayPublish: SiteSettings.Circle? = nil, hasDiscovery: Bool? = nil,
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
      json.optional("name", name)
      json.optional("hue", hue)
      json.optional("welcome", welcome)
      json.optional("rules", rules)
      json.optional("registration", registration)
      json.optional("may_invite", mayInvite)
      json.optional("may_create_forums", mayCreateForums)
      json.optional("may_publish", mayPublish)
      json.optional("discovery", hasDiscovery)
      if let newcomers { json.object("newcomers", newcomers.write) }
      json.optional("strip_metadata", cutsMetadata)
      json.optional("link_previews", linkPreviews)
      json.optional("icon_file", icon)
      json.optional("if_revision", ifRevision)
    }
  }
}

extension NewcomersChange {
  fileprivate func write(_ json: inout JSONWriter) {
    json.optional("days", days)
    json.optional("messages", messages)
    json.optional("messages_per_hour", messagesPerHour)
    json.optional("links_per_hour", linksPerHour)
    json.optional("mentions_per_hour", mentionsPerHour)
  }
}
