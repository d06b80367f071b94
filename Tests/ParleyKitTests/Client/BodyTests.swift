import Foundation
import ParleyJSON
import ParleyModel
import TestSupport
import Testing

@testable import ParleyKit

// Compares the request bodies of the kit with the contract: every member must be settable, and no other.

private let root = Checkout.root

/// The request bodies of the contract.
private struct Contract {
  typealias Schema = [String: Any]

  private let schemas: [String: Schema]
  /// Keys like `PATCH /forums/{id}`.
  let bodies: [String: Schema]

  init() throws {
    let data = try Data(contentsOf: root.appending(path: "Public/openapi.json"))
    let document = try #require(JSONSerialization.jsonObject(with: data) as? Schema)
    let components = try #require(document["components"] as? Schema)
    schemas = try #require(components["schemas"] as? [String: Schema])
    var bodies: [String: Schema] = [:]
    for (path, methods) in try #require(document["paths"] as? [String: Schema]) {
      for (method, operation) in methods {
        let body = (operation as? Schema)?["requestBody"] as? Schema
        let content = (body?["content"] as? Schema)?["application/json"] as? Schema
        if let schema = content?["schema"] as? Schema { bodies["\(method.uppercased()) \(path)"] = schema }
      }
    }
    self.bodies = bodies
  }

  /// The operation that a request calls.
  func operation<Answer>(of request: Request<Answer>) throws -> String {
    let parts = request.path.split(separator: "/")
    let fitting = bodies.keys.filter { operation in
      let words = operation.split(separator: " ")
      let template = words[1].split(separator: "/")
      return words[0] == request.method.rawValue && template.count == parts.count
        && zip(template, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    return try #require(
      fitting.min { $0.count(where: { $0 == "{" }) < $1.count(where: { $0 == "{" }) }, "\(request.path)")
  }

  /// The alternatives of a schema.
  func choices(_ schema: Schema) -> [Schema] {
    if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
      return schemas[String(name)].map(choices) ?? []
    }
    return (schema["anyOf"] as? [Schema])?.flatMap(choices) ?? [schema]
  }

  /// `title`, `newcomers.days`. Members of array elements have no index.
  func members(of schema: Schema) -> Set<String> {
    var all: Set<String> = []
    for choice in choices(schema) {
      if let items = choice["items"] as? Schema { all.formUnion(members(of: items)) }
      for (name, member) in choice["properties"] as? [String: Schema] ?? [:] {
        all.insert(name)
        all.formUnion(members(of: member).map { "\(name).\($0)" })
      }
    }
    return all
  }

  /// The members that may be null.
  func clearable(_ schema: Schema) throws -> Set<String> {
    let null = try JSONValue(parsing: Array("null".utf8))
    var all: Set<String> = []
    for choice in choices(schema) {
      for (name, member) in choice["properties"] as? [String: Schema] ?? [:] where fits(null, member) {
        all.insert(name)
      }
    }
    return all
  }

  func fits(_ value: JSONValue, _ schema: Schema) -> Bool {
    choices(schema).contains { schema in (try? holds(value, schema)) ?? false }
  }

  private func holds(_ value: JSONValue, _ schema: Schema) throws -> Bool {
    let types = schema["type"] as? [String] ?? [schema["type"] as? String ?? ""]
    switch value.kind {
    case .null: return types.contains("null")
    case .bool: return types.contains("boolean")
    case .number:
      _ = try value.int()
      return types.contains("integer")
    case .string:
      let text = try value.string()
      if let words = schema["enum"] as? [String] { return words.contains(text) }
      if let pattern = schema["pattern"] as? String, try Regex(pattern).firstMatch(in: text) == nil { return false }
      return types.contains("string")
    case .array:
      guard types.contains("array"), let items = schema["items"] as? Schema else { return false }
      return try value.array().allSatisfy { fits($0, items) }
    case .object:
      guard types.contains("object") else { return false }
      let members = schema["properties"] as? [String: Schema] ?? [:]
      let all = try value.members()
      let names = Set(all.map(\.name))
      return names.isSuperset(of: schema["required"] as? [String] ?? [])
        && all.allSatisfy { one in members[one.name].map { fits(one.value, $0) } ?? isOpen(schema) }
    }
  }

  private func isOpen(_ schema: Schema) -> Bool { schema["additionalProperties"] as? Bool ?? false }
}

/// The members of sent requests by operation.
private struct SentMembers {
  let contract: Contract
  var members: [String: Set<String>] = [:]
  var nulls: [String: Set<String>] = [:]

  mutating func take<Answer>(_ request: Request<Answer>) throws {
    let operation = try contract.operation(of: request)
    guard case .json(let raw) = request.body else { throw ClientFault.invalidResponse(operation) }
    let body = try JSONValue(parsing: raw.bytes)
    let schema = try #require(contract.bodies[operation])
    #expect(contract.fits(body, schema), "\(operation): \(String(decoding: raw.bytes, as: UTF8.self))")
    members[operation, default: []].formUnion(try names(in: body))
    let nulls = try body.members().filter(\.value.isNull).map(\.name)
    self.nulls[operation, default: []].formUnion(nulls)
  }

  /// Names as in `Contract.members`. The members of an app's own annotation are excluded.
  private func names(in value: JSONValue) throws -> Set<String> {
    var all: Set<String> = []
    if value.kind == .array {
      for item in try value.array() { all.formUnion(try names(in: item)) }
    } else if value.kind == .object {
      for (name, member) in try value.members() {
        all.insert(name)
        guard name != "value", name != "preferences" else { continue }
        all.formUnion(try names(in: member).map { "\(name).\($0)" })
      }
    }
    return all
  }
}

extension JSONValue {
  fileprivate func members() throws -> [(name: String, value: JSONValue)] {
    var object = try object()
    return object.members()
  }
}

private let todo = [Draft.Annotation("com.example.todo") { json in json.field("done", false) }]
private let time = Timestamp(1_800_000_000_000)
private let wholeForum = ForumChange(
  [
    .set(\.title, "roses"), .set(\.about, "Roses."), .set(\.iconURL, "https://chat.example/rose.png"),
    .set(\.icon, ID(8)), .set(\.visibility, .private), .set(\.write, .members), .set(\.startTopics, .moderators),
    .set(\.roomMention, .readers), .set(\.section, "plants"), .set(\.position, 3), .set(\.slowSeconds, 5),
    .set(\.isLocked, true), .set(\.isArchived, false), .set(\.isSolvable, true), .set(\.showsRevisions, false),
    .set(\.isDefault, true), .set(\.readGroups, [ID(5)]), .set(\.writeGroups, [ID(6)]),
    .set(\.callURL, "https://call.example/roses"),
  ], from: .beginning, reason: "Because.", ifRevision: 4)
private let wholeConversation = ConversationChange(
  [
    .set(\.title, "roses"), .set(\.annotations, todo.json), .set(\.isHistoryVisible, true), .set(\.slowSeconds, 5),
    .set(\.isLocked, false),
  ],
  readers: [.set(\.audience, .users), .set(\.isImmutable, false)],
  writers: [.set(\.audience, .listed), .set(\.isImmutable, true)], from: .now, reason: "Because.", ifRevision: 4)
private let wholeTopic = TopicChange(
  [
    .set(\.title, "roses"), .set(\.solvedBy, ID(9)), .set(\.isPinned, true), .set(\.isLocked, false),
    .set(\.slowSeconds, 0),
  ], reason: "Because.", ifRevision: 4)
private let wholeUser = UserChange(
  [
    .set(\.displayName, "Ada"), .set(\.bio, "Gardens."), .set(\.statusText, "away"), .set(\.statusEmoji, "🌴"),
    .set(\.statusExpiresAt, 4_102_444_800_000), .set(\.role, .moderator),
  ],
  own: [
    .set(\.isDiscoverable, true), .set(\.reachableBy, .shared), .set(\.showsReceipts, true),
    .set(\.showsPresence, false), .set(\.showsStars, true),
    .set(\.preferences, JSONRaw(trusted: Array(#"{"hue":3}"#.utf8))),
  ], addresses: ["ada@example.com"], name: "ada", isDisabled: false, endsSessions: true, reason: "Because.",
  ifRevision: 4)
private let wholeSite = SiteSettingsChange(
  [
    .set(\.name, "Garden"), .set(\.hue, 120), .set(\.welcome, "Come in."), .set(\.rules, "Be kind."),
    .set(\.registration, .approval), .set(\.mayInvite, .users), .set(\.mayCreateForums, .moderators),
    .set(\.mayPublish, .staff), .set(\.hasDiscovery, true), .set(\.cutsMetadata, true), .set(\.linkPreviews, false),
    .set(\.isIndexed, false), .set(\.contactURL, "mailto:ada@garden.example"),
    .set(\.privacyURL, "https://garden.example/privacy"), .set(\.icon, ID(8)), .set(\.arrivalForum, ID(9)),
    .set(\.requireSecondFactor, .staff), .set(\.sessionIdleDays, 30), .set(\.sessionMaxDays, 60),
    .set(\.staffSessionIdleDays, 7), .set(\.staffSessionMaxDays, 30), .set(\.pushShows, .sender),
    .set(\.appRegistration, true),
    .set(\.signUpsPausedUntil, 1_800_000_000_000), .set(\.newcomersPausedUntil, 1_800_000_001_000),
  ],
  newcomers: [
    .set(\.days, 1), .set(\.messages, 2), .set(\.messagesPerHour, 3), .set(\.linksPerHour, 4),
    .set(\.mentionsPerHour, 5),
  ], ifRevision: 4)

@Suite struct BodyTests {
  @Test func `every member of the contract can be sent, and no other`() throws {
    let contract = try Contract()
    var sent = SentMembers(contract: contract)
    try sendForums(&sent)
    try sendConversations(&sent)
    try sendMessages(&sent)
    try sendUsers(&sent)
    try sendModeration(&sent)
    try sendSessions(&sent)
    try sendOthers(&sent)
    #expect(sent.members.keys.sorted() == contract.bodies.keys.sorted())
    for (operation, schema) in contract.bodies {
      #expect(sent.members[operation] == contract.members(of: schema), "\(operation)")
      #expect(sent.nulls[operation] == (try contract.clearable(schema)), "\(operation)")
    }
  }

  private func sendForums(_ sent: inout SentMembers) throws {
    var forum = ForumDraft(title: "roses", clientID: "one")
    forum.fields = [
      .set(\.title, "roses"), .set(\.about, "Roses."), .set(\.iconURL, "https://chat.example/rose.png"),
      .set(\.icon, ID(8)), .set(\.visibility, .public), .set(\.write, .readers), .set(\.startTopics, .members),
      .set(\.roomMention, .readers), .set(\.section, "plants"), .set(\.position, 2), .set(\.slowSeconds, 5),
      .set(\.isSolvable, true), .set(\.showsRevisions, true), .set(\.isDefault, true), .set(\.readGroups, [ID(5)]),
      .set(\.writeGroups, [ID(6)]), .set(\.callURL, "https://chat.example/call"),
    ]
    try sent.take(.createForum(forum))
    try sent.take(.createForum(title: "roses"))
    try sent.take(.updateForum(ID(7), wholeForum))
    try sent.take(
      .updateForum(
        ID(7), ForumChange([.set(\.iconURL, nil), .set(\.icon, nil), .set(\.section, nil), .set(\.callURL, nil)])))
    try sent.take(.setForumMember(of: ID(7), to: .me, role: .moderator))
    try sent.take(
      .createTopic(
        in: ID(7), title: "roses", text: "Which?", attachments: [ID(8)], descriptions: ["A rose"], poll: poll,
        clientID: "one"))
    try sent.take(.createTopic(in: ID(7), title: "roses"))
    try sent.take(.setForumLevel(of: ID(7), to: .mentions))
    try sent.take(.setForumLevel(of: ID(7), to: nil))
  }

  private func sendConversations(_ sent: inout SentMembers) throws {
    try sent.take(
      .createConversation(
        .channel, with: [.name("grace"), .id(ID(5), as: .reader)], title: "roses", type: "com.example.todo",
        annotations: todo, readers: .init(.anyone), writers: .init(.listed, isImmutable: true), isHistoryVisible: false,
        isDistinct: false, clientID: "one"))
    try sent.take(.createConversation(.feed))
    try sent.take(.updateConversation(ID(7), wholeConversation))
    try sent.take(.updateConversation(ID(7), ConversationChange([.set(\.title, nil)])))
    try sent.take(.updateConversation(ID(7), wholeTopic))
    try sent.take(.updateConversation(ID(7), TopicChange([.set(\.solvedBy, nil)])))
    try sent.take(.setParticipant(of: ID(7), to: .name("grace"), role: .admin))
    try sent.take(.markRead(ID(7), upTo: ID(9)))
    try sent.take(.markDelivered(ID(7), upTo: ID(9)))
    try sent.take(.setConversationLevel(of: ID(7), to: .everything))
    try sent.take(.setConversationLevel(of: ID(7), to: nil))
    try sent.take(.setLater(ID(7), until: time))
    try sent.take(.markTimelineRead(upTo: ID(9)))
    let criteria = PostCriteria<UserReference>(
      authors: [.id(ID(2))], mentions: [.me], hashtags: ["rose"], words: ["seed*"], has: [.image], reposts: true)
    try sent.take(.setTimelineFilter("roses", to: TimelineFilterDraft(include: criteria, exclude: criteria)))
  }

  private var poll: PollDraft {
    PollDraft(["red", "white"], choices: 2, isAnonymous: true, closesAt: 1_900_000_000_000)
  }

  private var buttons: [MessageButton] {
    [MessageButton("yes", "Yes", style: .primary, isPressed: true, isDisabled: true)]
  }

  private func sendMessages(_ sent: inout SentMembers) throws {
    try sent.take(
      .postMessage(
        in: ID(7), "hello", replyTo: ID(9), attachments: [ID(8)], descriptions: ["A rose"], annotations: todo,
        poll: poll, buttons: buttons, isMachineOnly: true, sentAt: time, catchUpAfter: ID(9), clientID: "one"))
    try sent.take(.postMessage(in: ID(7), "hello"))
    try sent.take(
      .editMessage(ID(9), text: "hello!", attachments: [], descriptions: [], buttons: buttons, ifRevision: 2))
    try sent.take(.pressButton("yes", of: ID(9), clientID: "one"))
    try sent.take(.pressButton("yes", of: ID(9)))
    try sent.take(.removeMessage(ID(9), reason: "Because."))
    try sent.take(.restoreMessage(ID(9), reason: "Because."))
    try sent.take(.setVote(in: ID(9), for: [0, 1]))
    try sent.take(.createTopicFromMessage(of: ID(9), title: "roses"))
  }

  private func sendUsers(_ sent: inout SentMembers) throws {
    try sent.take(
      .signUp(
        "ada", password: "a long one", displayName: "Ada", invite: "code", acceptsRules: true, device: "phone",
        cookie: false, clientID: "one"))
    try sent.take(.signUp(nil, password: "a long one"))
    try sent.take(.updateUser(.me, wholeUser))
    try sent.take(
      .updateUser(
        .me,
        UserChange([
          .set(\.displayName, nil), .set(\.statusText, nil), .set(\.statusEmoji, nil), .set(\.statusExpiresAt, nil),
        ])))
    try sent.take(.deleteUser(.me, how: .deactivate, password: "a long one", reason: "Because."))
    try sent.take(.setAvatar(of: .me, to: ID(8)))
    try sent.take(.discoverUsers(["grace@example.com"]))
  }

  private func sendModeration(_ sent: inout SentMembers) throws {
    try sent.take(.warnUser(.name("grace"), reason: "Be kind.", clientID: "one"))
    try sent.take(.silenceUser(.name("grace"), in: ID(7), until: time, reason: "Because."))
    try sent.take(.unsilenceUser(of: .name("grace"), in: ID(7), reason: "Because."))
    try sent.take(.banUser(.name("grace"), until: time, reason: "Because.", closesInvite: true))
    try sent.take(.unbanUser(of: .name("grace"), reason: "Because."))
    try sent.take(.createReport(.message(ID(9)), reason: "Advertising.", clientID: "one"))
    try sent.take(.createReport(.user(.name("grace")), reason: "Advertising."))
    try sent.take(.updateReport(ID(6), state: .acted, assignee: .set(.me), outcome: .set("Done."), ifRevision: 2))
    try sent.take(.updateReport(ID(6), assignee: .cleared, outcome: .cleared))
    try sent.take(
      .updateReports(about: .name("grace"), in: ID(7), state: .open, outcome: "Mistaken.", handledAt: time))
    let rule: Patch<ModerationRule> = [
      .set(\.name, "Casinos"), .set(\.words, ["free spins"]), .set(\.domains, ["casino.example"]),
      .set(\.minMentions, 2), .set(\.hasPicture, true), .set(\.firstPosts, 3), .set(\.action, .refuse),
      .set(\.isEnabled, true),
    ]
    try sent.take(.createModerationRule(ModerationRuleDraft(rule, clientID: "one")))
    try sent.take(.tryModerationRule(ModerationRuleDraft(rule, clientID: "one")))
    try sent.take(.updateModerationRule(ID(6), ModerationRuleChange(rule, ifRevision: 2)))
    let group: Patch<UserGroup> = [
      .set(\.name, "gardeners"), .set(\.hue, 140), .set(\.isSelfChosen, true), .set(\.mentionableBy, .staff),
    ]
    try sent.take(.createUserGroup(UserGroupDraft(group, clientID: "one")))
    try sent.take(.updateUserGroup(ID(6), UserGroupChange(group, ifRevision: 2)))
    try sent.take(.createRemoval(by: .user(.id(ID(5))), since: time, in: ID(7), reason: "Because.", clientID: "one"))
    try sent.take(.createRemoval(by: .invite(ID(4)), since: time))
    try sent.take(.undoRemoval(ID(6), reason: "Because."))
    try sent.take(.destroyContent(.message(ID(9)), reason: "A letter."))
    try sent.take(.destroyContent(.file(ID(8)), reason: "A letter."))
    try sent.take(.destroyContent(.user(.name("grace")), reason: "A letter."))
  }

  private func sendSessions(_ sent: inout SentMembers) throws {
    try sent.take(
      Request<Resource<SignInResult>>.signIn("ada", password: "a long one", device: "phone", cookie: false))
    try sent.take(
      .useLink("code", password: "a long one", name: "ada", displayName: "Ada", device: "phone", cookie: true))
    try sent.take(
      Request<Resource<SignInResult>>.confirmSignIn("1.2.3", code: "287082", device: "phone", cookie: false))
    try sent.take(.proveSession(password: "a long one", code: "287082"))
    let assertion = PasskeyAssertion(
      id: "AA", clientData: "AQ", authenticatorData: "Ag", signature: "Aw", userHandle: "MQ")
    try sent.take(.proveSession(with: assertion))
    try sent.take(
      Request<Resource<SignInResult>>.signInWithPasskey(assertion, device: "phone", cookie: false))
    let made = PasskeyRegistration(id: "AA", clientData: "AQ", attestation: "Ag", transports: ["internal"])
    try sent.take(.createPasskey(PasskeyDraft(name: "Phone", credential: made)))
    try sent.take(.updatePasskey(ID(6), name: "Key"))
    try sent.take(.recoverUser(.name("grace"), keepIdentity: ID(7)))
    try sent.take(.linkIdentity(at: "work", back: "/you/accounts"))
    try sent.take(.enableSecondFactor(code: "287082", keepSessions: true))
    try sent.take(.disableSecondFactor(keepSessions: true))
    try sent.take(.deleteEmail(keepSessions: true))
    try sent.take(.changePassword(from: "a short one", to: "a long one", keepTokens: true))
    let limits = TokenLimits(forums: [ID(7)], rate: 60)
    try sent.take(
      .createToken(
        name: "script", scope: .read, limits: limits, expiresAt: time, password: "a long one", clientID: "one"))
    try sent.take(
      .createPushSubscription(
        PushSubscriptionDraft(
          endpoint: "https://push.example.net/1", keys: .init(p256dh: "BA", auth: "AA"), name: "Phone", language: "de"))
    )
    try sent.take(.setEmail("ada@example.org"))
    try sent.take(.confirmEmail(code: "code", keepSessions: true))
    try sent.take(.requestPasswordReset(of: "ada"))
    try sent.take(.sendTestMail(to: "ada@example.org"))
    let quiet = QuietHours(from: 1_320, to: 420, timeZone: "UTC")
    try sent.take(
      .updateNotificationSettings([
        .set(\.isPaused, true), .set(\.snoozedUntil, 1), .set(\.quietHours, quiet), .set(\.push, NotificationKinds()),
        .set(\.mail, NotificationKinds()), .set(\.hasWeeklyDigest, false), .set(\.timeZone, "UTC"),
        .set(\.pushShows, .sender),
      ]))
    try sent.take(
      .updateNotificationSettings([.set(\.snoozedUntil, nil), .set(\.quietHours, nil), .set(\.timeZone, nil)]))
    try sent.take(
      .createBotToken(
        of: .name("dice"), name: "dice", scope: .write, limits: TokenLimits(forums: [ID(7)], rate: 60),
        expiresAt: time, clientID: "one"))
    try sent.take(
      .createBot(
        name: "dice", displayName: "Dice", forums: [ID(7)], scope: .write,
        limits: TokenLimits(forums: [ID(7)], rate: 30), clientID: "one"))
    try sent.take(.createWebhook(WebhookDraft(ID(7), name: "Builds", avatar: ID(8), clientID: "one")))
    try sent.take(
      .updateWebhook(ID(6), WebhookChange(name: "Builds", isEnabled: false, avatar: .set(ID(8)), ifRevision: 2)))
    try sent.take(.updateWebhook(ID(6), WebhookChange(avatar: .cleared)))
    try sent.take(
      .createWebhookEndpoint(
        WebhookEndpointDraft(
          name: "Index", url: "https://example.org/", topics: [.me], events: ["message.created"], clientID: "one")))
    try sent.take(
      .updateWebhookEndpoint(
        ID(6),
        WebhookEndpointChange(
          name: "Index", url: "https://example.org/", topics: [.me], events: [], isEnabled: true, ifRevision: 2)))
    try sent.take(.postToWebhook("5f3d", "green", as: "CI", clientID: "one"))
    try sent.take(
      .createApp(
        AppDraft(
          name: "Ferry", website: "https://ferry.example/", redirectURIs: ["com.example.ferry:/cb"], scope: .read,
          isConfidential: true, clientID: "one")))
    try sent.take(
      .updateApp(
        ID(6),
        AppChange(
          name: "Ferry", website: .set("https://ferry.example/"), redirectURIs: ["https://ferry.example/cb"],
          scope: .admin, isVerified: true, isEnabled: true, ifRevision: 2)))
    try sent.take(.updateApp(ID(6), AppChange(website: .cleared)))
    try sent.take(
      .createCommand(
        SlashCommandDraft(
          name: "weather", description: "The weather", usage: "<city>", bot: ID(9), url: "https://example.org/",
          forums: [ID(7)], clientID: "one")))
    try sent.take(
      .updateCommand(
        ID(6),
        SlashCommandChange(
          name: "weather", description: "The weather", usage: "<city>", bot: ID(9), url: "https://example.org/",
          forums: .set([ID(7)]), isEnabled: true, ifRevision: 2)))
    try sent.take(.updateCommand(ID(6), SlashCommandChange(forums: .cleared)))
    try sent.take(.invokeCommand("weather", "Kyoto", in: ID(7), clientID: "one"))
    try sent.take(.replyToCommand("5f3d", "18", to: .all, clientID: "one"))
    try sent.take(
      .createInvite(for: .name("grace"), role: .guest, to: ID(7), maxUses: 2, expiresAt: time, clientID: "one"))
    try sent.take(.revokeInvite(ID(4), bans: true, reason: "Because."))
  }

  private func sendOthers(_ sent: inout SentMembers) throws {
    try sent.take(.updateSettings(wholeSite))
    try sent.take(.createEmoji("parrot", file: ID(8), clientID: "one"))
    try sent.take(.createEmoji("parrot", file: ID(8)))
    try sent.take(
      .updateSettings(
        SiteSettingsChange([
          .set(\.icon, nil), .set(\.arrivalForum, nil), .set(\.contactURL, nil), .set(\.privacyURL, nil),
          .set(\.signUpsPausedUntil, nil), .set(\.newcomersPausedUntil, nil),
        ])))
    try sent.take(.markNotificationsRead(upTo: ID(4)))
    try sent.take(.markAllRead(upTo: ID(4)))
    try sent.take(.createLinkPreview(of: "https://chat.example", keep: true))
    try sent.take(.createUpload(name: "a.bin", size: 3, type: "image/png", public: true, clientID: "one"))
  }

  @Test func `the server decodes exactly the changes that an app has set`() throws {
    func read<Thing>(
      _ body: RequestBody, _ thing: (inout JSONObject) throws(JSONError) -> Thing
    ) throws -> Thing {
      guard case .json(let raw) = body else { throw ClientFault.invalidResponse("no JSON") }
      var object = try JSONValue(parsing: raw.bytes).object()
      let read = try thing(&object)
      try object.finish()
      return read
    }
    for change in [wholeForum, ForumChange([.set(\.section, nil)]), ForumChange()] {
      #expect(try read(.value(change)) { json throws(JSONError) in try ForumChange(&json) } == change)
    }
    for change in [wholeConversation, ConversationChange(readers: [.set(\.isImmutable, true)])] {
      #expect(try read(.value(change)) { json throws(JSONError) in try ConversationChange(&json) } == change)
    }
    for change in [wholeTopic, TopicChange([.set(\.solvedBy, nil)])] {
      #expect(try read(.value(change)) { json throws(JSONError) in try TopicChange(&json) } == change)
    }
    for change in [wholeUser, UserChange([.set(\.displayName, nil)])] {
      #expect(try read(.value(change)) { json throws(JSONError) in try UserChange(&json) } == change)
    }
    for change in [
      wholeSite, SiteSettingsChange(newcomers: [.set(\.days, 3)]),
      SiteSettingsChange([.set(\.signUpsPausedUntil, nil), .set(\.newcomersPausedUntil, nil)]),
    ] {
      #expect(try read(.value(change)) { json throws(JSONError) in try SiteSettingsChange(&json) } == change)
    }
  }

  @Test func `no body has a member name that is missing in the contract`() throws {
    let contract = try Contract()
    let endpoints = root.appending(path: "Sources/Kit/ParleyKit/Client/Endpoints")
    var written: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: endpoints.path) {
      let text = try String(contentsOf: endpoints.appending(path: name), encoding: .utf8)
      let writing = try Regex(#"(?:json|\$0)\.\w+\("(\w+)""#)
      written.formUnion(text.matches(of: writing).compactMap { $0.output[1].substring.map(String.init) })
    }
    let known = contract.bodies.values.flatMap(contract.members).flatMap { $0.split(separator: ".").map(String.init) }
    // Fields of records and the content of an annotation are encoded elsewhere.
    #expect(written.isSubset(of: known), "\(written.subtracting(known))")
  }

  @Test func `a request with a client id is repeatable`() {
    let named = Request<Resource<MessageView>>.postMessage(in: ID(7), "hello", clientID: "one")
    #expect(named.isRepeatable && !Request<Resource<MessageView>>.postMessage(in: ID(7), "hello").isRepeatable)
    #expect(Request<Resource<ForumView>>.createForum(title: "roses", clientID: "one").isRepeatable)
    let file = { Request<Resource<File>>.uploadFile(name: "a.txt", clientID: $0, .bytes([1], type: "text/plain")) }
    #expect(file("one").isRepeatable && !file(nil).isRepeatable)
    // A second response would lack data of the first or differ from it.
    #expect(!Request<Resource<NewToken>>.createToken(name: "robot", scope: .read, clientID: "one").isRepeatable)
    #expect(!Request<Resource<NewBot>>.createBot(name: "dice", scope: .read, clientID: "one").isRepeatable)
    #expect(!Request<Resource<NewWebhook>>.createWebhook(WebhookDraft(ID(7), name: "b", clientID: "o")).isRepeatable)
    let endpoint = WebhookEndpointDraft(name: "b", url: "https://example.org/", topics: [.me], clientID: "o")
    #expect(!Request<Resource<NewWebhookEndpoint>>.createWebhookEndpoint(endpoint).isRepeatable)
    let command = SlashCommandDraft(name: "b", bot: ID(9), url: "https://example.org/", clientID: "o")
    #expect(!Request<Resource<NewSlashCommand>>.createCommand(command).isRepeatable)
    let app = AppDraft(name: "b", redirectURIs: ["https://example.org/"], clientID: "o")
    #expect(!Request<Resource<NewApp>>.createApp(app).isRepeatable)
    #expect(Request<Resource<CommandInvocation>>.invokeCommand("b", in: ID(7), clientID: "o").isRepeatable)
    #expect(Request<Resource<Message>>.postToWebhook("5f3d", "green", clientID: "one").isRepeatable)
    let imported = Request<Resource<SignInResult>>.signUp(nil, password: "a long one", invite: "code", clientID: "one")
    #expect(!imported.isRepeatable)
  }
}
