import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage
@testable import Web

/// Incoming webhooks: who may create them, what ends them, and what limits them.
@Suite struct WebhookTests {
  /// Creates a webhook; returns its id and the path of its URL.
  static func create(
    _ name: String = "Builds", in conversation: String, as staff: String = "ada", of village: Village,
    fields: Fields = Fields()
  ) async throws -> (id: String, path: String) {
    let body = ["conversation_id": conversation, "name": name]
    let made = try await village.request(
      .post, "/webhooks", as: fields.isEmpty ? staff : nil, body, fields: fields)
    #expect(made.status == 201, "\(made.text)")
    return (try #require(made["id"]), try path(made["url"]))
  }

  private static func path(_ url: String?) throws -> String {
    let url = try #require(url)
    return String(url[try #require(url.range(of: "/hooks/")).lowerBound...])
  }

  private static func texts(in conversation: String, of village: Village) async throws -> [String?] {
    try await village.request(.get, "/conversations/\(conversation)/messages?order=asc", as: "ada").texts(
      "data", "text")
  }

  @Test(arguments: TestTransport.allCases)
  func `staff create a webhook, whose URL is shown once and posts as its bot`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden("garden", "private")
      let made = try await village.expect(
        201, .post, "/webhooks", as: "ada", ["conversation_id": room, "name": " CI Builds "])
      #expect(made["name"] == "CI Builds" && made.bool("enabled") == true && made.bool("revoked") == false)
      #expect(made["owner_id"] == village.id("ada") && made.isNull("last_used_at"))
      let path = try Self.path(made["url"])
      #expect(path.wholeMatch(of: /\/hooks\/[0-9a-f]{64}/) != nil)
      let posted = try await village.request(.post, path, ["text": "Build *812* is green"])
      #expect(posted.status == 200 && posted.text == "ok")
      #expect(posted.fields["content-type"]?.hasPrefix("text/plain") == true)
      #expect(posted.fields["ratelimit-limit"] != nil)
      let message = try await village.request(.get, "/conversations/\(room)/messages", as: "ada")
      #expect(message["data.0.text"] == "Build **812** is green" && message["data.0.author_id"] == made["bot_id"])
      let bot = try await village.request(.get, "/users/\(made["bot_id"] ?? "")", as: "ada")
      #expect(bot["name"] == "ci-builds" && bot["display_name"] == "CI Builds" && bot["role"] == "bot")
      #expect(bot["owner_id"] == village.id("ada"))
      #expect(try await village.request(.get, "/forums/\(forum)/members", as: "ada").text.contains("ci-builds"))
      let list = try await village.request(.get, "/webhooks?include=users", as: "ada")
      #expect(list.texts("data", "name") == ["CI Builds"] && !list.isNull("data.0.last_used_at"))
      #expect(!list.text.contains(path.dropFirst("/hooks/".count)) && list.count("included.users") == 2)
      // The bots of webhooks are listed with them, not with other bots.
      #expect(try await village.request(.get, "/bots", as: "ada").texts("data", "name") == ["robo"])
      let entry = try await village.request(.get, "/audit?kind=webhook.created", as: "ada")
      #expect(entry["data.0.subject_id"] == made["id"] && entry["data.0.reason"] == "CI Builds")
    }
  }

  @Test(arguments: [("ada", 201), ("alma", 201), ("mira", 403), ("grace", 403), ("robo", 403), ("gus", 403)])
  func `permissions to create and list webhooks`(caller: String, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let room = try await village.garden(members: ["grace", "gus", "robo"]).room
      let body = ["conversation_id": room, "name": "Builds"]
      let made = try await village.request(.post, "/webhooks", as: caller, body)
      #expect(made.status == status, "\(made.text)")
      #expect(try await village.request(.get, "/webhooks", as: caller).status == (status == 201 ? 200 : 403))
      #expect(try await village.request(.get, "/webhooks").status == 401)
      guard status == 201, let id = made["id"] else { return }
      for name in ["mira", "grace"] {
        #expect(try await village.request(.get, "/webhooks/\(id)", as: name).status == 403)
        #expect(try await village.request(.patch, "/webhooks/\(id)", as: name, ["enabled": false]).status == 403)
        #expect(try await village.request(.post, "/webhooks/\(id)/secret", as: name).status == 403)
        #expect(try await village.request(.delete, "/webhooks/\(id)", as: name).status == 403)
      }
    }
  }

  @Test func `a webhook posts to groups that the staff manages, and not to direct conversations or feeds`() async throws
  {
    try await Village.open(.inMemory) { village in
      let own = try await village.conversation("group", by: "ada", with: ["grace"])
      let direct = try await village.conversation("direct", by: "ada", with: ["grace"])
      let other = try await village.conversation("group", by: "grace", with: ["linus"])
      let joined = try await village.conversation("group", by: "grace", with: ["ada"])
      let hook = try await Self.create(in: own, of: village)
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 200)
      let people = try await village.request(.get, "/conversations/\(own)/participants", as: "ada")
      #expect(people.count("data") == 3)
      for (conversation, status, code) in [
        (direct, 400, "invalid"), (other, 400, "unknown"), ("999999", 400, "unknown"), (joined, 403, nil),
      ] as [(String, Int, String?)] {
        let body = ["conversation_id": conversation, "name": "Builds"]
        let refused = try await village.request(.post, "/webhooks", as: "ada", body)
        #expect(refused.status == status && refused["errors.0.code"] == code, "\(refused.text)")
      }
    }
  }

  @Test func `a topic has webhooks, and a forum that its members may not write in has none`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden().forum
      let topic = try await village.topic("Releases", in: forum)
      let hook = try await Self.create(in: topic, of: village)
      #expect(try await village.request(.post, hook.path, ["text": "1.0"]).status == 200)
      #expect(try await Self.texts(in: topic, of: village) == ["1.0"])
      let quiet = try await village.garden("news", "members", ["write": "moderators"]).room
      let body = ["conversation_id": quiet, "name": "Builds"]
      let refused = try await village.request(.post, "/webhooks", as: "ada", body)
      #expect(refused.status == 400 && refused["errors.0.field"] == "conversation_id")
      #expect(try await village.request(.get, "/webhooks", as: "ada").count("data") == 1)
      #expect(try await village.request(.get, "/users?query=builds", as: "ada").count("data") == 1)
    }
  }

  @Test func `a repeated request creates one webhook and does not repeat its URL`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let body: [String: Any] = ["conversation_id": room, "name": "Builds", "client_id": "c1"]
      let first = try await village.expect(201, .post, "/webhooks", as: "ada", body)
      let again = try await village.expect(200, .post, "/webhooks", as: "ada", body)
      #expect(again["id"] == first["id"] && !again.has("url"))
      let other = try await village.request(.post, "/webhooks", as: "ada", body.merging(["name": "Tests"]) { $1 })
      #expect(other.code == "client_id_reused")
      // Another webhook of the same name has a bot of another name.
      let second = try await village.expect(
        201, .post, "/webhooks", as: "ada", ["conversation_id": room, "name": "Builds"])
      #expect(try await village.request(.get, "/users/\(second["bot_id"] ?? "")", as: "ada")["name"] == "builds-2")
    }
  }

  @Test(arguments: [("Room", "room-2"), ("✨", "webhook"), ("Ünï — Co.", "n-co"), ("grace", "grace-2")])
  func `the bot of a webhook has a free name`(name: String, expected: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let made = try await village.expect(
        201, .post, "/webhooks", as: "ada", ["conversation_id": room, "name": name])
      let bot = try await village.request(.get, "/users/\(made["bot_id"] ?? "")", as: "ada")
      #expect(bot["name"] == expected && bot["display_name"] == name)
    }
  }

  @Test func `unknown, disabled, revoked and deleted URLs answer alike, also to credentials`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let unknown = try await village.request(.post, "/hooks/" + String(repeating: "a", count: 64), ["text": "x"])
      #expect(unknown.status == 404)
      for (number, end) in ["disable", "rotate", "delete", "ban the bot", "ban"].enumerated() {
        let staff = "staff\(number)"
        try await village.addUser(staff, .admin)
        let hook = try await Self.create(in: room, as: staff, of: village)
        #expect(try await village.request(.post, hook.path, ["text": end]).status == 200)
        let bot = try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")["bot_id"] ?? ""
        switch end {
        case "disable": try await village.expect(200, .patch, "/webhooks/\(hook.id)", as: "ada", ["enabled": false])
        case "rotate": try await village.expect(200, .post, "/webhooks/\(hook.id)/secret", as: "ada")
        case "delete": try await village.expect(204, .delete, "/webhooks/\(hook.id)", as: "ada")
        case "ban the bot": try await village.expect(200, .put, "/users/\(bot)/ban", as: "ada", ["reason": "x"])
        default: try await village.expect(200, .put, "/users/@\(staff)/ban", as: "ada", ["reason": "x"])
        }
        for name in [nil, "ada"] {
          let ended = try await village.request(.post, hook.path, as: name, ["text": "x"])
          #expect(ended.status == 404 && ended["title"] == unknown["title"], "\(end)")
        }
      }
      #expect(try await Self.texts(in: room, of: village).count == 5)
    }
  }

  @Test(arguments: ["ban", "disable", "leave", "erase", "demote"])
  func `the webhooks of a creator end with`(change: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let room = try await village.garden().room
      let hook = try await Self.create(in: room, as: "alma", of: village)
      switch change {
      case "ban": try await village.expect(200, .put, "/users/@alma/ban", as: "ada", ["reason": "x"])
      case "disable": try await village.expect(200, .patch, "/users/@alma", as: "ada", ["disabled": true])
      case "demote":
        try await village.expect(200, .patch, "/users/@alma", as: "ada", ["role": "member", "end_sessions": false])
      default: try await village.expect(200, .delete, "/users/@alma", as: "ada", ["how": change, "reason": "x"])
      }
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 404)
      let shown = try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")
      #expect(shown.bool("revoked") == true && shown.bool("enabled") == false)
      // The end of a ban does not bring the URL back. A new secret is of the one who creates it.
      if change == "ban" { try await village.expect(204, .delete, "/users/@alma/ban", as: "ada") }
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 404)
      let enabled = try await village.request(.patch, "/webhooks/\(hook.id)", as: "ada", ["enabled": true])
      #expect(enabled.status == 409 && enabled.code == "secret_revoked")
      let renewed = try await village.expect(200, .post, "/webhooks/\(hook.id)/secret", as: "ada")
      #expect(renewed.bool("enabled") == true && renewed.bool("revoked") == false)
      #expect(renewed["owner_id"] == village.id("ada"))
      #expect(try await village.request(.post, try Self.path(renewed["url"]), ["text": "x"]).status == 200)
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 404)
    }
  }

  /// Rows: the scope of the token.
  @Test(arguments: [(Scope.read, 403), (.write, 403), (.admin, 201)])
  func `a webhook needs the scope admin, and ends with the token that created it`(
    scope: Scope, status: Int
  ) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let credential = try await village.expect(
        201, .post, "/me/tokens", as: "ada", ["name": "t", "scope": scope.rawValue])
      let fields: Fields = ["Authorization": "Bearer \(credential["token"] ?? "")"]
      let made = try await village.request(
        .post, "/webhooks", ["conversation_id": room, "name": "Builds"], fields: fields)
      #expect(made.status == status)
      guard status == 201 else { return }
      let path = try Self.path(made["url"])
      #expect(try await village.request(.post, path, ["text": "x"]).status == 200)
      try await village.expect(204, .delete, "/me/tokens/\(credential["id"] ?? "")", as: "ada")
      #expect(try await village.request(.post, path, ["text": "x"]).status == 404)
      let shown = try await village.request(.get, "/webhooks/\(made["id"] ?? "")", as: "ada")
      #expect(shown.bool("revoked") == true)
    }
  }

  @Test func `a change of the password does not end the webhooks of a session`() async throws {
    try await Village.open(.inMemory) { village in
      let hook = try await Self.create(in: try await village.garden().room, of: village)
      let body = ["old_password": "ada’s password", "password": "another one"]
      try await village.expect(204, .put, "/me/password", as: "ada", body)
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 200)
    }
  }

  @Test func `the right to post follows the conversation`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "members")
      let topic = try await village.topic("Releases", in: forum)
      let (chat, thread) = (
        try await Self.create("Chat", in: room, of: village), try await Self.create("Topic", in: topic, of: village)
      )
      func status(_ path: String) async throws -> Int { try await village.request(.post, path, ["text": "x"]).status }
      try await village.expect(200, .patch, "/conversations/\(topic)", as: "ada", ["locked": true])
      #expect(try await (status(chat.path), status(thread.path)) == (200, 403))
      try await village.expect(200, .patch, "/conversations/\(topic)", as: "ada", ["locked": false])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["write": "moderators"])
      #expect(try await (status(chat.path), status(thread.path)) == (403, 403))
      try await village.expect(
        200, .patch, "/forums/\(forum)", as: "ada", ["write": "readers", "visibility": "private"])
      #expect(try await (status(chat.path), status(thread.path)) == (200, 200))
      let bot = try await village.request(.get, "/webhooks/\(chat.id)", as: "ada")["bot_id"] ?? ""
      try await village.expect(204, .delete, "/forums/\(forum)/members/\(bot)", as: "ada")
      #expect(try await (status(chat.path), status(thread.path)) == (410, 200))
      try await village.expect(200, .delete, "/forums/\(forum)", as: "ada", ["reason": "x"])
      #expect(try await (status(chat.path), status(thread.path)) == (410, 410))
    }
  }

  @Test func `a bot that was removed from an open forum posts no more`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "members")
      let hook = try await Self.create(in: room, of: village)
      let bot = try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")["bot_id"] ?? ""
      try await village.expect(204, .delete, "/forums/\(forum)/members/\(bot)", as: "ada")
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 410)
    }
  }

  @Test func `all staff stop a webhook of a private group, and its admins change it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let group = try await village.conversation("group", by: "alma", with: ["grace"])
      let hook = try await Self.create(in: group, as: "alma", of: village)
      let picture = try await village.send(Photographs.png(), named: "a.png", by: "ada")["id"] ?? ""
      func status(_ body: [String: Any], as name: String = "ada") async throws -> Int {
        try await village.request(.patch, "/webhooks/\(hook.id)", as: name, body).status
      }
      #expect(try await status(["name": "Ada's"]) == 403)
      #expect(try await status(["avatar": picture]) == 403)
      #expect(try await status(["avatar": NSNull()]) == 403)
      #expect(try await village.request(.get, "/webhooks", as: "ada").texts("data", "name") == ["Builds"])
      // Forms send the name along.
      #expect(try await status(["name": "Builds", "enabled": false]) == 200)
      #expect(try await status(["enabled": true]) == 403)
      #expect(try await status(["enabled": true, "name": "Tests"], as: "alma") == 200)
      try await village.expect(204, .delete, "/webhooks/\(hook.id)", as: "ada")
    }
  }

  @Test func `the bot of a webhook gets no token`() async throws {
    try await Village.open(.inMemory) { village in
      let hook = try await Self.create(in: try await village.garden().room, of: village)
      let bot = try #require(try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")["bot_id"])
      let robot = ID<User>(try #require(Int(bot)))
      let ada = Caller(user: ID(try #require(Int(village.id("ada")))), role: .owner, scope: .admin, session: nil)
      await #expect(throws: Refusal.forbidden) {
        _ = try await village.community.createToken(TokenDraft(name: "t", scope: .write), for: .id(robot), by: ada)
      }
    }
  }

  @Test func `a new name of the bot is a new revision of its webhook`() async throws {
    try await Village.open(.inMemory) { village in
      let hook = try await Self.create(in: try await village.garden().room, of: village)
      let bot = try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")["bot_id"] ?? ""
      try await village.expect(200, .patch, "/users/\(bot)", as: "ada", ["display_name": "Tests"])
      let shown = try await village.request(.get, "/webhooks/\(hook.id)", as: "ada")
      #expect(shown["name"] == "Tests" && shown.int("revision") == 2)
    }
  }

  @Test func `a body that comes after the end of the webhook is not posted`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for end in ["disable", "rotate", "delete", "ban"] {
        try await village.addUser("alma\(end)", .admin)
        let hook = try await Self.create(in: room, as: "alma\(end)", of: village)
        let secret = String(hook.path.dropFirst("/hooks/".count))
        // Reads the webhook like a request before its body.
        let found = try #require(try village.community.view().webhook(withSecret: secret))
        switch end {
        case "disable": try await village.expect(200, .patch, "/webhooks/\(hook.id)", as: "ada", ["enabled": false])
        case "rotate": try await village.expect(200, .post, "/webhooks/\(hook.id)/secret", as: "ada")
        case "delete": try await village.expect(204, .delete, "/webhooks/\(hook.id)", as: "ada")
        default: try await village.expect(200, .put, "/users/@alma\(end)/ban", as: "ada", ["reason": "x"])
        }
        await #expect(throws: Refusal.notFound) {
          try await village.community.postToWebhook(found, secret, MessageDraft(text: "late", clientID: nil))
        }
      }
      #expect(try await Self.texts(in: room, of: village).isEmpty)
    }
  }

  @Test func `a deleted webhook leaves its messages with their author`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let hook = try await Self.create(in: room, of: village)
      try await village.expect(200, .post, hook.path, ["text": "green"])
      for _ in 1...2 { try await village.expect(204, .delete, "/webhooks/\(hook.id)", as: "ada") }
      let page = try await village.request(.get, "/conversations/\(room)/messages?include=users", as: "grace")
      #expect(page["data.0.text"] == "green" && page["included.users.0.display_name"] == "Builds")
      #expect(try await village.request(.get, "/webhooks/\(hook.id)", as: "ada").status == 404)
      #expect(try await village.request(.patch, "/webhooks/\(hook.id)", as: "ada", ["enabled": true]).status == 404)
      #expect(try await village.request(.get, "/webhooks", as: "ada").count("data") == 0)
      #expect(try await village.request(.get, "/bots", as: "ada").count("data") == 1)
      // A deleted bot takes its webhook along.
      let other = try await Self.create(in: room, of: village)
      let bot = try await village.request(.get, "/webhooks/\(other.id)", as: "ada")["bot_id"] ?? ""
      try await village.expect(200, .delete, "/users/\(bot)", as: "ada", ["how": "erase", "reason": "x"])
      #expect(try await village.request(.post, other.path, ["text": "x"]).status == 404)
      #expect(try await village.request(.get, "/webhooks", as: "ada").count("data") == 0)
    }
  }

  @Test func `a webhook is renamed and gets a picture, which members see`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let bytes = Photographs.png()
      let picture = try await village.send(bytes, named: "a.png", by: "ada")["id"] ?? ""
      let made = try await village.expect(
        201, .post, "/webhooks", as: "ada", ["conversation_id": room, "name": "Builds", "avatar": picture])
      let (id, bot) = (made["id"] ?? "", made["bot_id"] ?? "")
      let avatar = "/users/\(bot)/avatar"
      let isPicture = { (answer: Answer) in answer.fields["content-type"] == "image/png" }
      #expect(isPicture(try await village.request(.get, avatar, as: "grace")))
      let renamed = try await village.expect(
        200, .patch, "/webhooks/\(id)", as: "ada", ["name": "Tests", "avatar": NSNull(), "if_revision": 1])
      #expect(renamed["name"] == "Tests" && renamed.int("revision") == 2)
      #expect(!isPicture(try await village.request(.get, avatar, as: "grace")))
      #expect(try await village.request(.get, "/users/\(bot)", as: "grace")["display_name"] == "Tests")
      let stale = try await village.request(
        .patch, "/webhooks/\(id)", as: "ada", ["enabled": false, "if_revision": 1])
      #expect(stale.status == 409 && stale["current.name"] == "Tests")
      let same = try await village.expect(200, .patch, "/webhooks/\(id)", as: "ada", ["name": "Tests"])
      #expect(same.int("revision") == 2)
      let others = try await village.send(bytes, named: "b.png", by: "grace")["id"] ?? ""
      let refused = try await village.request(.patch, "/webhooks/\(id)", as: "ada", ["avatar": others])
      #expect(refused.status == 400 && refused["errors.0.field"] == "avatar")
      let entries = try await village.request(.get, "/audit?kind=webhook.changed", as: "ada")
      #expect(entries.texts("data", "reason") == ["Tests"])
    }
  }

  @Test func `wrong fields of a webhook are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let rows: [(String, Any, String)] = [
        ("conversation_id", "x", "invalid"), ("name", "", "too_short"), ("name", "a\nb", "invalid"),
        ("name", String(repeating: "x", count: 65), "too_long"), ("name", "a\u{202e}b", "invalid"),
        ("avatar", "999999", "unknown"), ("client_id", "", "too_short"), ("url", "x", "unknown_field"),
      ]
      for (field, value, code) in rows {
        let body = ["conversation_id": room, "name": "Builds"].merging([field: value]) { $1 } as [String: Any]
        let refused = try await village.request(.post, "/webhooks", as: "ada", body)
        #expect(refused.status == 400 && refused["errors.0.field"] == field, "\(refused.text)")
        #expect(refused["errors.0.code"] == code, "\(refused.text)")
      }
      #expect(try await village.request(.get, "/webhooks", as: "ada").count("data") == 0)
    }
  }

  @Test func `the webhooks of a conversation and of the site are limited`() async throws {
    var bounds = Bounds()
    (bounds.webhooks, bounds.conversationWebhooks) = (3, 2)
    try await Village.open(.inMemory, bounds: bounds) { village in
      let (one, two) = (try await village.garden("one").room, try await village.garden("two").room)
      func create(_ room: String) async throws -> Answer {
        try await village.request(.post, "/webhooks", as: "ada", ["conversation_id": room, "name": "Builds"])
      }
      let first = try await create(one)
      #expect(try await create(one).status == 201)
      let third = try await create(one)
      #expect(third.status == 409 && third.code == "too_many" && third.int("params.limit") == 2)
      #expect(try await create(two).status == 201)
      #expect(try await create(two).int("params.limit") == 3)
      // A deleted one does not count.
      try await village.expect(204, .delete, "/webhooks/\(first["id"] ?? "")", as: "ada")
      #expect(try await create(two).status == 201)
      // Nor do those of a deleted forum.
      let three = try await village.garden("three").room
      #expect(try await create(three).int("params.limit") == 3)
      let forum = try await village.request(.get, "/conversations/\(two)", as: "ada")["forum_id"] ?? ""
      try await village.expect(200, .delete, "/forums/\(forum)", as: "ada", ["reason": "x"])
      #expect(try await create(three).status == 201)
    }
  }

  @Test func `webhooks do not count as bots`() async throws {
    var bounds = Bounds()
    bounds.bots = 2
    try await Village.open(.inMemory, bounds: bounds) { village in
      let room = try await village.garden().room
      for _ in 1...2 { _ = try await Self.create(in: room, of: village) }
      try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      #expect(try await village.request(.post, "/bots", as: "ada", ["name": "die", "scope": "read"]).status == 409)
    }
  }

  @Test func `each webhook has a rate limit of its own`() async throws {
    var rates = Village.unlimited
    rates.delivering = Allowance(burst: 2, perMinute: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      let room = try await village.garden().room
      let (one, two) = (try await Self.create(in: room, of: village), try await Self.create(in: room, of: village))
      for _ in 1...2 { #expect(try await village.request(.post, one.path, ["text": "x"]).status == 200) }
      let limited = try await village.request(.post, one.path, ["text": "x"])
      #expect(limited.status == 429 && limited.code == "rate_limited" && limited.fields["retry-after"] != nil)
      #expect(try await village.request(.post, two.path, ["text": "x"]).status == 200)
    }
  }

  @Test func `unknown secrets count as guesses of their network, and do not stop the known ones`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      let hook = try await Self.create(in: try await village.garden().room, of: village)
      for number in 1...3 {
        #expect(try await village.request(.post, "/hooks/guess\(number)", ["text": "x"]).status == 404)
      }
      #expect(try await village.request(.post, "/hooks/guess4", ["text": "x"]).status == 429)
      #expect(try await village.request(.post, hook.path, ["text": "x"]).status == 200)
      // Passwords are counted apart.
      try await village.signIn("grace", "grace’s password")
    }
  }

  @Test func `a repeated post is one message`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let hook = try await Self.create(in: room, of: village)
      for _ in 1...2 {
        #expect(try await village.request(.post, hook.path, ["text": "green", "client_id": "b1"]).text == "ok")
        let key: Fields = ["Idempotency-Key": "b2"]
        #expect(try await village.request(.post, hook.path, ["text": "red"], fields: key).text == "ok")
      }
      #expect(try await Self.texts(in: room, of: village) == ["green", "red"])
      let other = try await village.request(.post, hook.path, ["text": "blue", "client_id": "b1"])
      #expect(other.status == 409 && other.code == "client_id_reused")
      for _ in 1...2 {
        let answer = try await village.request(
          .post, hook.path + "?format=discord", ["content": "pale", "client_id": "b4"])
        #expect(answer.status == 204)
      }
      #expect(try await Self.texts(in: room, of: village) == ["green", "red", "pale"])
      let path = hook.path + "?format=markdown"
      let first = try await village.request(.post, path, ["text": "new", "client_id": "b3"])
      let again = try await village.request(.post, path, ["text": "new", "client_id": "b3"])
      #expect(first.status == 201 && again.status == 200 && first["id"] == again["id"])
      // Two webhooks have keys of their own.
      let second = try await Self.create(in: room, of: village)
      #expect(try await village.request(.post, second.path, ["text": "blue", "client_id": "b1"]).text == "ok")
      let long: Fields = ["Idempotency-Key": String(repeating: "k", count: 65)]
      #expect(try await village.request(.post, hook.path, ["text": "x"], fields: long)["errors.0.field"] == "client_id")
    }
  }

  @Test func `secrets are stored as digests`() async throws {
    try await Village.open(.inMemory) { village in
      let hook = try await Self.create(in: try await village.garden().room, of: village)
      let secret = String(hook.path.dropFirst("/hooks/".count))
      let found = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.all("select hex(digest), quote(digest) from webhook") { row in
            [try row.text(0), try row.text(1)]
          }
        }
      }
      #expect(found.count == 1 && !found.joined().contains { $0.lowercased().contains(secret) })
      #expect(try await !village.request(.get, "/audit", as: "ada").text.contains(secret))
    }
  }
}
