import Foundation
import ParleyJSON
import ParleyModel
import TestSupport
import Testing

@testable import ParleyKit

// What calls can say, beside what the contract lets them say: nothing less, nothing more, and nothing else.

private let root = Checkout.root

/// The bodies that the contract has.
private struct Contract {
  typealias Schema = [String: Any]

  private let schemas: [String: Schema]
  /// By `PATCH /forums/{id}`.
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

  /// The operation whose call this is.
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

  /// The schemas of which one is enough.
  func choices(_ schema: Schema) -> [Schema] {
    if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
      return schemas[String(name)].map(choices) ?? []
    }
    return (schema["anyOf"] as? [Schema])?.flatMap(choices) ?? [schema]
  }

  /// `title`, `newcomers.days`, and what stands in lists as if it stood in their place.
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

  /// Those that may be null.
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

/// What calls say, by their operations.
private struct Said {
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

  /// As `Contract.members` has them; what is in an app's own value is the app's.
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
  title: "roses", about: "Roses.", iconURL: .set("https://chat.example/rose.png"), icon: .set(ID(8)),
  visibility: .private, from: .beginning, write: .members, startTopics: .moderators, roomMention: .readers,
  section: .set("plants"), position: 3, slowSeconds: 5, isLocked: true, isArchived: false, isSolvable: true,
  showsRevisions: false, callURL: .set("https://call.example/roses"), reason: "Because.", ifRevision: 4)
private let wholeConversation = ConversationChange(
  title: .set("roses"), annotations: todo, readers: .init(.users, isImmutable: false),
  writers: .init(.listed, isImmutable: true), from: .now, isHistoryVisible: true, slowSeconds: 5, isLocked: false,
  reason: "Because.", ifRevision: 4)
private let wholeTopic = TopicChange(
  title: "roses", solvedBy: .set(ID(9)), isPinned: true, isLocked: false, slowSeconds: 0, reason: "Because.",
  ifRevision: 4)
private let wholeUser = UserChange(
  displayName: .set("Ada"), bio: "Gardens.", isDiscoverable: true, reachableBy: .shared, showsReceipts: true,
  showsPresence: false, preferences: JSONRaw(trusted: Array(#"{"hue":3}"#.utf8)), addresses: ["ada@example.com"],
  name: "ada", role: .moderator, isDisabled: false, reason: "Because.", ifRevision: 4)
private let wholeSite = SiteSettingsChange(
  name: "Garden", hue: 120, welcome: "Come in.", rules: "Be kind.", registration: .approval, mayInvite: .users,
  mayCreateForums: .moderators, mayPublish: .staff, hasDiscovery: true,
  newcomers: NewcomersChange(days: 1, messages: 2, messagesPerHour: 3, linksPerHour: 4, mentionsPerHour: 5),
  cutsMetadata: true, linkPreviews: false, icon: .set(ID(8)), ifRevision: 4)

@Suite struct BodyTests {
  @Test func `whatever the contract lets a call say can be said, and nothing else`() throws {
    let contract = try Contract()
    var said = Said(contract: contract)
    try sayForums(&said)
    try sayConversations(&said)
    try sayMessages(&said)
    try writeUsers(&said)
    try sayOrder(&said)
    try sayWaysIn(&said)
    try sayTheRest(&said)
    #expect(said.members.keys.sorted() == contract.bodies.keys.sorted())
    for (operation, schema) in contract.bodies {
      #expect(said.members[operation] == contract.members(of: schema), "\(operation)")
      #expect(said.nulls[operation] == (try contract.clearable(schema)), "\(operation)")
    }
  }

  private func sayForums(_ said: inout Said) throws {
    try said.take(
      .createForum(
        title: "roses", about: "Roses.", iconURL: "https://chat.example/rose.png", icon: ID(8), visibility: .public,
        write: .readers, startTopics: .members, section: "plants", position: 2, clientID: "one"))
    try said.take(.createForum(title: "roses"))
    try said.take(.updateForum(ID(7), wholeForum))
    try said.take(
      .updateForum(ID(7), ForumChange(iconURL: .cleared, icon: .cleared, section: .cleared, callURL: .cleared)))
    try said.take(.setForumMember(of: ID(7), to: .me, role: .moderator))
    try said.take(.createTopic(in: ID(7), title: "roses", text: "Which?", clientID: "one"))
    try said.take(.createTopic(in: ID(7), title: "roses"))
    try said.take(.setForumLevel(of: ID(7), to: .mentions))
    try said.take(.setForumLevel(of: ID(7), to: nil))
  }

  private func sayConversations(_ said: inout Said) throws {
    try said.take(
      .createConversation(
        .channel, with: [.name("grace"), .id(ID(5), as: .reader)], title: "roses", type: "com.example.todo",
        annotations: todo, readers: .init(.anyone), writers: .init(.listed, isImmutable: true), isHistoryVisible: false,
        isDistinct: false, clientID: "one"))
    try said.take(.createConversation(.feed))
    try said.take(.updateConversation(ID(7), wholeConversation))
    try said.take(.updateConversation(ID(7), ConversationChange(title: .cleared)))
    try said.take(.updateConversation(ID(7), wholeTopic))
    try said.take(.updateConversation(ID(7), TopicChange(solvedBy: .cleared)))
    try said.take(.setParticipant(of: ID(7), to: .name("grace"), role: .admin))
    try said.take(.markRead(ID(7), upTo: ID(9)))
    try said.take(.markDelivered(ID(7), upTo: ID(9)))
    try said.take(.setConversationLevel(of: ID(7), to: .everything))
    try said.take(.setConversationLevel(of: ID(7), to: nil))
  }

  private func sayMessages(_ said: inout Said) throws {
    try said.take(
      .postMessage(
        in: ID(7), "hello", replyTo: ID(9), attachments: [ID(8)], annotations: todo, isMachineOnly: true, sentAt: time,
        catchUpAfter: ID(9), clientID: "one"))
    try said.take(.postMessage(in: ID(7), "hello"))
    try said.take(.editMessage(ID(9), text: "hello!", attachments: [], ifRevision: 2))
    try said.take(.removeMessage(ID(9), reason: "Because."))
    try said.take(.restoreMessage(ID(9), reason: "Because."))
    try said.take(.createTopicFromMessage(of: ID(9), title: "roses"))
  }

  private func writeUsers(_ said: inout Said) throws {
    try said.take(
      .signUp(
        "ada", password: "a long one", displayName: "Ada", invite: "code", acceptsRules: true, device: "phone",
        cookie: false, clientID: "one"))
    try said.take(.signUp(nil, password: "a long one"))
    try said.take(.updateUser(.me, wholeUser))
    try said.take(.updateUser(.me, UserChange(displayName: .cleared)))
    try said.take(.deleteUser(.me, how: .deactivate, password: "a long one", reason: "Because."))
    try said.take(.setAvatar(of: .me, to: ID(8)))
    try said.take(.discoverUsers(["grace@example.com"]))
  }

  private func sayOrder(_ said: inout Said) throws {
    try said.take(.warnUser(.name("grace"), reason: "Be kind.", clientID: "one"))
    try said.take(.silenceUser(.name("grace"), in: ID(7), until: time, reason: "Because."))
    try said.take(.unsilenceUser(of: .name("grace"), in: ID(7), reason: "Because."))
    try said.take(.banUser(.name("grace"), until: time, reason: "Because.", closesInvite: true))
    try said.take(.unbanUser(of: .name("grace"), reason: "Because."))
    try said.take(.createReport(.message(ID(9)), reason: "Advertising.", clientID: "one"))
    try said.take(.createReport(.user(.name("grace")), reason: "Advertising."))
    try said.take(.updateReport(ID(6), state: .acted, assignee: .set(.me), outcome: .set("Done."), ifRevision: 2))
    try said.take(.updateReport(ID(6), assignee: .cleared, outcome: .cleared))
    try said.take(.createRemoval(by: .user(.id(ID(5))), since: time, in: ID(7), reason: "Because.", clientID: "one"))
    try said.take(.createRemoval(by: .invite("code"), since: time))
    try said.take(.undoRemoval(ID(6), reason: "Because."))
  }

  private func sayWaysIn(_ said: inout Said) throws {
    try said.take(
      Request<Resource<SignInResult>>.signIn("ada", password: "a long one", device: "phone", cookie: false))
    try said.take(
      .useLink("code", password: "a long one", name: "ada", displayName: "Ada", device: "phone", cookie: true))
    try said.take(.changePassword(from: "a short one", to: "a long one"))
    try said.take(.createToken(name: "script", scope: .read, expiresAt: time, clientID: "one"))
    try said.take(
      .createInvite(for: .name("grace"), role: .guest, to: ID(7), maxUses: 2, expiresAt: time, clientID: "one"))
    try said.take(.revokeInvite("code", bans: true, reason: "Because."))
  }

  private func sayTheRest(_ said: inout Said) throws {
    try said.take(.updateSettings(wholeSite))
    try said.take(.updateSettings(SiteSettingsChange(icon: .cleared)))
    try said.take(.markNotificationsRead(upTo: ID(4)))
    try said.take(.createLinkPreview(of: "https://chat.example", keep: true))
    try said.take(.createUpload(name: "a.bin", size: 3, type: "image/png", public: true, clientID: "one"))
  }

  @Test func `a server reads of a change what an app has said`() throws {
    func read<Thing>(
      _ body: RequestBody, _ thing: (inout JSONObject) throws(JSONError) -> Thing
    ) throws -> Thing {
      guard case .json(let raw) = body else { throw ClientFault.invalidResponse("no JSON") }
      var object = try JSONValue(parsing: raw.bytes).object()
      let read = try thing(&object)
      try object.finish()
      return read
    }
    for change in [wholeForum, ForumChange(section: .cleared), ForumChange()] {
      #expect(try read(change.body) { json throws(JSONError) in try ForumChange(&json) } == change)
    }
    for change in [wholeConversation, ConversationChange(readers: .init(isImmutable: true))] {
      #expect(try read(change.body) { json throws(JSONError) in try ConversationChange(&json) } == change)
    }
    for change in [wholeTopic, TopicChange(solvedBy: .cleared)] {
      #expect(try read(change.body) { json throws(JSONError) in try TopicChange(&json) } == change)
    }
    for change in [wholeUser, UserChange(displayName: .cleared)] {
      #expect(try read(change.body) { json throws(JSONError) in try UserChange(&json) } == change)
    }
    for change in [wholeSite, SiteSettingsChange(newcomers: NewcomersChange(days: 3))] {
      #expect(try read(change.body) { json throws(JSONError) in try SiteSettingsChange(&json) } == change)
    }
  }

  @Test func `no body has a name that no body of the contract has`() throws {
    let contract = try Contract()
    let client = root.appending(path: "Sources/Kit/ParleyKit/Client")
    var written: Set<String> = []
    for folder in ["Endpoints", "Changes"] {
      for name in try FileManager.default.contentsOfDirectory(atPath: client.appending(path: folder).path) {
        let text = try String(contentsOf: client.appending(path: "\(folder)/\(name)"), encoding: .utf8)
        let writing = try Regex(#"(?:json|\$0)\.\w+\("(\w+)""#)
        written.formUnion(text.matches(of: writing).compactMap { $0.output[1].substring.map(String.init) })
      }
    }
    let known = contract.bodies.values.flatMap(contract.members).flatMap { $0.split(separator: ".").map(String.init) }
    // What stands in an annotation writes itself elsewhere.
    #expect(written == Set(known).subtracting(["value"]))
  }

  @Test func `a call with a name of its own may be sent twice`() {
    let named = Request<Resource<MessageView>>.postMessage(in: ID(7), "hello", clientID: "one")
    #expect(named.isRepeatable && !Request<Resource<MessageView>>.postMessage(in: ID(7), "hello").isRepeatable)
    #expect(Request<Resource<ForumView>>.createForum(title: "roses", clientID: "one").isRepeatable)
    let file = { Request<Resource<File>>.uploadFile(name: "a.txt", clientID: $0, .bytes([1], type: "text/plain")) }
    #expect(file("one").isRepeatable && !file(nil).isRepeatable)
    // Of which a second answer would say less than the first, or something else.
    #expect(!Request<Resource<NewToken>>.createToken(name: "robot", scope: .read, clientID: "one").isRepeatable)
    let imported = Request<Resource<SignInResult>>.signUp(nil, password: "a long one", invite: "code", clientID: "one")
    #expect(!imported.isRepeatable)
  }
}
