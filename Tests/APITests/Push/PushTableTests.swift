import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The whole table of push messages: each kind of notification with each setting of its user, which changes before the
/// notification or between it and the push message.
@Suite struct PushTableTests {
  enum Silence: CaseIterable {
    case none, paused, snoozed, quietHours, kind

    func settings(for kind: Notification.Kind) -> NotificationSettings {
      var settings = NotificationSettings()
      switch self {
      case .none: break
      case .paused: settings.isPaused = true
      case .snoozed: settings.snoozedUntil = .max
      case .quietHours: settings.quietHours = QuietHours(from: 0, to: 1_439, timeZone: "UTC")
      case .kind: if Notification.Kind.switchable.contains(kind) { settings.push = NotificationKinds(except: [kind]) }
      }
      return settings
    }
  }

  enum Author: CaseIterable {
    case usual, muted, blocked

    var relation: Relation? {
      switch self {
      case .usual: nil
      case .muted: .mute
      case .blocked: .block
      }
    }
  }

  enum Presence: CaseIterable {
    case away
    /// In use, but the notification is not read there.
    case inUse
    /// In use, with the conversation on the screen.
    case shown
    case reading
  }

  struct Row {
    let silence: Silence
    /// The level of the conversation; nil: the usual one.
    let level: Level?
    let author: Author
    let presence: Presence
    /// Whether the settings change after the notification.
    let isLate: Bool

    func isSent(_ kind: Notification.Kind) -> Bool {
      if presence == .reading { return false }
      if kind.isSecurity { return true }
      guard silence == .none || silence == .kind && kind == .warning else { return false }
      switch kind {
      case .mention, .reply, .room: return author == .usual && level != .nothing
      case .direct: return author == .usual && (level == nil || level == .everything)
      case .request: return author == .usual
      case .report, .warning, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated,
        .recoveryCodeUsed, .signIn, .endpointDisabled, .passkeyCreated, .passkeyDeleted, .passkeyCopied,
        .identityLinked, .identityUnlinked, .alert:
        return true
      }
    }

    /// All combinations. Notifications about no conversation have no level, and those about no user no author.
    static func all(_ kind: Notification.Kind) -> [Row] {
      let isMessage = kind.isCountedByConversation
      let hasAuthor = isMessage || kind == .request || kind == .report || kind == .warning
      let levels: [Level?] = isMessage ? [nil, .everything, .mentions, .nothing] : [nil]
      let authors: [Author] = hasAuthor ? Author.allCases : [.usual]
      return Silence.allCases.flatMap { silence in
        levels.flatMap { level in
          authors.flatMap { author in
            Presence.allCases.flatMap { presence in
              [false, true].map { isLate in
                Row(silence: silence, level: level, author: author, presence: presence, isLate: isLate)
              }
            }
          }
        }
      }
    }
  }

  /// The site of a kind: mira, a moderator, has a device. The others write to her.
  private struct Stage {
    let village: Village
    let forum: String
    let room: String
    let direct: String
    /// A message of mira.
    let own: String

    init(_ village: Village) async throws {
      self.village = village
      (forum, room) = try await village.garden(members: ["mira", "linus"])
      direct = try await village.conversation("direct", by: "ada", with: ["mira"])
      own = try await village.post("a question", in: room, as: "mira")
    }

    /// Applies a row, or the usual settings.
    func set(_ row: Row?, _ kind: Notification.Kind, by authors: [String]) async throws {
      let (user, others) = (village.user("mira"), authors.map { village.user($0) })
      let conversations = [ID<Conversation>(Int(room) ?? 0), ID<Conversation>(Int(direct) ?? 0)]
      try await village.community.store.write { tx throws(Refusal) in
        try tx.store((row?.silence ?? .none).settings(for: kind), of: user)
        for conversation in conversations { try tx.setLevel(row?.level, of: user, in: conversation) }
        for other in others {
          for relation in [Relation.mute, .block] {
            if row?.author.relation == relation {
              _ = try tx.set(relation, of: user, to: other)
            } else {
              _ = try tx.end(relation, of: user, to: other)
            }
          }
        }
      }
    }

    /// Causes a notification. A blocked author is refused.
    func cause(_ kind: Notification.Kind, by stranger: String) async throws {
      switch kind {
      case .mention: try await say("a word, @mira", in: room)
      case .reply: try await say("an answer", in: room, ["reply_to": own])
      case .room:
        // A user calls a room seldom, so the message calls none.
        let message = try await village.post("a word", in: room, as: "ada")
        try await village.community.store.write { [ada = village.user("ada")] tx throws(Refusal) in
          try tx.notifyRoom(
            ID(Int(forum) ?? 0), for: ID(Int(message) ?? 0), in: ID(Int(room) ?? 0), by: ada)
        }
      case .direct: try await say("a word", in: direct)
      case .request:
        _ = try await village.request(
          .post, "/conversations", as: stranger, ["kind": "direct", "participants": ["@mira"]])
      case .warning: try await village.expect(201, .post, "/users/@mira/warn", as: "ada", ["reason": "Mind the beds."])
      case .report, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated, .recoveryCodeUsed,
        .signIn, .endpointDisabled, .passkeyCreated, .passkeyDeleted, .passkeyCopied, .identityLinked,
        .identityUnlinked, .alert:
        try await village.community.store.write {
          [mira = village.user("mira"), linus = village.user("linus")] tx throws(Refusal) in
          try tx.addNotification(
            kind, of: mira, alert: kind == .alert ? "disk" : nil, by: kind == .report ? linus : mira)
        }
      }
    }

    private func say(_ text: String, in conversation: String, _ more: [String: Any] = [:]) async throws {
      _ = try await village.request(
        .post, "/conversations/\(conversation)/messages", as: "ada", more.merging(["text": text]) { $1 })
    }

    /// The conversations on the screen of mira's device; nil in the background.
    func shown(_ presence: Presence) -> Set<ID<Conversation>>? {
      switch presence {
      case .away: nil
      case .inUse, .reading: []
      case .shown: Set([room, direct].compactMap { ID($0) })
      }
    }

    func readAll() async throws {
      try await village.community.store.write { [mira = village.user("mira")] tx throws(Refusal) in
        while try tx.markNotificationsRead(of: mira, upTo: ID(.max)) {}
      }
    }
  }

  @Test(arguments: Notification.Kind.allCases) func `a push message is sent as the table says`(
    kind: Notification.Kind
  ) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await Stage(village)
      _ = try await village.subscribe("mira")
      let device = ObjectIdentifier(village)
      var wrong: [String] = []
      for (number, row) in Row.all(kind).enumerated() {
        let stranger = "stranger\(number)"
        if kind == .request { try await village.addUser(stranger) }
        let authors = kind == .request ? [stranger] : ["ada", "linus"]
        try await stage.set(row.isLate ? nil : row, kind, by: authors)
        village.community.hub.note(device, of: village.user("mira"), showing: stage.shown(row.presence))
        try await stage.cause(kind, by: stranger)
        if row.isLate { try await stage.set(row, kind, by: authors) }
        let first = await village.push().count
        if row.presence == .reading { try await stage.readAll() }
        clock.add(Int(PushDeliverer.onlineDelay))
        let second = await village.push().count
        let isSent = row.isSent(kind)
        let isHeld = row.presence == .shown && kind.isCountedByConversation
        let isLater = isSent && row.presence != .away
        let expected = (isSent && row.presence == .away ? 1 : 0, isLater && !isHeld ? 1 : 0, isLater && isHeld ? 1 : 0)
        village.community.hub.note(device, of: village.user("mira"), showing: stage.shown(.inUse))
        clock.add(Int(PushDeliverer.shownDelay))
        let third = await village.push().count
        if (first, second, third) != expected { wrong.append("\(row): \(first), \(second) and \(third)") }
        // The next row begins without unread notifications and waiting topics.
        try await stage.set(nil, kind, by: authors)
        try await stage.readAll()
        clock.add(Int(PushDeliverer.topicInterval))
        _ = await village.push()
      }
      #expect(wrong.isEmpty, "\(wrong.count) rows, such as \(wrong.prefix(5))")
    }
  }
}
