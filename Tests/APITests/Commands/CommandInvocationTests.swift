import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Uses of slash commands: the request to the program, its answer in time, its later replies, rights and limits.
@Suite struct CommandInvocationTests {
  /// A site with a room of grace, linus and robo, whose command `weather` a receiver runs.
  struct Stage {
    let village: Village
    let receiver: WebhookReceiver
    let room: String
    let forum: String
    let command: String
    let secret: String

    @discardableResult
    func use(
      _ text: String = "Kyoto", as name: String = "grace", with more: [String: Any] = [:],
      in conversation: String? = nil
    ) async throws -> Answer {
      let body: [String: Any] = ["name": "weather", "text": text]
      let path = "/conversations/\(conversation ?? room)/commands"
      return try await village.request(.post, path, as: name, body.merging(more) { $1 })
    }

    /// The path of the last request's replies.
    func replyPath() throws -> String {
      let url = try #require(receiver.received.last?.data["response_url"] as? String)
      #expect(url.hasPrefix(village.origin + API.base + "/command-replies/"), "\(url)")
      return String(url.dropFirst((village.origin + API.base).count))
    }

    func reply(_ body: [String: Any], at path: String) async throws -> Answer {
      try await village.request(.post, path, body)
    }

    func texts(as name: String) async throws -> [String?] {
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: name)
      return page.texts("data", "text")
    }

    /// The texts of replies in the user's own stream.
    func events(of name: String, since cursor: String) async throws -> [String?] {
      let page = try await village.expect(200, .get, "/sync?topics=me&after=\(cursor)", as: name)
      return (0..<page.count("data")).filter { page["data.\($0).event"] == "command.replied" }.map {
        page["data.\($0).data.text"]
      }
    }
  }

  static func open(
    _ transport: TestTransport = .inMemory, rates: RateLimits = Village.unlimited, bounds: Bounds = Bounds(),
    answer: WebhookReceiver.Reply = WebhookReceiver.Reply(status: 204), isSlow: Bool = false,
    commandTime: Int = 100_000,
    clock: @escaping @Sendable () -> Int64 = Village.ticking, _ body: (Stage) async throws -> Void
  ) async throws {
    try await WebhookReceiver.open { receiver in
      receiver.answer { _ in answer }
      try await Village.open(
        transport, rates: rates, bounds: bounds, receiver: receiver, commandTime: commandTime, clock: clock
      ) { village in
        let (forum, room) = try await village.garden(members: ["grace", "linus", "robo"])
        let made = try await SlashCommandTests.create(
          ["url": isSlow ? receiver.slowURL : receiver.url], in: village)
        try await body(
          Stage(
            village: village, receiver: receiver, room: room, forum: forum, command: made.id, secret: made.secret))
      }
    }
  }

  static func json(_ text: String, status: Int = 200) -> WebhookReceiver.Reply {
    WebhookReceiver.Reply(status: status, body: text)
  }

  @Test(arguments: TestTransport.allCases)
  func `a program gets a signed request and answers the user alone`(transport: TestTransport) async throws {
    try await Self.open(transport, answer: Self.json(#"{"text":"**18** °C"}"#)) { stage in
      let cursor = try await stage.village.cursor(as: "grace")
      let used = try await stage.use()
      #expect(used.status == 201 && used["state"] == "delivered" && used["name"] == "weather", "\(used.text)")
      #expect(used.count("replies") == 1 && used["replies.0.text"] == "**18** °C")
      #expect(used["replies.0.visible_to"] == "caller" && used.isNull("replies.0.message_id"))
      let request = try #require(stage.receiver.received.first)
      #expect(stage.receiver.received.count == 1 && request.type == "command.invoked")
      #expect(try request.verifications(by: stage.secret) == [true])
      #expect(request.id == "cmd_\(used["id"] ?? "")")
      #expect(request.data["command"] as? String == "weather" && request.data["text"] as? String == "Kyoto")
      #expect(request.data["invocation_id"] as? String == used["id"])
      let user = try #require(request.data["user"] as? [String: Any])
      #expect(user["name"] as? String == "grace" && user["id"] as? String == stage.village.id("grace"))
      let conversation = try #require(request.data["conversation"] as? [String: Any])
      #expect(conversation["id"] as? String == stage.room && conversation["forum_id"] as? String == stage.forum)
      #expect(try await stage.texts(as: "grace") == [])
      #expect(try await stage.events(of: "grace", since: cursor) == ["**18** °C"])
    }
  }

  @Test func `an answer to all is a message of the bot`() async throws {
    try await Self.open(answer: Self.json(#"{"text":"hi @linus","visible_to":"all"}"#)) { stage in
      let cursor = try await stage.village.cursor(as: "grace")
      let used = try await stage.use()
      #expect(used.status == 201 && used.isNull("replies.0.text"), "\(used.text)")
      let id = try #require(used["replies.0.message_id"])
      let message = try await stage.village.expect(200, .get, "/messages/\(id)", as: "linus")
      #expect(message["text"] == "hi @linus" && message["author_id"] == stage.village.id("robo"))
      #expect(try await stage.events(of: "grace", since: cursor) == [])
      #expect(try await stage.village.request(.get, "/inbox?kind=mention", as: "linus").count("data") == 1)
    }
  }

  @Test func `later replies come by the URL of the use`() async throws {
    try await Self.open { stage in
      let cursor = try await stage.village.cursor(as: "grace")
      let used = try await stage.use()
      #expect(used.status == 201 && used.count("replies") == 0)
      let path = try stage.replyPath()
      let first = try await stage.reply(["text": "one", "client_id": "a"], at: path)
      #expect(first.status == 201 && first["visible_to"] == "caller" && first["invocation_id"] == used["id"])
      let again = try await stage.reply(["text": "one", "client_id": "a"], at: path)
      #expect(again.status == 200 && again["id"] == first["id"])
      #expect(try await stage.reply(["text": "two", "client_id": "a"], at: path).code == "client_id_reused")
      let all = try await stage.reply(["text": "for all", "visible_to": "all", "client_id": "b"], at: path)
      #expect(all.status == 201 && all["message_id"] != nil, "\(all.text)")
      let repeated = try await stage.reply(["text": "for all", "visible_to": "all", "client_id": "b"], at: path)
      #expect(repeated.status == 200 && repeated["message_id"] == all["message_id"])
      #expect(try await stage.texts(as: "linus") == ["for all"])
      #expect(try await stage.events(of: "grace", since: cursor) == ["one"])
      for number in 3...5 { #expect(try await stage.reply(["text": "\(number)"], at: path).status == 201) }
      for audience in ["caller", "all"] {
        let refused = try await stage.reply(["text": "six", "visible_to": audience], at: path)
        #expect(refused.status == 409 && refused.code == "too_many" && refused.int("params.limit") == 5)
      }
      #expect(try await stage.texts(as: "linus") == ["for all"])
    }
  }

  @Test func `replies end after their time, and with the command`() async throws {
    let clock = StoppedClock()
    try await Self.open(clock: clock.read) { stage in
      try await stage.use()
      let path = try stage.replyPath()
      clock.add(Int(CommandInvocation.replyTime) - 1)
      #expect(try await stage.reply(["text": "one"], at: path).status == 201)
      clock.add(1)
      for audience in ["caller", "all"] {
        #expect(try await stage.reply(["text": "two", "visible_to": audience], at: path).status == 410)
      }
      let other = "/command-replies/\(String(repeating: "0", count: 64))"
      #expect(try await stage.reply(["text": "three"], at: other).status == 404)
      try await stage.use()
      let later = try stage.replyPath()
      try await stage.village.renewSession(of: "ada")
      try await stage.village.expect(204, .delete, "/commands/\(stage.command)", as: "ada")
      #expect(try await stage.reply(["text": "four"], at: later).status == 404)
    }
  }

  @Test func `a repeated request is one use`() async throws {
    try await Self.open(answer: Self.json(#"{"text":"18"}"#)) { stage in
      let first = try await stage.use(with: ["client_id": "one"])
      let second = try await stage.use(with: ["client_id": "one"])
      #expect(first.status == 201 && second.status == 200 && first["id"] == second["id"])
      #expect(second["replies.0.text"] == "18" && stage.receiver.received.count == 1)
      #expect(try await stage.use("Oslo", with: ["client_id": "one"]).code == "client_id_reused")
      stage.receiver.answer(500)
      let failed = try await stage.use(with: ["client_id": "two"])
      #expect(failed.status == 424 && failed.code == "command_answer_invalid", "\(failed.text)")
      #expect(try await stage.use(with: ["client_id": "two"]).code == "command_answer_invalid")
      #expect(stage.receiver.received.count == 2)
    }
  }

  @Test(
    arguments: [
      (200, #"{"text":"x","visible_to":"some"}"#), (200, "{"), (200, #"{"text":7}"#), (200, #"{"text":""}"#),
      (200, #"[]"#), (404, ""), (302, ""), (500, #"{"text":"x"}"#),
    ])
  func `an answer that can't be shown is a problem`(row: (status: Int, body: String)) async throws {
    try await Self.open(answer: Self.json(row.body, status: row.status)) { stage in
      let used = try await stage.use()
      #expect(used.status == 424 && used.code == "command_answer_invalid", "\(row): \(used.text)")
    }
  }

  @Test func `a program may answer later, without a body or a text`() async throws {
    try await Self.open { stage in
      for body in ["", "{}", #"{"ok":true,"text":null}"#] {
        stage.receiver.answer { _ in Self.json(body) }
        let used = try await stage.use()
        #expect(used.status == 201 && used.count("replies") == 0, "\(body): \(used.text)")
      }
    }
  }

  @Test func `a program that can't be reached is a problem`() async throws {
    try await Self.open { stage in
      try await stage.village.expect(
        200, .patch, "/commands/\(stage.command)", as: "ada", ["url": "https://127.0.0.1:\(stage.receiver.port)/hook"])
      let used = try await stage.use()
      #expect(used.status == 424 && used.code == "command_unreachable", "\(used.text)")
    }
  }

  @Test func `a late answer is a problem, and its reply comes by URL`() async throws {
    try await Self.open(isSlow: true, commandTime: 2_000) { stage in
      let cursor = try await stage.village.cursor(as: "grace")
      let used = try await stage.use()
      #expect(used.status == 424 && used.code == "command_timed_out", "\(used.text)")
      stage.receiver.release()
      #expect(try await stage.reply(["text": "18"], at: try stage.replyPath()).status == 201)
      #expect(try await stage.events(of: "grace", since: cursor) == ["18"])
    }
  }

  @Test func `the rights and sanctions of a message apply`() async throws {
    try await Self.open { stage in
      let village = stage.village
      #expect(try await stage.use(as: "robo").status == 403)
      let kitchen = try await village.garden("kitchen", "private", members: ["grace"])
      let unknown = try await stage.use(in: kitchen.room)
      #expect(unknown.status == 400 && unknown["errors.0.field"] == "name" && unknown["errors.0.code"] == "unknown")
      #expect(try await stage.use(as: "linus", in: kitchen.room).status == 404)
      #expect(try await stage.use(with: ["name": "wetter"])["errors.0.code"] == "unknown")
      #expect(try await stage.use(with: ["name": "/weather"])["errors.0.code"] == "invalid")
      try await village.request(.put, "/users/@linus/silence", as: "mira", ["reason": "x"])
      #expect(try await stage.use(as: "linus").code == "silenced")
      try await village.expect(200, .patch, "/forums/\(stage.forum)", as: "ada", ["slow_seconds": 3_600])
      try await village.post("first", in: stage.room, by: "grace")
      #expect(try await stage.use().status == 429)
      try await village.expect(
        200, .patch, "/forums/\(stage.forum)", as: "ada", ["slow_seconds": 0, "locked": true])
      #expect(try await stage.use().status == 403)
      #expect(stage.receiver.received.isEmpty)
      #expect(try await stage.use(as: "ada").status == 201)
    }
  }

  @Test func `a reply needs the rights of the bot and of the user`() async throws {
    try await Self.open { stage in
      let village = stage.village
      try await stage.use()
      let path = try stage.replyPath()
      try await village.expect(200, .patch, "/forums/\(stage.forum)", as: "ada", ["locked": true])
      #expect(try await stage.reply(["text": "x", "visible_to": "all"], at: path).status == 403)
      #expect(try await stage.reply(["text": "x"], at: path).status == 201)
      try await village.expect(200, .patch, "/forums/\(stage.forum)", as: "ada", ["locked": false])
      try await village.request(.put, "/users/@grace/silence", as: "mira", ["reason": "x"])
      #expect(try await stage.reply(["text": "x", "visible_to": "all"], at: path).status == 403)
      try await village.request(.put, "/users/@grace/ban", as: "ada", ["reason": "x"])
      for audience in ["caller", "all"] {
        #expect(try await stage.reply(["text": "x", "visible_to": audience], at: path).status == 410)
      }
      #expect(try await stage.texts(as: "linus") == [])
    }
  }

  @Test func `uses count as messages, replies as those of a webhook`() async throws {
    var rates = Village.unlimited
    (rates.sending, rates.delivering) = (Allowance(burst: 2, perMinute: 1), Allowance(burst: 2, perMinute: 1))
    rates.guessing = Allowance(burst: 3, perMinute: 1)
    try await Self.open(.socket, rates: rates) { stage in
      for _ in 1...2 { #expect(try await stage.use().status == 201) }
      let refused = try await stage.use()
      #expect(refused.status == 429 && refused.fields["retry-after"] != nil)
      let path = try stage.replyPath()
      for _ in 1...2 { #expect(try await stage.reply(["text": "x"], at: path).status == 201) }
      #expect(try await stage.reply(["text": "x"], at: path).status == 429)
      let statuses = try await (1...4).asyncMap { _ in
        try await stage.reply(["text": "x"], at: "/command-replies/x").status
      }
      #expect(statuses == [404, 404, 404, 429])
    }
  }

  @Test func `both secrets sign during a rotation`() async throws {
    try await Self.open { stage in
      let renewed = try await stage.village.expect(200, .post, "/commands/\(stage.command)/secret", as: "ada")
      try await stage.use()
      let request = try #require(stage.receiver.received.last)
      #expect(try request.verifications(by: renewed["secret"] ?? "") == [true, false])
      #expect(try request.verifications(by: stage.secret) == [false, true])
    }
  }

  @Test func `old uses are removed with their replies`() async throws {
    let clock = StoppedClock()
    try await Self.open(answer: Self.json(#"{"text":"18"}"#), clock: clock.read) { stage in
      let cursor = try await stage.village.cursor(as: "grace")
      try await stage.use(with: ["client_id": "one"])
      clock.add(Int(CommandInvocation.maxAge))
      await Housekeeping(stage.village.community.store).tick()
      try await stage.village.renewSession(of: "grace")
      #expect(try await stage.use(with: ["client_id": "one"]).status == 410)
      #expect(try await stage.events(of: "grace", since: cursor) == [nil])
    }
  }
}

extension ClosedRange<Int> {
  fileprivate func asyncMap<Value>(_ transform: (Int) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for number in self { values.append(try await transform(number)) }
    return values
  }
}
