public import ParleyJSON

/// What those who look after the place have decided about it. Everyone may know it, signed in or not.
public struct SiteSettings: Sendable, Hashable {
  public var name = "Parley"
  /// The colour of the place, in degrees.
  public var hue = 260
  /// What the front page says.
  public var welcome = ""
  /// What users accept when they register; empty where there is nothing to accept.
  public var rules = ""
  public var registration = Registration.invite
  public var mayInvite = Circle.users
  public var mayCreateForums = Circle.users
  /// Who may tell others something through a program.
  public var mayPublish = Circle.users
  /// Whether users can be found by an address that they gave.
  public var hasDiscovery = false
  /// How much those may do who are new.
  public var newcomers = Newcomers()
  /// Whether pictures lose what they say of where and when they were taken.
  public var cutsMetadata = true
  /// Whether the server looks at what stands behind links.
  public var linkPreviews = true
  /// The place's own picture.
  public var icon: ID<File>?
  public var revision = 1

  public init() {}

  /// How users come in.
  public enum Registration: String, Sendable, Hashable, CaseIterable {
    case open
    /// They wait until one of the staff says yes; who brings an invite need not.
    case approval
    case invite
    case closed
  }

  /// Who may do something at the place.
  public enum Circle: String, Sendable, Hashable, CaseIterable {
    /// Everyone with an user who is not a guest.
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

/// What a PATCH of the settings says. What is absent stays.
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
  /// Refused unless it is the present one.
  public var ifRevision: Int?

  /// Nothing yet.
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
