import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Every list is `data`, `next` and `previous`, and paging it in both directions returns each item once.
@Suite struct ListTests {
  /// Lists bounded by the request, by the number of participants or by themselves. They have one page.
  private static let whole: Set = [
    "getMessages", "discoverUsers", "listReceipts", "listForumTags", "listReplyCounts", "listConversationCommands",
  ]

  @Test func `every list operation documents next and previous`() throws {
    let description = try #require(Description.shipped)
    var lists = 0
    for (path, item) in description.document["paths"]?.members ?? [:] {
      for operation in item.members.values {
        guard case .string(let name)? = operation["operationId"],
          let schema = operation["responses"]?["200"]?["content"]?["application/json"]?["schema"]
        else { continue }
        let properties = try description.resolved(schema)["properties"]
        // Long polling returns the events after a cursor, which is not a list.
        guard properties?["data"]?["type"] == .string("array"), name != "sync" else { continue }
        lists += 1
        let position: Tree = .object(["$ref": .string("#/components/schemas/PagePosition")])
        #expect(properties?["next"] == position && properties?["previous"] == position, "\(path)")
        #expect(properties?["more"] == nil, "\(path)")
        let required = try description.resolved(schema)["required"]?.items ?? []
        #expect(Set(required).isSuperset(of: [.string("data"), .string("next"), .string("previous")]), "\(path)")
        let parameters = try (operation["parameters"]?.items ?? []).map { try description.resolved($0)["name"] }
        let names: [Tree] = ["limit", "next", "previous"].map { .string($0) }
        #expect(names.allSatisfy(parameters.contains) == !Self.whole.contains(name), "\(path)")
      }
    }
    #expect(lists == 55)
  }

  /// The ids of a list, from its first page to the last and back.
  private static func walk(_ village: Village, _ path: String, limit: Int, as name: String) async throws -> [String] {
    func items(_ page: Answer) -> [String] {
      (0..<page.count("data")).map { number in
        let names = [
          "revision", "offset", "id", "name", "user.id", "message.id", "conversation_id", "user_id", "forum_id",
        ]
        let item = "data.\(number)"
        let parts = names.compactMap { page["\(item).\($0)"] ?? page.int("\(item).\($0)").map { "\($0)" } }
        return parts.joined(separator: " ") + " " + (page["\(item).type"] ?? "")
      }
    }
    var pages: [[String]] = []
    var (next, last) = (Optional(""), "")
    while let position = next {
      let page = try await village.request(.get, path + "limit=\(limit)" + position, as: name)
      try #require(page.status == 200, "\(path) \(page.text)")
      #expect(page.isNull("previous") == pages.isEmpty, "\(path)")
      pages.append(items(page))
      next = page["next"].map { "&next=\($0)" }
      last = page["previous"].map { "&previous=\($0)" } ?? ""
    }
    var backward = Array(pages.suffix(1))
    while !last.isEmpty {
      let page = try await village.request(.get, path + "limit=\(limit)" + last, as: name)
      try #require(page.status == 200 && page["next"] != nil, "\(path) \(page.text)")
      backward.insert(items(page), at: 0)
      last = page["previous"].map { "&previous=\($0)" } ?? ""
    }
    #expect(backward.flatMap(\.self) == pages.flatMap(\.self), "\(path) by \(limit)")
    return pages.flatMap(\.self)
  }

  @Test func `paging every list in both directions returns each item once`() async throws {
    let clock = StoppedClock()
    // Everything is created in the same millisecond.
    try await Village.open(.inMemory, clock: clock.read) { village in
      let rows = try await Self.fill(village)
      let document = try #require(Description.shipped?.document["paths"]?.members)
      let documented = document.filter { _, item in
        (item["get"]?["parameters"]?.items ?? []).contains(
          .object(["$ref": .string("#/components/parameters/Previous")]))
      }
      #expect(Set(rows.map(\.operation)) == Set(documented.keys))
      for (operation, path, name, least) in rows {
        let path = path + (path.contains("?") ? "&" : "?")
        let all = try await Self.walk(village, path, limit: 200, as: name)
        #expect(all.count >= least && Set(all).count == all.count, "\(operation): \(all)")
        for limit in [1, 2, 3, all.count - 1, all.count, all.count + 1] {
          #expect(try await Self.walk(village, path, limit: limit, as: name) == all, "\(operation) by \(limit)")
        }
      }
    }
  }

  @Test func `a position is refused by another list and when altered`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus", "mira"])
      let other = try await village.garden("kitchen", members: ["grace", "linus", "mira"]).forum
      for number in 0..<5 { try await village.post("\(number)", in: room) }
      let path = "/forums/\(forum)/members?limit=2"
      let page = try await village.expect(200, .get, path, as: "ada")
      let next = try #require(page["next"])
      let messages = try await village.expect(200, .get, "/conversations/\(room)/messages?limit=2", as: "ada")
      let second = try await village.expect(200, .get, "\(path)&next=\(next)", as: "ada")
      let previous = try #require(second["previous"])
      try await village.expect(200, .get, "/forums/\(forum)/members?limit=1&previous=\(previous)", as: "ada")
      let older = try #require(messages["next"])
      var wrong = [
        ("/forums/\(other)/members?next=\(next)", "next"), ("\(path)&next=\(previous)", "next"),
        ("\(path)&previous=\(next)", "previous"), ("\(path)&next=", "next"), ("\(path)&next=5", "next"),
        ("/forums?next=\(next)", "next"), ("/conversations/\(room)/messages?next=\(next)", "next"),
        ("/conversations/\(room)/messages?order=asc&next=\(older)", "next"), ("\(path)&next=\(older)", "next"),
        ("\(path)&next=\(String(repeating: "A", count: 600))", "next"),
      ]
      for index in next.indices {
        var altered = next
        altered.replaceSubrange(index...index, with: next[index] == "A" ? "B" : "A")
        wrong.append(("\(path)&next=\(altered)", "next"))
      }
      for (path, field) in wrong {
        let answer = try await village.request(.get, path, as: "ada")
        #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(path): \(answer.text)")
        #expect(answer["errors.0.code"] == "invalid", "\(path)")
      }
      let both = try await village.request(.get, "\(path)&next=\(next)&previous=\(previous)", as: "ada")
      #expect(both.status == 400 && both["errors.0.field"] == "previous")
      // Bounds place the first page of messages only.
      let ignored = "/conversations/\(room)/messages?limit=2&after=\(messages["data.0.id"] ?? "")&next=\(older)"
      #expect(try await village.expect(200, .get, ignored, as: "ada").texts("data", "text") == ["2", "1"])
    }
  }

  @Test func `an empty page tells how to go back`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden(members: ["grace", "linus"])
      let path = "/forums/\(forum)/members?limit=2"
      let next = try #require(try await village.expect(200, .get, path, as: "ada")["next"])
      try await village.expect(204, .delete, "/forums/\(forum)/members/@linus", as: "ada")
      let empty = try await village.expect(200, .get, "\(path)&next=\(next)", as: "ada")
      #expect(empty.count("data") == 0 && empty.isNull("next"))
      let previous = try #require(empty["previous"])
      #expect(try await village.expect(200, .get, "\(path)&previous=\(previous)", as: "ada").count("data") == 2)
    }
  }

  // MARK: Content

  private typealias Row = (operation: String, path: String, name: String, least: Int)

  private static func fill(_ village: Village) async throws -> [Row] {
    let users = (0..<6).map { "user\($0)" }
    for name in users { try await village.addUser(name) }
    for number in 0..<4 { _ = try await village.garden("garden \(number)", members: ["grace"]) }
    let (forum, room) = try await village.garden("square", members: ["grace", "linus"] + users)
    for name in users {
      try await village.expect(204, .put, "/users/@\(name)/follow", as: "grace")
      try await village.expect(204, .put, "/users/@grace/follow", as: name)
      try await village.expect(204, .put, "/users/@\(name)/mute", as: "robo")
      try await village.expect(204, .put, "/users/@\(name)/block", as: "robo")
    }
    let text = "roses #rose @grace"
    let first = try await village.post(text, in: room, as: "linus")
    let poll = try await village.post("Which?", in: room, as: "linus", ["poll": ["options": ["red", "white"]]])
    for name in users {
      let reply = try await village.post(text, in: room, as: name, ["reply_to": first])
      try await village.expect(200, .put, "/messages/\(reply)/actions/star", as: "grace")
      try await village.expect(200, .put, "/messages/\(first)/actions/like", as: name)
      try await village.expect(200, .put, "/messages/\(poll)/vote", as: name, ["options": [name == "user2" ? 1 : 0]])
      try await village.expect(200, .patch, "/messages/\(first)", as: "linus", ["text": "\(text) for \(name)"])
      let feed = try #require(try await village.expect(201, .post, "/conversations", as: name, ["kind": "feed"])["id"])
      for _ in 0..<2 { try await village.post("a post", in: feed, by: name) }
      let direct = try await village.conversation("direct", by: name, with: ["grace"])
      try await village.post("hello", in: direct, by: name)
      try await village.expect(201, .post, "/reports", as: name, ["user": "@linus", "reason": "noise"])
      try await village.expect(201, .post, "/users/@linus/warn", as: "mira", ["reason": "noise"])
      try await village.expect(201, .post, "/invites", as: "grace", [:])
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": name, "scope": "read"])
      _ = try await village.subscribe("grace", name)
      _ = try await PasskeyDevice.registered(village, for: "grace")
      try await OpenIDProvider.link(name, to: "grace", in: village)
      _ = try await village.signIn("grace", "grace’s password")
      _ = try await village.upload(name, by: "grace")
    }
    for number in 0..<6 {
      let topic = try await village.topic("topic \(number)", in: forum)
      if number.isMultiple(of: 2) {
        try await village.expect(200, .patch, "/conversations/\(topic)", as: "ada", ["pinned": true])
      }
      try await village.post("#rose", in: topic)
    }
    for number in 0..<6 {
      try await village.expect(
        201, .post, "/moderation-rules", as: "ada", ["name": "rule \(number)", "words": ["spam"]])
    }
    for number in 0..<5 {
      let bot: [String: Any] = ["name": "bot\(number)", "scope": "read", "forums": [String]()]
      try await village.expect(201, .post, "/bots", as: "ada", bot)
    }
    for number in 0..<5 {
      try await village.expect(201, .post, "/bots/@bot0/tokens", as: "ada", ["name": "\(number)", "scope": "read"])
    }
    for number in 0..<6 {
      let webhook = ["conversation_id": room, "name": "hook \(number)"]
      try await village.expect(201, .post, "/webhooks", as: "ada", webhook)
    }
    var endpoint = ""
    for number in 0..<6 {
      let draft: [String: Any] = ["name": "hook \(number)", "url": "https://example.org/", "topics": ["me"]]
      endpoint = try await village.expect(201, .post, "/webhook-endpoints", as: "ada", draft)["id"] ?? ""
    }
    for number in 0..<6 {
      let app = try await OAuthStage(village, ["name": "app \(number)"])
      _ = try await app.tokens()
    }
    for number in 0..<6 { try await SlashCommandTests.create(["name": "command\(number)"], in: village) }
    let owned = ID<WebhookEndpoint>(Int(endpoint) ?? 0)
    _ = try await village.community.store.write { tx throws(Refusal) in
      for number in 1...6 {
        let delivery = NewWebhookDelivery("msg_\(number)", type: "message.created", event: number, attempt: 1)
        _ = try tx.add(delivery, of: owned, .failed)
      }
    }
    var group = ""
    for number in 0..<6 {
      group = try await UserGroupTests.create("team\(number)", in: village)
    }
    for name in ["ada", "grace", "linus", "mira", "robo", "user0"] {
      try await village.expect(200, .put, "/groups/\(group)/members/@\(name)", as: "ada")
    }
    let ada = village.userID("ada")
    for _ in 0..<5 {
      _ = try await village.community.store.write { tx throws(Refusal) in try tx.addBackup(by: ada) }
    }
    for number in 0..<6 {
      let filter: [String: Any] = ["exclude": ["words": ["\(number)"]]]
      try await village.expect(201, .put, "/me/timeline-filters/filter\(number)", as: "grace", filter)
    }
    return [
      ("/me/timeline-filters", "/me/timeline-filters", "grace", 6),
      ("/users/{id}/stars", "/users/@grace/stars", "grace", 6),
      ("/timeline", "/timeline?mentions=true&filter=filter3", "grace", 12),
      ("/users", "/users", "grace", 13), ("/users", "/users?state=active", "mira", 13),
      ("/bots", "/bots", "ada", 6), ("/bots/{id}/tokens", "/bots/@bot0/tokens", "ada", 6),
      ("/webhooks", "/webhooks", "ada", 6),
      ("/webhook-endpoints", "/webhook-endpoints", "ada", 6), ("/commands", "/commands", "ada", 6),
      ("/apps", "/apps", "ada", 6), ("/me/apps", "/me/apps", "grace", 6),
      ("/webhook-endpoints/{id}/deliveries", "/webhook-endpoints/\(endpoint)/deliveries", "ada", 6),
      ("/sessions", "/sessions", "grace", 6),
      ("/me/push-subscriptions", "/me/push-subscriptions", "grace", 5), ("/me/passkeys", "/me/passkeys", "grace", 5),
      ("/me/identities", "/me/identities", "grace", 5),
      ("/users/{id}/identities", "/users/@grace/identities", "ada", 5),
      ("/me/tokens", "/me/tokens", "grace", 6), ("/me/sign-ins", "/me/sign-ins", "grace", 5),
      ("/invites", "/invites", "grace", 6), ("/invites", "/invites", "mira", 6),
      ("/users/{id}/sanctions", "/users/@linus/sanctions", "mira", 6), ("/reports", "/reports", "mira", 6),
      ("/audit", "/audit", "ada", 6), ("/forums", "/forums", "grace", 5), ("/forums", "/forums?query=den", "grace", 4),
      ("/forums/{id}/members", "/forums/\(forum)/members", "grace", 9),
      ("/users/{id}/followers", "/users/@grace/followers", "grace", 6),
      ("/users/{id}/following", "/me/following", "grace", 6), ("/me/muted", "/me/muted", "robo", 6),
      ("/me/blocked", "/me/blocked", "robo", 6),
      ("/conversations/{id}/messages", "/conversations/\(room)/messages", "grace", 7),
      ("/messages/search", "/messages/search?hashtag=rose", "grace", 7),
      ("/messages/search", "/messages/search?q=roses&before=999999", "grace", 7),
      ("/messages/{id}/replies", "/messages/\(first)/replies", "grace", 6),
      ("/messages/{id}/revisions", "/messages/\(first)/revisions", "linus", 6),
      ("/messages/{id}/actions", "/messages/\(first)/actions", "grace", 6),
      ("/messages/{id}/actions", "/messages/\(first)/actions?type=like", "grace", 6),
      ("/messages/{id}/votes", "/messages/\(poll)/votes", "grace", 6),
      ("/me/actions", "/me/actions?type=star", "grace", 6),
      ("/streams/{stream}/events", "/streams/conversation:\(room)/events", "grace", 10),
      ("/forums/{id}/conversations", "/forums/\(forum)/conversations", "grace", 6),
      ("/forums/{id}/conversations", "/forums/\(forum)/conversations?tag=rose", "grace", 6),
      ("/forums/{id}/conversations", "/forums/\(forum)/conversations?query=TOPIC", "grace", 6),
      ("/conversations", "/conversations", "grace", 11), ("/conversations", "/conversations?kind=direct", "grace", 6),
      ("/conversations/{id}/participants", "/conversations/\(room)/participants", "grace", 9),
      ("/timeline", "/timeline", "grace", 12), ("/timeline/global", "/timeline/global", "grace", 12),
      ("/inbox", "/inbox", "grace", 12),
      ("/inbox", "/inbox?kind=mention&unread=true", "grace", 7), ("/unread", "/unread", "grace", 7),
      ("/files", "/files", "grace", 6), ("/backups", "/backups", "ada", 5),
      ("/moderation-rules", "/moderation-rules", "mira", 6),
      ("/groups", "/groups", "grace", 6), ("/groups/{id}/members", "/groups/\(group)/members", "grace", 6),
      ("/forum-access", "/forum-access?viewer=\(group)", "ada", 5),
    ]
  }
}
