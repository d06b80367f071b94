public import ParleyJSON

/// Settings of the site, made by staff and public to visitors.
public struct SiteSettings: Sendable, Hashable {
  /// The name of the site, from 1 to 64 characters.
  public var name = "Parley"
  /// The site's hue in degrees.
  public var hue = 260
  /// Text of the front page.
  public var welcome = ""
  /// Rules that users accept on registration; empty for none.
  public var rules = ""
  /// The condition for a sign-up.
  public var registration = Registration.invite
  /// Users that may create invites.
  public var mayInvite = Circle.users
  /// Users that may create forums.
  public var mayCreateForums = Circle.users
  /// Users that may publish app signals.
  public var mayPublish = Circle.users
  /// Whether users can be found by their addresses.
  public var hasDiscovery = false
  /// Limits for users on probation.
  public var newcomers = Newcomers()
  /// End of the pause of sign-ups in milliseconds since 1970; nil without a pause.
  public var signUpsPausedUntil: Int64?
  /// End of the pause of users on probation, who only read until then.
  public var newcomersPausedUntil: Int64?
  /// Whether time and location metadata is stripped from images.
  public var cutsMetadata = true
  /// Whether the server fetches link previews.
  public var linkPreviews = true
  /// Address by which people reach the operator: a web page or `mailto:`.
  public var contactURL: String?
  /// The page about privacy.
  public var privacyURL: String?
  /// Whether search engines may list public pages.
  public var isIndexed = true
  /// The site's picture.
  public var icon: ID<File>?
  /// Users that must have a second factor of sign-in.
  public var requireSecondFactor = SecondFactorCircle.none
  /// Sessions end after so many days without use.
  public var sessionIdleDays = 90
  /// Sessions end so many days after the sign-in.
  public var sessionMaxDays = 400
  /// The same for owners and admins.
  public var staffSessionIdleDays = 14
  /// Sessions of owners and admins end so many days after the sign-in.
  public var staffSessionMaxDays = 90
  /// The most that push messages show, whatever a user has chosen.
  public var pushShows = PushContent.text
  /// The forum whose room is the first page of new members; nil for the most active default forum.
  public var arrivalForum: ID<Forum>?
  /// Whether apps may register themselves (RFC 7591).
  public var appRegistration = false
  /// The custom emoji, by name. Operations of their own change them.
  public package(set) var emoji: [CustomEmoji] = []
  /// The groups of users, by name. Operations of their own change them.
  public package(set) var groups: [UserGroup] = []
  /// Increases with each change.
  public package(set) var revision = 1

  /// The permitted values of `hue`, in degrees.
  public static let hues = 0...359
  /// In milliseconds.
  public static let maxPause: Int64 = 7 * 86_400_000
  /// Browsers keep no cookie for longer (RFC 6265bis §5.5).
  public static let sessionDays = 1...400

  /// The default settings.
  public init() {}

  /// Registration mode.
  public enum Registration: String, Sendable, Hashable, CaseIterable {
    /// Anyone signs up.
    case open
    /// Staff approves registrations; an invite needs no approval.
    case approval
    /// Users sign up with an invite.
    case invite
    /// No user signs up.
    case closed
  }

  /// Users that must have a second factor of sign-in.
  public enum SecondFactorCircle: String, Sendable, Hashable, CaseIterable {
    /// No user needs a second factor.
    case none
    /// Admins and owners.
    case staff
    /// All users need a second factor.
    case all

    /// Whether more users must have a second factor than by another value.
    public func isWider(than other: SecondFactorCircle) -> Bool { rank > other.rank }

    private var rank: Int {
      switch self {
      case .none: 0
      case .staff: 1
      case .all: 2
      }
    }
  }

  /// Users with a permission on the site.
  public enum Circle: String, Sendable, Hashable, CaseIterable {
    /// All users except guests.
    case users
    /// Moderators and staff.
    case moderators
    /// Admins and owners.
    case staff
  }
}

extension SiteSettings.Registration: FieldValue {}
extension SiteSettings.Circle: FieldValue {}
extension SiteSettings.SecondFactorCircle: FieldValue {}

extension SiteSettings: Record {
  /// Settings with default values, for visitors of names and types.
  public static let blank = SiteSettings()

  /// `newcomers` is an object of its own, of which a PATCH may change a part.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<SiteSettings>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("name", &name, \.name)
    try visitor.field("hue", &hue, \.hue, in: Self.hues)
    try visitor.field("welcome", &welcome, \.welcome)
    try visitor.field("rules", &rules, \.rules)
    try visitor.field("registration", &registration, \.registration)
    try visitor.field("sign_ups_paused_until", &signUpsPausedUntil, \.signUpsPausedUntil)
    try visitor.field("newcomers_paused_until", &newcomersPausedUntil, \.newcomersPausedUntil)
    try visitor.field("may_invite", &mayInvite, \.mayInvite)
    try visitor.field("may_create_forums", &mayCreateForums, \.mayCreateForums)
    try visitor.field("may_publish", &mayPublish, \.mayPublish)
    try visitor.field("discovery", &hasDiscovery, \.hasDiscovery)
    try visitor.field("strip_metadata", &cutsMetadata, \.cutsMetadata)
    try visitor.field("link_previews", &linkPreviews, \.linkPreviews)
    try visitor.field("search_engines", &isIndexed, \.isIndexed)
    try visitor.field("contact_url", &contactURL, \.contactURL)
    try visitor.field("privacy_url", &privacyURL, \.privacyURL)
    try visitor.field("icon_file", &icon, \.icon)
    try visitor.field("arrival_forum", &arrivalForum, \.arrivalForum)
    try visitor.field("require_second_factor", &requireSecondFactor, \.requireSecondFactor)
    try visitor.field("session_idle_days", &sessionIdleDays, \.sessionIdleDays, in: Self.sessionDays)
    try visitor.field("session_max_days", &sessionMaxDays, \.sessionMaxDays, in: Self.sessionDays)
    try visitor.field("staff_session_idle_days", &staffSessionIdleDays, \.staffSessionIdleDays, in: Self.sessionDays)
    try visitor.field("staff_session_max_days", &staffSessionMaxDays, \.staffSessionMaxDays, in: Self.sessionDays)
    try visitor.field("push_shows", &pushShows, \.pushShows)
    try visitor.field("app_registration", &appRegistration, \.appRegistration)
  }
}

extension SiteSettings: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      writeFields(to: &json)
      json.field("newcomers", newcomers)
      json.field("emoji", emoji)
      json.field("groups", groups)
      json.field("revision", revision)
    }
  }
}

extension SiteSettings: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try readFields(from: &object)
    newcomers = try object.optional("newcomers") ?? newcomers
    emoji = try object.optional("emoji") ?? []
    groups = try object.optional("groups") ?? []
    revision = try object.int("revision", in: 1...Int.max)
  }
}

/// PATCH of the settings. Absent members stay unchanged.
public struct SiteSettingsChange: Sendable, Equatable {
  /// New values of settings, such as `[.set(\.name, "Parley")]`.
  public var fields: Patch<SiteSettings>
  /// New values of the limits for users on probation.
  public var newcomers: Patch<Newcomers>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// New values of some settings; by default no change.
  public init(_ fields: Patch<SiteSettings> = [], newcomers: Patch<Newcomers> = [], ifRevision: Int? = nil) {
    self.fields = fields
    self.newcomers = newcomers
    self.ifRevision = ifRevision
  }

  /// Whether it starts or ends pauses alone, as moderators may.
  public var isPause: Bool {
    !fields.isEmpty && newcomers.isEmpty
      && !fields.changesFields(except: \.signUpsPausedUntil, \.newcomersPausedUntil)
  }

  /// The settings after the change, for checks and comparisons.
  public func applied(to settings: SiteSettings) -> SiteSettings {
    var settings = fields.applied(to: settings)
    settings.newcomers = newcomers.applied(to: settings.newcomers)
    return settings
  }
}

extension SiteSettingsChange: JSONWritable {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    newcomers =
      try object.optional("newcomers") { value throws(JSONError) in try Patch(strict: value) } ?? []
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if !newcomers.isEmpty { json.object("newcomers", newcomers.writeMembers) }
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
