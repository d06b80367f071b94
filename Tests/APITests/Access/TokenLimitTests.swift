import ParleyModel
import ParleyWire
import Testing
import Web

@testable import API
@testable import Community

/// Tokens that are limited to forums, and tokens with a rate of their own.
@Suite struct TokenLimitTests {
  /// Two forums with a message of grace each, her direct conversation, and her token of the first forum.
  private struct LimitedStage {
    struct Part {
      let forum: String
      let room: String
      let message: String
    }

    let village: Village
    let garden: Part
    let kitchen: Part
    let direct: String
    let token: String

    init(_ village: Village, scope: String = "write") async throws {
      self.village = village
      garden = try await Self.part("garden", village)
      kitchen = try await Self.part("kitchen", village)
      let body: [String: Any] = ["kind": "direct", "participants": ["@linus"]]
      direct = try #require(try await village.request(.post, "/conversations", as: "grace", body)["id"])
      let draft: [String: Any] = ["name": "garden", "scope": scope, "forums": [garden.forum]]
      let made = try await village.request(.post, "/me/tokens", as: "grace", draft)
      #expect(made.status == 201 && made["forums.0"] == garden.forum && made["rate_limit"] == nil)
      token = try #require(made["token"])
    }

    private static func part(_ title: String, _ village: Village) async throws -> Part {
      let made = try await village.request(.post, "/forums", as: "ada", ["title": title, "visibility": "public"])
      let (forum, room) = (try #require(made["id"]), try #require(made["room_id"]))
      _ = try await village.request(.put, "/forums/\(forum)/members/@grace", as: "ada", ["role": "member"])
      let posted = try await village.request(
        .post, "/conversations/\(room)/messages", as: "grace", ["text": "basil in the \(title)"])
      return Part(forum: forum, room: room, message: try #require(posted["id"]))
    }

    var fields: Fields { ["Authorization": "Bearer \(token)"] }

    func status(_ method: Method, _ path: String, _ body: [String: Any]? = nil) async throws -> Int {
      try await village.request(method, path, body, fields: fields).status
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a token of a forum reads and writes there`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let stage = try await LimitedStage(village)
      let (forum, room, message) = (stage.garden.forum, stage.garden.room, stage.garden.message)
      for path in [
        "/forums/\(forum)", "/forums/\(forum)/conversations", "/forums/\(forum)/members", "/conversations/\(room)",
        "/conversations/\(room)/messages", "/conversations/\(room)/digest?from_seq=1&to_seq=1&parts=1",
        "/messages/\(message)", "/messages/\(message)/replies", "/streams/conversation:\(room)/events", "/users/@ada",
        "/server", "/settings",
      ] {
        #expect(try await stage.status(.get, path) == 200, "\(path)")
      }
      #expect(try await stage.status(.post, "/conversations/\(room)/messages", ["text": "hello"]) == 201)
      #expect(try await stage.status(.post, "/forums/\(forum)/conversations", ["title": "Soil", "text": "?"]) == 201)
      #expect(try await stage.status(.put, "/messages/\(message)/actions/like") == 200)
      #expect(try await stage.status(.patch, "/messages/\(message)", ["text": "parsley"]) == 200)
      let own = try await village.request(.get, "/me", fields: stage.fields)
      #expect(own["name"] == "grace" && own["preferences"] == nil && own["email"] == nil)
      #expect(try await stage.status(.delete, "/sessions/current") == 204)
      #expect(try await stage.status(.get, "/forums/\(forum)") == 401)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a token of a forum reaches nothing else`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let stage = try await LimitedStage(village)
      let (forum, room, message) = (stage.kitchen.forum, stage.kitchen.room, stage.kitchen.message)
      let me = village.id("grace")
      let missing: [(Method, String, [String: Any]?)] = [
        (.get, "/forums/\(forum)", nil), (.get, "/forums/\(forum)/conversations", nil),
        (.get, "/forums/\(forum)/members", nil), (.get, "/forums/\(forum)/icon", nil),
        (.post, "/forums/\(forum)/conversations", ["title": "Soup", "text": "?"]),
        (.put, "/forums/\(forum)/members/me", ["role": "member"]),
        (.get, "/conversations/\(room)", nil), (.get, "/conversations/\(room)/messages", nil),
        (.get, "/conversations/\(stage.direct)/messages", nil),
        (.post, "/conversations/\(room)/messages", ["text": "x"]),
        (.post, "/conversations/\(stage.direct)/messages", ["text": "x"]),
        (.post, "/conversations/\(room)/typing", nil), (.get, "/messages/\(message)", nil),
        (.patch, "/messages/\(message)", ["text": "x"]), (.put, "/messages/\(message)/actions/star", nil),
        (.get, "/messages/search?q=basil&forum=\(forum)", nil),
        (.get, "/streams/conversation:\(room)/events", nil), (.get, "/streams/user:\(me)/events", nil),
      ]
      for (method, path, body) in missing {
        #expect(try await stage.status(method, path, body) == 404, "\(method.name) \(path)")
      }
      let forbidden: [(Method, String, [String: Any]?)] = [
        (.get, "/inbox", nil), (.get, "/snapshot", nil), (.get, "/conversations", nil), (.get, "/unread", nil),
        (.get, "/timeline", nil), (.get, "/me/tokens", nil), (.get, "/me/actions?type=star", nil),
        (.get, "/files", nil),
        (.get, "/streams/site/events", nil), (.patch, "/me", ["bio": "x"]),
        (.post, "/me/tokens", ["name": "t", "scope": "read"]), (.put, "/users/@linus/follow", nil),
        (.post, "/forums", ["title": "cellar", "visibility": "public"]),
        (.put, "/messages/\(stage.garden.message)/actions/repost", nil),
      ]
      for (method, path, body) in forbidden {
        #expect(try await stage.status(method, path, body) == 403, "\(method.name) \(path)")
      }
      // The operations without a forum of their own are refused, whatever their user may do.
      for endpoint in API.endpoints where !endpoint.worksWithForumToken && endpoint.method == .get {
        if case .user = endpoint.access, !endpoint.path.contains("{") {
          #expect(try await stage.status(.get, endpoint.path) == 403, "\(endpoint.path)")
        }
      }
      #expect(Endpoint.strayForumTokenNames.isEmpty)
    }
  }

  @Test func `lists and searches with a token of a forum omit the rest`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await LimitedStage(village)
      let lists = [
        "/forums", "/messages/search?q=basil", "/messages?ids=\(stage.garden.message),\(stage.kitchen.message)",
        "/messages/reply-counts?ids=\(stage.garden.message),\(stage.kitchen.message)",
      ]
      for path in lists {
        let answer = try await village.request(.get, path, fields: stage.fields)
        let all = try await village.request(.get, path, as: "grace")
        #expect(answer.status == 200 && answer.texts("data", "id").count <= 1, "\(path)")
        #expect(all.texts("data", "id").count != 1, "\(path)")
      }
      #expect(
        try await village.request(.get, "/forums", fields: stage.fields).texts("data", "id") == [stage.garden.forum])
      let file = try await village.send(
        .post, "/files?name=note.txt", as: "grace", Array("soup".utf8), fields: ["Content-Type": "text/plain"])
      let id = try #require(file["id"])
      let body: [String: Any] = ["text": "note", "attachments": [id]]
      _ = try await village.request(.post, "/conversations/\(stage.kitchen.room)/messages", as: "grace", body)
      #expect(try await stage.status(.get, "/files/\(id)") == 404)
      #expect(try await village.request(.get, "/files/\(id)", as: "grace").status == 200)
    }
  }

  @Test func `a token of a forum attaches and reads only its own unused files`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await LimitedStage(village)
      let path = "/conversations/\(stage.garden.room)/messages"
      let upload = { (user: String?, token: String?) in
        var fields: Fields = ["Content-Type": "text/plain"]
        if let token { fields.set("Authorization", "Bearer \(token)") }
        let sent = try await village.send(
          .post, "/files?name=note.txt", as: user, Array("soup".utf8), fields: fields)
        return try #require(sent["id"])
      }
      // A file of the user's direct conversation, and one that no message shows yet.
      let shown = try await upload("grace", nil)
      let body: [String: Any] = ["text": "note", "attachments": [shown]]
      _ = try await village.request(.post, "/conversations/\(stage.direct)/messages", as: "grace", body)
      let unused = try await upload("grace", nil)
      for file in [shown, unused] {
        let posted = try await village.request(
          .post, path, ["text": "x", "attachments": [file]], fields: stage.fields)
        #expect(posted.status == 400 && posted["errors.0.code"] == "unknown")
        let topic = try await village.request(
          .post, "/forums/\(stage.garden.forum)/conversations", ["title": "Soil", "text": "x", "attachments": [file]],
          fields: stage.fields)
        #expect(topic.status == 400)
        let edited = try await village.request(
          .patch, "/messages/\(stage.garden.message)", ["attachments": [file]], fields: stage.fields)
        #expect(edited.status == 400)
        let icon = try await village.request(
          .patch, "/forums/\(stage.garden.forum)", ["icon_file": file], fields: stage.fields)
        #expect([400, 403].contains(icon.status))
        for path in ["/files/\(file)", "/files/\(file)/content"] {
          #expect(try await stage.status(.get, path) == 404)
        }
        #expect(try await stage.status(.delete, "/files/\(file)") == 204)
        #expect(try await village.request(.get, "/files/\(file)", as: "grace").status == 200)
      }
      // An upload that the app has begun.
      let begun = try await village.request(.post, "/uploads", as: "grace", ["name": "big", "size": 9])
      let id = try #require(begun["id"])
      #expect(try await stage.status(.get, "/uploads/\(id)") == 404)
      #expect(try await stage.status(.delete, "/uploads/\(id)") == 204)
      #expect(try await village.request(.get, "/uploads/\(id)", as: "grace").status == 200)
      // Its own file.
      let own = try await upload(nil, stage.token)
      #expect(try await stage.status(.get, "/files/\(own)") == 200)
      let posted = try await village.request(.post, path, ["text": "x", "attachments": [own]], fields: stage.fields)
      #expect(posted.status == 201)
      #expect(try await stage.status(.get, "/files/\(own)/content") == 200)
    }
  }

  @Test func `a connection with a token of a forum changes no presence`() async throws {
    try await Village.open(.socket) { village in
      let stage = try await LimitedStage(village)
      let live = try village.connect("topics=conversation:\(stage.garden.room)", as: nil, fields: stage.fields)
      _ = try await live.event("complete")
      #expect(village.community.hub.present.isEmpty)
    }
  }

  @Test func `events with a token of a forum are those of the forum`() async throws {
    try await Village.open(.socket) { village in
      let stage = try await LimitedStage(village)
      let topics = "me,timeline,presence,forum:\(stage.garden.forum)/messages,forum:\(stage.kitchen.forum)/messages"
      let live = try village.connect("topics=\(topics),conversation:\(stage.direct)", as: nil, fields: stage.fields)
      let complete = try await live.event("complete").text
      #expect(
        complete.contains("\"conversation:\(stage.direct)\"") && complete.contains("forum:\(stage.kitchen.forum)"))
      #expect(complete.contains("\"me\"") && complete.contains("\"timeline\"") && complete.contains("\"presence\""))
      for room in [stage.direct, stage.kitchen.room, stage.garden.room] {
        _ = try await village.request(.post, "/conversations/\(room)/messages", as: "grace", ["text": "in \(room)"])
      }
      let event = try await live.event("message.created").text
      #expect(event.contains("in \(stage.garden.room)"))
      let page = try await village.request(.get, "/sync?topics=\(topics)", fields: stage.fields)
      #expect(page.status == 200 && page.text.contains("forum:\(stage.kitchen.forum)/messages"))
    }
  }

  @Test func `the forums of a token are visible to its creator`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.request(
        .post, "/forums", as: "ada", ["title": "board", "visibility": "private"])
      let board = try #require(made["id"])
      let draft: [String: Any] = ["name": "t", "scope": "read", "forums": [board]]
      let refused = try await village.request(.post, "/me/tokens", as: "grace", draft)
      #expect(refused.status == 400 && refused["errors.0.field"] == "forums" && refused["errors.0.code"] == "unknown")
      #expect(try await village.request(.post, "/me/tokens", as: "ada", draft).status == 201)
      for (field, value) in [("forums", [] as Any), ("rate_limit", 0), ("rate_limit", 100_001)] {
        let answer = try await village.request(
          .post, "/me/tokens", as: "ada", ["name": "t", "scope": "read", field: value])
        #expect(answer.status == 400 && answer["errors.0.field"] == field)
      }
      let admin: [String: Any] = ["name": "t", "scope": "admin", "forums": [board]]
      #expect(try await village.request(.post, "/me/tokens", as: "ada", admin)["errors.0.field"] == "scope")
      // A repeated request names the same limits.
      var repeated: [String: Any] = ["name": "t", "scope": "read", "forums": [board], "client_id": "one"]
      #expect(try await village.request(.post, "/me/tokens", as: "ada", repeated).status == 201)
      #expect(try await village.request(.post, "/me/tokens", as: "ada", repeated).status == 200)
      repeated["forums"] = nil
      #expect(try await village.request(.post, "/me/tokens", as: "ada", repeated).code == "client_id_reused")
    }
  }

  // MARK: Rates

  private static func caller(_ user: Int, _ role: Role, token: Int, rate: Int? = nil) -> Caller {
    Caller(user: ID(user), role: role, scope: .write, session: ID(token), limits: TokenLimits(rate: rate))
  }

  private static func passed(_ count: Int, _ limiter: RateLimiter, _ kind: RateLimitKind, by caller: Caller) -> Int {
    (0..<count).filter { _ in
      do {
        try limiter.count(kind, by: caller, at: nil, now: 1_000_000)
        return true
      } catch { return false }
    }.count
  }

  private static var limiter: RateLimiter {
    var limits = RateLimits()
    limits.sending = Allowance(burst: 5, perMinute: 5)
    limits.writing = Allowance(burst: 5, perMinute: 5)
    return RateLimiter(limits)
  }

  @Test func `the rate of a token limits it besides its user`() throws {
    let limiter = Self.limiter
    let (limited, free) = (Self.caller(7, .member, token: 1, rate: 2), Self.caller(7, .member, token: 2))
    #expect(Self.passed(9, limiter, .sending, by: limited) == 2)
    #expect(limiter.quota(.sending, of: limited, at: nil, now: 1_000_000)?.limit == 2)
    #expect(Self.passed(9, limiter, .writing, by: limited) == 2)
    #expect(Self.passed(9, limiter, .sending, by: free) == 3, "both count against the user")
    let large = Self.caller(8, .member, token: 3, rate: 100)
    #expect(Self.passed(9, limiter, .sending, by: large) == 5)
    // Refused requests cost the token nothing.
    #expect(limiter.quota(.sending, of: large, at: nil, now: 1_000_000)?.remaining == 0)
    limiter.refund(.sending, by: large, at: nil, now: 1_000_000)
    #expect(Self.passed(9, limiter, .sending, by: large) == 1)
  }

  @Test func `the rate of a bot's token replaces the limit of the bot`() {
    let limiter = Self.limiter
    #expect(Self.passed(50, limiter, .sending, by: Self.caller(9, .bot, token: 1, rate: 20)) == 20)
    #expect(Self.passed(50, limiter, .sending, by: Self.caller(9, .bot, token: 2)) == 5)
    #expect(Self.passed(50, limiter, .searching, by: Self.caller(9, .bot, token: 1, rate: 20)) == 50)
  }

  @Test func `staff set the rate of a bot's token`() async throws {
    var rates = Village.unlimited
    rates.sending = Allowance(burst: 3, perMinute: 3)
    try await Village.open(.inMemory, rates: rates) { village in
      let made = try await village.request(.post, "/forums", as: "ada", ["title": "garden", "visibility": "public"])
      let room = try #require(made["room_id"])
      let draft: [String: Any] = ["name": "fast", "scope": "write", "rate_limit": 10]
      let token = try await village.request(.post, "/bots/@robo/tokens", as: "ada", draft)
      #expect(token.status == 201 && token.text.contains("\"rate_limit\":10"))
      let fields: Fields = ["Authorization": "Bearer \(try #require(token["token"]))"]
      var statuses: [Int] = []
      for number in 1...11 {
        let body = ["text": "\(number)"]
        statuses.append(
          try await village.request(.post, "/conversations/\(room)/messages", body, fields: fields).status)
      }
      #expect(statuses == Array(repeating: 201, count: 10) + [429])
      // The bot raises no limit of its own, and the token makes no others.
      #expect(try await village.request(.post, "/me/tokens", as: "robo", draft).status == 403)
      #expect(
        try await village.request(.post, "/me/tokens", ["name": "t", "scope": "read"], fields: fields).status == 403)
    }
  }
}
