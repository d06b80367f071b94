public import ParleyJSON

/// Rules for notifications that leave the inbox: kinds and times. The inbox has all of them.
public struct NotificationSettings: Sendable, Hashable {
  /// Sends nothing until it is switched off.
  public var isPaused = false
  /// Milliseconds since 1970; nil without a snooze.
  public var snoozedUntil: Int64?
  /// Hours of the day without push messages; nil for none.
  public var quietHours: QuietHours?
  /// Kinds that push messages tell of.
  public var push = NotificationKinds()
  /// Kinds that are mailed, if the user has confirmed an address.
  public var mail = NotificationKinds()
  /// Whether a mail tells once a week of what the user has not read. Guests begin without.
  public var hasWeeklyDigest = true
  /// The IANA name of the user's time zone, for the hour of the digest. Without one that of the quiet hours counts, or UTC.
  public var timeZone: String?
  /// The content of push messages, on a lock screen too.
  public var pushShows = PushContent.text

  /// The longest snooze, in milliseconds: one year.
  public static let maxSnooze = Later.maxDuration

  /// Default settings: all kinds, no pause, snooze or quiet hours, and the weekly digest.
  public init() {}
}

extension NotificationSettings: Record {
  /// Default settings: the base of a `Patch`.
  public static let blank = NotificationSettings()

  /// Passes each setting to a visitor, by the name of its JSON member.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<NotificationSettings>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("paused", &isPaused, \.isPaused)
    try visitor.field("snoozed_until", &snoozedUntil, \.snoozedUntil)
    try visitor.field("quiet_hours", &quietHours, \.quietHours)
    try visitor.field("push", &push, \.push)
    try visitor.field("mail", &mail, \.mail)
    try visitor.field("weekly_digest", &hasWeeklyDigest, \.hasWeeklyDigest)
    try visitor.field("time_zone", &timeZone, \.timeZone)
    try visitor.field("push_shows", &pushShows, \.pushShows)
  }
}

extension NotificationSettings: JSONMembers {
  /// Decodes the settings; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init()
    try readFields(from: &object)
  }

  /// Writes the settings into an open object.
  public func writeMembers(to json: inout JSONWriter) { writeFields(to: &json) }
}

/// The content of push messages.
public enum PushContent: String, Sendable, Hashable, CaseIterable {
  /// Sender and text.
  case text
  /// The sender without the text.
  case sender
  /// A push message only says that there is a message.
  case nothing

  /// The lesser of two contents.
  public func bounded(by other: PushContent) -> PushContent {
    switch (self, other) {
    case (.nothing, _), (_, .nothing): .nothing
    case (.sender, _), (_, .sender): .sender
    case (.text, .text): .text
    }
  }
}

/// Kinds of notifications that a user wants. In JSON an object with a boolean for each; an absent one is true.
public struct NotificationKinds: Sendable, Hashable {
  /// Kinds that the user has switched off.
  public var unwanted: Set<Notification.Kind>

  /// All kinds except the unwanted ones.
  public init(except unwanted: Set<Notification.Kind> = []) { self.unwanted = unwanted }

  /// Whether the user wants notifications of a kind.
  public func contains(_ kind: Notification.Kind) -> Bool { !unwanted.contains(kind) }
}

extension Notification.Kind {
  /// Whether it concerns the security of the account: no setting holds it back.
  public var isSecurity: Bool {
    switch self {
    case .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated, .recoveryCodeUsed, .signIn,
      .passkeyCreated, .passkeyDeleted, .passkeyCopied, .identityLinked, .identityUnlinked:
      true
    case .mention, .reply, .direct, .room, .request, .report, .warning, .endpointDisabled, .alert: false
    }
  }

  /// The kinds that settings have a switch for.
  public static let switchable = allCases.filter { !$0.isSecurity && $0 != .warning }
}

extension NotificationKinds: FieldValue, JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    unwanted = []
    for kind in Notification.Kind.switchable {
      let isWanted: Bool? = try object.optional(kind.rawValue)
      if isWanted == false { unwanted.insert(kind) }
    }
    try object.finish()
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      for kind in Notification.Kind.switchable { json.field(kind.rawValue, contains(kind)) }
    }
  }

  /// Parses the stored names of unwanted kinds, separated by spaces; unknown names are ignored.
  public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    self.init(except: Set(text.split(separator: " ").compactMap { Notification.Kind(rawValue: String($0)) }))
  }

  /// The names of the unwanted kinds, sorted and separated by spaces.
  public var stored: StoredValue { .text(unwanted.map(\.rawValue).sorted().joined(separator: " ")) }
}

extension PushContent: FieldValue {}
