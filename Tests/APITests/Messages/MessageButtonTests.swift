import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Buttons under the messages of bots.
@Suite struct MessageButtonTests {
  private static var two: [[String: Any]] {
    [["id": "yes", "label": " Yes ", "style": "primary"], ["id": "no", "label": "No"]]
  }

  /// A message of robo, who has no owner, in the room of a garden.
  private static func offer(_ village: Village) async throws -> (room: String, message: String) {
    let room = try await village.garden("garden", "public", members: ["grace", "robo"]).room
    return (room, try await village.post("Deploy?", in: room, as: "robo", ["buttons": two]))
  }

  /// The presses in a user's stream: the ids of their buttons, or `gone`.
  private static func presses(_ village: Village, as name: String) async throws -> [String] {
    let path = "/streams/user:\(village.id(name))/events?after_offset=0&limit=200"
    let page = try await village.request(.get, path, as: name)
    #expect(page.status == 200, "\(page.text)")
    return (0..<page.count("data")).filter { page["data.\($0).event"] == "button.pressed" }.map { index in
      page["data.\(index).data.button_id"] ?? "gone"
    }
  }

  private static func press(
    _ button: String, of message: String, as name: String?, _ village: Village, _ more: [String: Any] = [:]
  ) async throws -> Answer {
    let body = more.merging(["button_id": button]) { one, _ in one }
    return try await village.request(.post, "/messages/\(message)/presses", as: name, body)
  }

  @Test(arguments: TestTransport.allCases)
  func `a press reaches the bot, which shows the outcome`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (room, message) = try await Self.offer(village)
      let seen = try await village.request(.get, "/messages/\(message)", as: "grace")
      #expect(seen["buttons.0.label"] == "Yes" && seen["buttons.0.style"] == "primary")
      #expect(seen["buttons.1.style"] == "default" && seen.bool("buttons.1.pressed") == false)
      let made = try await Self.press("yes", of: message, as: "grace", village)
      #expect(made.status == 201 && made["button_id"] == "yes" && made["user_id"] == village.id("grace"))
      #expect(made["conversation_id"] == room && made["bot_id"] == village.id("robo") && made.int("revision") == 1)
      #expect(try await Self.presses(village, as: "robo") == ["yes"])
      #expect(try await Self.presses(village, as: "grace") == [])
      let shown = try await village.expect(
        200, .patch, "/messages/\(message)", as: "robo",
        ["buttons": [["id": "yes", "label": "Deployed", "pressed": true, "disabled": true]]])
      #expect(shown.int("revision") == 2 && shown.isNull("edited_at") && shown["text"] == "Deploy?")
      #expect(shown.count("buttons") == 1 && shown.bool("buttons.0.pressed") == true)
      let revisions = try await village.expect(200, .get, "/messages/\(message)/revisions", as: "mira")
      #expect(revisions.count("data") == 0, "\(revisions.text)")
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 409)
      #expect(try await Self.press("no", of: message, as: "grace", village)["errors.0.field"] == "button_id")
      let bare = try await village.expect(200, .patch, "/messages/\(message)", as: "robo", ["buttons": [Any]()])
      #expect(!bare.has("buttons") && bare.int("revision") == 3)
      // The same buttons again are no change.
      let same = try await village.expect(200, .patch, "/messages/\(message)", as: "robo", ["buttons": [Any]()])
      #expect(same.int("revision") == 3)
    }
  }

  @Test func `the owner of a bot gets its presses, too, for an outgoing webhook`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("meadow", "public", members: ["grace"])
      let bot = try await village.expect(
        201, .post, "/bots", as: "ada", ["name": "dice", "scope": "write", "forums": [forum]])
      let token: Fields = ["Authorization": "Bearer \(try #require(bot["token"]))"]
      let posted = try await village.request(
        .post, "/conversations/\(room)/messages", ["text": "Deploy?", "buttons": Self.two], fields: token)
      let message = try #require(posted["id"])
      #expect(try await Self.press("no", of: message, as: "grace", village).status == 201)
      #expect(try await Self.presses(village, as: "ada") == ["no"])
      #expect(try await Self.presses(village, as: "grace") == [])
      // The press of a bot without an owner is in one stream.
      let (_, other) = try await Self.offer(village)
      #expect(try await Self.press("no", of: other, as: "grace", village).status == 201)
      #expect(try await Self.presses(village, as: "ada") == ["no"])
    }
  }

  @Test func `a press arrives on the socket of the bot`() async throws {
    try await Village.open(.socket) { village in
      let (_, message) = try await Self.offer(village)
      let client = try village.connect("topics=me", as: "robo")
      _ = try await client.event("complete")
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 201)
      let event = try await client.event("button.pressed")
      #expect(event["data.message_id"] == message && event["actor_id"] == village.id("grace"))
      client.leave()
    }
  }

  @Test func `a repeated press counts once`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, message) = try await Self.offer(village)
      let first = try await Self.press("yes", of: message, as: "grace", village, ["client_id": "one"])
      let again = try await Self.press("yes", of: message, as: "grace", village, ["client_id": "one"])
      #expect(first.status == 201 && again.status == 200 && again["id"] == first["id"])
      let other = try await Self.press("no", of: message, as: "grace", village, ["client_id": "one"])
      #expect(other.status == 409 && other.code == "client_id_reused")
      #expect(try await Self.press("no", of: message, as: "grace", village).status == 201)
      #expect(try await Self.presses(village, as: "robo") == ["yes", "no"])
      let long = try await Self.press(
        "no", of: message, as: "grace", village, ["client_id": String(repeating: "c", count: 65)])
      #expect(long.status == 400 && long["errors.0.field"] == "client_id")
    }
  }

  @Test func `only users who may write press buttons`() async throws {
    try await Village.open(.inMemory) { village in
      let (room, message) = try await Self.offer(village)
      #expect(try await Self.press("yes", of: message, as: nil, village).status == 401)
      #expect(try await Self.press("yes", of: message, as: "robo", village).status == 403)
      try await village.expect(
        200, .put, "/users/\(village.id("grace"))/silence", as: "mira", ["reason": "Please calm down."])
      #expect(try await Self.press("yes", of: message, as: "grace", village).code == "silenced")
      try await village.request(.delete, "/users/\(village.id("grace"))/silence", as: "mira")
      let reader = try await village.request(
        .post, "/messages/\(message)/presses", ["button_id": "yes"],
        fields: ["Authorization": "Bearer \(try await village.token("grace", .read))"])
      #expect(reader.status == 403)
      #expect(try await Self.press("maybe", of: message, as: "grace", village)["errors.0.code"] == "unknown")
      #expect(try await Self.press("yes", of: "999999", as: "grace", village).status == 404)
      let plain = try await village.post("plain", in: room, as: "grace")
      #expect(try await Self.press("yes", of: plain, as: "grace", village)["errors.0.field"] == "button_id")
      let secret = try await village.garden("shed", "private", members: ["robo"]).room
      let hidden = try await village.post("Well?", in: secret, as: "robo", ["buttons": Self.two])
      #expect(try await Self.press("yes", of: hidden, as: "grace", village).status == 404)
      try await village.request(.delete, "/messages/\(message)", as: "robo")
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 410)
      #expect(try await Self.presses(village, as: "robo") == [])
    }
  }

  @Test func `a bot that can't read the conversation any more gets no press`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("shed", "private", members: ["grace", "robo"])
      let message = try await village.post("Well?", in: room, as: "robo", ["buttons": Self.two])
      try await village.request(.delete, "/forums/\(forum)/members/\(village.id("robo"))", as: "ada")
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 409)
      #expect(try await Self.presses(village, as: "robo") == [])
    }
  }

  @Test func `buttons have limits, and are for bots`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public", members: ["grace", "robo"]).room
      func faults(_ buttons: Any, as name: String = "robo") async throws -> [String?] {
        let refused = try await village.request(
          .post, "/conversations/\(room)/messages", as: name, ["text": "Well?", "buttons": buttons])
        #expect(refused.status == 400, "\(refused.text)")
        return (0..<refused.count("errors")).map { refused["errors.\($0).field"] }
      }
      #expect(try await faults(Self.two, as: "grace") == ["buttons"])
      #expect(try await faults((0...10).map { ["id": "\($0)", "label": "x"] }) == ["buttons"])
      #expect(
        try await faults([["id": "a b", "label": "x"], ["id": "a", "label": ""], ["id": "a", "label": "x"]])
          == ["buttons[0].id", "buttons[1].label", "buttons[2].id"])
      #expect(try await faults([["id": "a", "label": String(repeating: "x", count: 41)]]) == ["buttons[0].label"])
      #expect(try await faults([["id": "a", "label": "x", "style": "loud"]]).count == 1)
      #expect(try await faults([["id": "a", "label": "x", "size": 3] as [String: Any]]).count == 1)
      let own = try await village.post("plain", in: room, as: "grace")
      let refused = try await village.request(.patch, "/messages/\(own)", as: "grace", ["buttons": Self.two])
      #expect(refused.status == 400 && refused["errors.0.field"] == "buttons")
      #expect(try await village.request(.patch, "/messages/\(own)", as: "grace", ["buttons": [Any]()]).status == 200)
    }
  }

  @Test func `buttons survive a removal and its undo, and leave a deleted message`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, message) = try await Self.offer(village)
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 201)
      let removed = try await village.expect(
        200, .post, "/messages/\(message)/remove", as: "mira", ["reason": "Not now."])
      #expect(!removed.has("buttons"))
      // Its press is gone: the event has only its id.
      #expect(try await Self.presses(village, as: "robo") == ["gone"])
      let restored = try await village.expect(200, .post, "/messages/\(message)/restore", as: "mira", [:])
      #expect(restored.texts("buttons", "id") == ["yes", "no"], "\(restored.text)")
      let deleted = try await village.expect(200, .delete, "/messages/\(message)", as: "robo")
      #expect(!deleted.has("buttons"))
    }
  }

  @Test func `buttons move with their message to a topic`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, message) = try await Self.offer(village)
      let made = try await village.expect(
        201, .post, "/messages/\(message)/topic", as: "mira", ["title": "Deployment"])
      let copy = try #require(made["message_id"])
      #expect(
        try await village.request(.get, "/messages/\(copy)", as: "grace").texts("buttons", "id") == ["yes", "no"])
      #expect(try await Self.press("yes", of: copy, as: "grace", village).status == 201)
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 410)
    }
  }

  @Test func `a post with the same client_id and other buttons is another post`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public", members: ["robo"]).room
      func post(_ buttons: [[String: Any]]) async throws -> Answer {
        try await village.request(
          .post, "/conversations/\(room)/messages", as: "robo",
          ["text": "Well?", "client_id": "one", "buttons": buttons])
      }
      let first = try await post(Self.two)
      #expect(first.status == 201)
      #expect(try await post(Self.two).status == 200)
      #expect(try await post([Self.two[0]]).code == "client_id_reused")
    }
  }

  @Test func `old presses and those of an erased user are deleted`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, message) = try await Self.offer(village)
      #expect(try await Self.press("yes", of: message, as: "grace", village).status == 201)
      let store = village.community.store
      let more = try await store.write { tx throws(Refusal) in try tx.removeOldPresses(limit: 10) }
      #expect(!more)
      #expect(try await Self.presses(village, as: "robo") == ["yes"])
      let user = ID<User>(Int(village.id("grace")) ?? 0)
      #expect(try await store.write { tx throws(Refusal) in try tx.removePresses(of: user, limit: 10) })
      #expect(try await Self.presses(village, as: "robo") == ["gone"])
    }
  }
}
