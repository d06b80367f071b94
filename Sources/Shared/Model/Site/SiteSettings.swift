public import ParleyJSON

/// Settings of the site, made by staff and public to visitors.
public struct SiteSettings: Sendable, Hashable {
  public var name = "Parley"
  /// The site's hue in degrees.
  public var hue = 260
  /// Text of the front page.
  public var welcome = ""
  /// Rules that users accept on registration; empty for none.
  public var rules = ""
  public var registration = Registration.invite
  public var mayInvite = Circle.users
  public var mayCreateForums = Circle.users
  /// Users that may publish app signals.
  public var mayPublish = Circle.users
  /// Whether users can be found by their addresses.
  public var hasDiscovery = false
  /// Limits for users on probation.
  public var newcomers = Newcomers()
  /// Whether time and location metadata is stripped from images.
  public var cutsMetadata = true
  /// Whether the server fetches link previews.
  public var linkPreviews = true
  /// The site's picture.
  public var icon: ID<File>?
  public var revision = 1

  public init() {}

  /// Registration mode.
  public enum Registration: String, Sendable, Hashable, CaseIterable {
    case open
    /// Staff approves registrations; an invite needs no approval.
    case approval
    case invite
    case closed
  }

  /// Users with a permission on the site.
  public enum Circle: String, Sendable, Hashable, CaseIterable {
    /// All users except guests.
    case users
    case moderators
    /// Admins and owners.
    case staff
  }
}

extension SiteSettings: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("name", name)
      json.field("hue", hue)
      json.field("welcome", welcome)
      json.field("rules", rules)
      json.field("registration", registration.rawValue)
      json.field("may_invite", mayInvite.rawValue)
      json.field("may_create_forums", mayCreateForums.rawValue)
      json.field("may_publish", mayPublish.rawValue)
      json.field("discovery", hasDiscovery)
      json.field("newcomers", newcomers)
      json.field("strip_metadata", cutsMetadata)
      json.field("link_previews", linkPreviews)
      json.field("icon_file", icon)
      json.field("revision", revision)
    }
  }
}

extension SiteSettings: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    name = try object.string("name")
    hue = try object.int("hue", in: 0...359)
    welcome = try object.string("welcome")
    rules = try object.string("rules")
    registration = try object.word("registration")
    mayInvite = try object.word("may_invite")
    mayCreateForums = try object.word("may_create_forums")
    mayPublish = try object.word("may_publish")
    hasDiscovery = try object.bool("discovery")
    newcomers = try object.optional("newcomers") ?? newcomers
    cutsMetadata = try object.optional("strip_metadata") ?? cutsMetadata
    linkPreviews = try object.optional("link_previews") ?? linkPreviews
    icon = try object.optional("icon_file")
    revision = try object.int("revision", in: 1...Int.max)
  }
}

/// PATCH of the settings. Absent members stay unchanged.
public struct SiteSettingsChange: Sendable, Hashable {
  public var name: String?
  public var hue: Int?
  public var welcome: String?
  public var rules: String?
  public var registration: SiteSettings.Registration?
  public var mayInvite: SiteSettings.Circle?
  public var mayCreateForums: SiteSettings.Circle?
  public var mayPublish: SiteSettings.Circle?
  public var hasDiscovery: Bool?
  public var newcomers: NewcomersChange?
  public var cutsMetadata: Bool?
  public var linkPreviews: Bool?
  public var icon = Change<ID<File>>.unchanged
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// An empty change.
  public init() {}

  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.optional("name")
    hue = try object.optional("hue") { value throws(JSONError) in try value.int(in: 0...359) }
    welcome = try object.optional("welcome")
    rules = try object.optional("rules")
    registration = try object.optionalWord("registration")
    mayInvite = try object.optionalWord("may_invite")
    mayCreateForums = try object.optionalWord("may_create_forums")
    mayPublish = try object.optionalWord("may_publish")
    hasDiscovery = try object.optional("discovery")
    newcomers = try object.optional("newcomers") { value throws(JSONError) in try NewcomersChange(json: value) }
    cutsMetadata = try object.optional("strip_metadata")
    linkPreviews = try object.optional("link_previews")
    icon = try object.change("icon_file")
    ifRevision = try object.optional("if_revision")
  }

  public func applied(to settings: SiteSettings) -> SiteSettings {
    var settings = settings
    settings.name = name ?? settings.name
    settings.hue = hue ?? settings.hue
    settings.welcome = welcome ?? settings.welcome
    settings.rules = rules ?? settings.rules
    settings.registration = registration ?? settings.registration
    settings.mayInvite = mayInvite ?? settings.mayInvite
    settings.mayCreateForums = mayCreateForums ?? settings.mayCreateForums
    settings.mayPublish = mayPublish ?? settings.mayPublish
    settings.hasDiscovery = hasDiscovery ?? settings.hasDiscovery
    settings.newcomers = newcomers?.applied(to: settings.newcomers) ?? settings.newcomers
    settings.cutsMetadata = cutsMetadata ?? settings.cutsMetadata
    settings.linkPreviews = linkPreviews ?? settings.linkPreviews
    settings.icon = icon.applied(to: settings.icon)
    return settings
  }
}
