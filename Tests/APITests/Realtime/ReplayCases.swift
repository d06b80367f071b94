import Foundation
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The request of one case for each endpoint that changes state. `before` prepares it before the viewers subscribe.
struct ReplayCase: Sendable, CustomTestStringConvertible {
  let route: String
  let name: String
  let before: @Sendable (Stage) async throws -> Void
  let change: @Sendable (Stage) async throws -> Void

  var testDescription: String { name.isEmpty ? route : "\(route), \(name)" }

  init(
    _ route: String, before: @escaping @Sendable (Stage) async throws -> Void = { _ in },
    _ change: @escaping @Sendable (Stage) async throws -> Void
  ) {
    self.init(route, "", before: before, change)
  }

  init(
    _ route: String, _ name: String, before: @escaping @Sendable (Stage) async throws -> Void = { _ in },
    _ change: @escaping @Sendable (Stage) async throws -> Void
  ) {
    self.route = route
    self.name = name
    self.before = before
    self.change = change
  }

  static let all: [ReplayCase] = users + relations + forums + messages + conversations + own + order + files

  private static let users: [ReplayCase] = [
    ReplayCase(
      "post /users", before: { try await $0.village.changeSettings(["registration": "open"]) },
      { try await $0.request(.post, "/users", ["name": "lena", "password": "lena’s password"]) }),
    ReplayCase("post /invites", { try await $0.request(.post, "/invites", as: "ada", [:]) }),
    ReplayCase(
      "delete /invites/{id}",
      { stage in
        let made = try await stage.request(.post, "/invites", as: "ada", [:])
        try await stage.request(.delete, "/invites/\(made["id"] ?? "")", as: "ada")
      }),
    ReplayCase(
      "post /links/{code}",
      { stage in
        let link = try await stage.request(.post, "/users/\(stage.id("zoe"))/reset", as: "ada", [:])
        try await stage.request(.post, "/links/\(link["code"] ?? "")", ["password": "zoe’s new password"])
      }),
    ReplayCase("post /sessions", { try await $0.village.signIn("linus", "linus’s password") }),
    ReplayCase(
      "post /sessions", "coming back",
      before: { stage in
        let leaving = ["how": "deactivate", "password": "zoe’s password"]
        try await stage.request(.delete, "/me", as: "zoe", leaving)
      }, { try await $0.village.signIn("zoe", "zoe’s password") }),
    ReplayCase("delete /sessions", { try await $0.request(.delete, "/sessions", as: "zoe") }),
    ReplayCase("delete /sessions/{id}", { try await $0.request(.delete, "/sessions/current", as: "robo") }),
    ReplayCase(
      "post /me/tokens", { try await $0.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": "read"]) }),
    ReplayCase(
      "delete /me/tokens/{id}",
      { stage in
        let made = try await stage.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": "read"])
        try await stage.request(.delete, "/me/tokens/\(made["session.id"] ?? made["id"] ?? "")", as: "grace")
      }),
    ReplayCase(
      "put /me/password",
      {
        let body = ["old_password": "robo’s password", "password": "a better password"]
        try await $0.request(.put, "/me/password", as: "robo", body)
      }),
    ReplayCase(
      "patch /users/{id}", "what everyone sees and what is one’s own",
      {
        let body: [String: Any] = [
          "display_name": "Grace H", "bio": "of @linus", "show_receipts": false, "preferences": ["theme": "dark"],
        ]
        try await $0.request(.patch, "/me", as: "grace", body)
      }),
    ReplayCase(
      "patch /users/{id}", "a status",
      {
        let body = [
          "status_text": "on the train", "status_emoji": "🚆", "status_expires_at": "2100-01-01T00:00:00.000Z",
        ]
        try await $0.request(.patch, "/me", as: "grace", body)
      }),
    ReplayCase(
      "patch /users/{id}", "one’s own alone",
      { try await $0.request(.patch, "/me", as: "linus", ["reachable_by": "nobody"]) }),
    ReplayCase(
      "patch /users/{id}", "a role",
      { try await $0.request(.patch, "/users/@linus", as: "ada", ["role": "moderator", "end_sessions": false]) }
    ),
    ReplayCase(
      "patch /users/{id}", "from member to guest",
      { try await $0.request(.patch, "/users/@linus", as: "ada", ["role": "guest", "end_sessions": false]) }),
    ReplayCase(
      "patch /users/{id}", "from guest to member",
      { try await $0.request(.patch, "/users/@gus", as: "ada", ["role": "member", "end_sessions": false]) }),
    ReplayCase(
      "patch /users/{id}", "kept out", { try await $0.request(.patch, "/users/@zoe", as: "ada", ["disabled": true]) }),
    ReplayCase("delete /users/{id}", "left", { try await leave("leave", $0) }),
    ReplayCase("delete /users/{id}", "erased", { try await leave("erase", $0) }),
    ReplayCase(
      "post /users/discover", before: { try await $0.village.changeSettings(["discovery": true]) },
      { try await $0.request(.post, "/users/discover", as: "grace", ["addresses": ["x@example.org"]]) }),
    ReplayCase(
      "put /users/{id}/approval", before: { try await waiting($0) },
      { try await $0.request(.put, "/users/@lena/approval", as: "ada") }),
    ReplayCase(
      "delete /users/{id}/approval", before: { try await waiting($0) },
      { try await $0.request(.delete, "/users/@lena/approval", as: "ada") }),
    ReplayCase(
      "post /users/{id}/reset-second-factor",
      { try await $0.request(.post, "/users/@zoe/reset-second-factor", as: "ada", [:]) }),
    ReplayCase(
      "post /users/{id}/recover", { try await $0.request(.post, "/users/@zoe/recover", as: "ada", [:]) }),
    ReplayCase("post /me/second-factor", { try await $0.request(.post, "/me/second-factor", as: "grace") }),
    ReplayCase("delete /me/second-factor", { try await $0.request(.delete, "/me/second-factor", as: "grace") }),
    ReplayCase(
      "post /sessions/current/proof",
      { try await $0.request(.post, "/sessions/current/proof", as: "grace", ["password": "grace’s password"]) }),
    ReplayCase(
      "post /sessions/passkey/options", { _ = try await PasskeyDevice($0.village, for: "grace").signInChallenge() }),
    ReplayCase(
      "post /sessions/passkey",
      { stage in
        let device = try await PasskeyDevice.registered(stage.village, for: "zoe")
        #expect(try await device.signIn().status == 201)
      }),
    ReplayCase(
      "post /sessions/current/proof/options",
      { _ = try await PasskeyDevice($0.village, for: "grace").proofChallenge() }),
    ReplayCase(
      "post /me/passkeys/options", { _ = try await PasskeyDevice($0.village, for: "grace").creationChallenge() }),
    ReplayCase("post /me/passkeys", { _ = try await PasskeyDevice.registered($0.village, for: "grace") }),
    ReplayCase(
      "patch /me/passkeys/{id}",
      { stage in
        let id = try await PasskeyDevice.registered(stage.village, for: "grace").id
        try await stage.request(.patch, "/me/passkeys/\(id)", as: "grace", ["name": "Key"])
      }),
    ReplayCase(
      "delete /me/passkeys/{id}",
      { stage in
        let id = try await PasskeyDevice.registered(stage.village, for: "grace").id
        try await stage.request(.delete, "/me/passkeys/\(id)", as: "grace")
      }),
    ReplayCase("post /me/identities", { try await OpenIDProvider.link("g-1", to: "grace", in: $0.village) }),
    ReplayCase(
      "delete /me/identities/{id}",
      { stage in
        let id = try await OpenIDProvider.link("g-1", to: "grace", in: stage.village)
        try await stage.request(.delete, "/me/identities/\(id)", as: "grace")
      }),
    ReplayCase("post /users/{id}/reset", { try await $0.request(.post, "/users/@zoe/reset", as: "ada", [:]) }),
    ReplayCase(
      "post /bots", { try await $0.request(.post, "/bots", as: "ada", ["name": "dice", "scope": "write"]) }),
    ReplayCase(
      "post /bots/{id}/tokens",
      { try await $0.request(.post, "/bots/@robo/tokens", as: "ada", ["name": "t", "scope": "write"]) }),
    ReplayCase(
      "delete /bots/{id}/tokens/{token}",
      { stage in
        let made = try await stage.request(
          .post, "/bots/@robo/tokens", as: "ada", ["name": "t", "scope": "write"])
        try await stage.request(.delete, "/bots/@robo/tokens/\(made["id"] ?? "")", as: "ada")
      }),
    ReplayCase("post /webhooks", { _ = try await webhook($0) }),
    ReplayCase(
      "patch /webhooks/{id}",
      { stage in
        let id = try await webhook(stage).id
        try await stage.request(.patch, "/webhooks/\(id)", as: "ada", ["name": "Tests", "enabled": false])
      }),
    ReplayCase(
      "post /webhooks/{id}/secret",
      { stage in
        let id = try await webhook(stage).id
        try await stage.request(.post, "/webhooks/\(id)/secret", as: "ada")
      }),
    ReplayCase(
      "delete /webhooks/{id}",
      { stage in
        let id = try await webhook(stage).id
        try await stage.request(.delete, "/webhooks/\(id)", as: "ada")
      }),
    ReplayCase("post /webhook-endpoints", { _ = try await endpoint($0) }),
    ReplayCase(
      "patch /webhook-endpoints/{id}",
      { stage in
        let id = try await endpoint(stage)
        try await stage.request(.patch, "/webhook-endpoints/\(id)", as: "ada", ["name": "Tests", "enabled": false])
      }),
    ReplayCase(
      "post /webhook-endpoints/{id}/secret",
      { stage in
        let id = try await endpoint(stage)
        try await stage.request(.post, "/webhook-endpoints/\(id)/secret", as: "ada")
      }),
    ReplayCase(
      "post /webhook-endpoints/{id}/deliveries/{delivery}/redeliver",
      { stage in
        let id = try await endpoint(stage)
        let delivery = try await stage.village.community.store.write { tx throws(Refusal) in
          let delivery = NewWebhookDelivery("msg_1", type: "message.created", event: 1, attempt: 1)
          return try tx.add(delivery, of: ID(Int(id) ?? 0), .failed)
        }
        let path = "/webhook-endpoints/\(id)/deliveries/\(delivery)/redeliver"
        try await stage.request(.post, path, as: "ada")
      }),
    ReplayCase(
      "delete /webhook-endpoints/{id}",
      { stage in
        let id = try await endpoint(stage)
        try await stage.request(.delete, "/webhook-endpoints/\(id)", as: "ada")
      }),
    ReplayCase(
      "post /hooks/{secret}",
      { stage in
        let path = try await webhook(stage).path
        try await stage.request(.post, path, as: "ada", ["text": "green", "client_id": "c1"])
      }),
    ReplayCase("post /commands", { _ = try await command($0) }),
    ReplayCase(
      "patch /commands/{id}",
      { stage in
        let id = try await command(stage)
        try await stage.request(.patch, "/commands/\(id)", as: "ada", ["usage": "<city>", "enabled": false])
      }),
    ReplayCase(
      "post /commands/{id}/secret",
      { stage in
        let id = try await command(stage)
        try await stage.request(.post, "/commands/\(id)/secret", as: "ada")
      }),
    ReplayCase(
      "delete /commands/{id}",
      { stage in
        let id = try await command(stage)
        try await stage.request(.delete, "/commands/\(id)", as: "ada")
      }),
    ReplayCase("post /apps", { _ = try await OAuthStage($0.village) }),
    ReplayCase(
      "patch /apps/{id}",
      { stage in
        let app = try await OAuthStage(stage.village).app
        try await stage.request(.patch, "/apps/\(app)", as: "ada", ["name": "Rowing boat", "enabled": false])
      }),
    ReplayCase(
      "post /apps/{id}/secret",
      { stage in
        let app = try await OAuthStage(stage.village, ["confidential": true]).app
        try await stage.request(.post, "/apps/\(app)/secret", as: "ada")
      }),
    ReplayCase(
      "delete /apps/{id}",
      { stage in
        let app = try await OAuthStage(stage.village)
        _ = try await app.directTokens()
        try await stage.request(.delete, "/apps/\(app.app)", as: "ada")
      }),
    ReplayCase(
      "delete /me/apps/{id}",
      { stage in
        let app = try await OAuthStage(stage.village)
        _ = try await app.directTokens()
        try await stage.request(.delete, "/me/apps/\(app.app)", as: "grace")
      }),
    // The server of the stage reaches no program.
    ReplayCase(
      "post /conversations/{id}/commands", before: { _ = try await command($0) },
      { stage in
        let path = "/conversations/\(stage.garden.room)/commands"
        let answer = try await stage.village.request(.post, path, as: "grace", ["name": "weather"])
        #expect(answer.code == "command_unreachable", "\(answer.text)")
      }),
    ReplayCase(
      "post /command-replies/{secret}",
      { stage in
        let secret = try await invocation(of: try await command(stage), stage)
        for audience in ["caller", "all"] {
          let reply = ["text": "18", "visible_to": audience]
          try await stage.request(.post, "/command-replies/\(secret)", as: "ada", reply)
        }
      }),
    ReplayCase(
      "patch /settings", { try await $0.request(.patch, "/settings", as: "ada", ["welcome": "come in", "hue": 3]) }),
    ReplayCase("post /emoji", { _ = try await CustomEmojiTests.create("parrot", in: $0.village) }),
    ReplayCase(
      "delete /emoji/{id}",
      {
        let id = try await CustomEmojiTests.create("parrot", in: $0.village)
        try await $0.request(.delete, "/emoji/\(id)", as: "ada")
      }),
  ]

  /// Lets a new group write in the den. Its members have a topic there.
  private static func openDen(to names: [String], _ stage: Stage) async throws -> String {
    let id = try await UserGroupTests.create("gardeners", in: stage.village)
    for name in names { try await stage.request(.put, "/groups/\(id)/members/@\(name)", as: "ada") }
    try await stage.request(.patch, "/forums/\(stage.den.forum)", as: "ada", ["write_groups": [id]])
    for name in names {
      let topic = ["title": "of \(name)", "text": "a topic"]
      try await stage.request(.post, "/forums/\(stage.den.forum)/conversations", as: name, topic)
    }
    await stage.village.community.store.jobs.run()
    return id
  }

  /// Deletes zoe, author of messages to grace and in the garden.
  private static func leave(_ how: String, _ stage: Stage) async throws {
    try await stage.request(.delete, "/me", as: "zoe", ["how": how, "password": "zoe’s password"])
    await stage.village.community.store.jobs.run()
  }

  private static func waiting(_ stage: Stage) async throws {
    try await stage.village.changeSettings(["registration": "approval"])
    try await stage.request(.post, "/users", ["name": "lena", "password": "lena’s password"])
  }

  private static let relations: [ReplayCase] = [
    ReplayCase("put /users/{id}/follow", { try await $0.request(.put, "/users/@grace/follow", as: "linus") }),
    ReplayCase(
      "delete /users/{id}/follow", before: { try await $0.request(.put, "/users/@grace/follow", as: "linus") },
      { try await $0.request(.delete, "/users/@grace/follow", as: "linus") }),
    ReplayCase("put /users/{id}/mute", { try await $0.request(.put, "/users/@grace/mute", as: "linus") }),
    ReplayCase(
      "delete /users/{id}/mute", before: { try await $0.request(.put, "/users/@grace/mute", as: "linus") },
      { try await $0.request(.delete, "/users/@grace/mute", as: "linus") }),
    ReplayCase(
      "put /users/{id}/block",
      before: { stage in
        try await stage.request(.put, "/users/@linus/follow", as: "grace")
        try await stage.request(.put, "/users/@grace/follow", as: "linus")
      }, { try await $0.request(.put, "/users/@grace/block", as: "linus") }),
    ReplayCase(
      "delete /users/{id}/block", before: { try await $0.request(.put, "/users/@grace/block", as: "linus") },
      { try await $0.request(.delete, "/users/@grace/block", as: "linus") }),
  ]

  private static let forums: [ReplayCase] = [
    ReplayCase(
      "post /forums",
      { try await $0.request(.post, "/forums", as: "grace", ["title": "orchard", "visibility": "public"]) }),
    ReplayCase(
      "post /forums", "for members",
      { try await $0.request(.post, "/forums", as: "grace", ["title": "orchard", "visibility": "members"]) }),
    ReplayCase(
      "post /forums", "hidden",
      { try await $0.request(.post, "/forums", as: "grace", ["title": "orchard", "visibility": "private"]) }),
    ReplayCase(
      "patch /forums/{id}",
      { try await $0.request(.patch, "/forums/\($0.garden.forum)", as: "ada", ["title": "orchard", "locked": true]) }),
    ReplayCase(
      "patch /forums/{id}", "hidden, and renamed",
      { try await $0.request(.patch, "/forums/\($0.den.forum)", as: "ada", ["title": "cave"]) }),
    ReplayCase("patch /forums/{id}", "narrowed to members", { try await narrow($0, "members") }),
    ReplayCase("patch /forums/{id}", "narrowed to its own", { try await narrow($0, "private") }),
    ReplayCase(
      "patch /forums/{id}", "widened from now on",
      { stage in
        try await stage.request(
          .patch, "/forums/\(stage.den.forum)", as: "ada", ["visibility": "members", "from": "now"])
        try await stage.village.post("come in", in: stage.den.room, as: "grace")
      }),
    ReplayCase(
      "patch /forums/{id}", "widened from now on, with a tagged topic",
      before: { stage in
        let topic = ["title": "roots", "text": "deep #roots"]
        try await stage.request(.post, "/forums/\(stage.den.forum)/conversations", as: "grace", topic)
      },
      {
        try await $0.request(.patch, "/forums/\($0.den.forum)", as: "ada", ["visibility": "members", "from": "now"])
      }),
    ReplayCase("delete /forums/{id}", { try await delete($0, $0.garden.forum) }),
    ReplayCase("delete /forums/{id}", "hidden", { try await delete($0, $0.den.forum) }),
    ReplayCase(
      "put /forums/{id}/members/{user}", "joined",
      { try await $0.request(.put, "/forums/\($0.garden.forum)/members/me", as: "linus", [:]) }),
    ReplayCase(
      "put /forums/{id}/members/{user}", "brought in",
      { try await $0.request(.put, "/forums/\($0.den.forum)/members/\($0.id("gus"))", as: "ada", [:]) }),
    ReplayCase(
      "put /forums/{id}/members/{user}", "another role",
      {
        try await $0.request(
          .put, "/forums/\($0.den.forum)/members/\($0.id("grace"))", as: "ada", ["role": "moderator"])
      }),
    ReplayCase(
      "delete /forums/{id}/members/{user}", "of an open one",
      { try await $0.request(.delete, "/forums/\($0.garden.forum)/members/me", as: "grace") }),
    ReplayCase(
      "delete /forums/{id}/members/{user}", "of a hidden one",
      { try await $0.request(.delete, "/forums/\($0.den.forum)/members/\($0.id("grace"))", as: "ada") }),
    ReplayCase(
      "delete /forums/{id}/members/{user}", "the lead",
      { try await $0.request(.delete, "/forums/\($0.den.forum)/members/me", as: "ada") }),
    ReplayCase(
      "post /forums/{id}/conversations",
      { stage in
        let body = ["title": "roses", "text": "red ones, @grace"]
        try await stage.request(.post, "/forums/\(stage.garden.forum)/conversations", as: "linus", body)
      }),
    ReplayCase(
      "put /forums/{id}/level",
      { try await $0.request(.put, "/forums/\($0.garden.forum)/level", as: "grace", ["level": "nothing"]) }),
    ReplayCase(
      "delete /forums/{id}/level",
      before: { try await $0.request(.put, "/forums/\($0.garden.forum)/level", as: "grace", ["level": "nothing"]) },
      { try await $0.request(.delete, "/forums/\($0.garden.forum)/level", as: "grace") }),
  ]

  private static func narrow(_ stage: Stage, _ visibility: String) async throws {
    try await stage.request(.patch, "/forums/\(stage.garden.forum)", as: "ada", ["visibility": visibility])
    await stage.village.community.store.jobs.run()
  }

  private static func delete(_ stage: Stage, _ forum: String) async throws {
    try await stage.request(.delete, "/forums/\(forum)", as: "ada")
    await stage.village.community.store.jobs.run()
  }

  private static let messages: [ReplayCase] = [
    ReplayCase(
      "post /conversations/{id}/messages",
      { stage in
        try await stage.village.post("one", in: stage.group, as: "grace")
        try await stage.village.post("two", in: stage.group, as: "linus", ["machine_only": true])
        try await stage.village.post("three", in: stage.garden.room, as: "linus")
        try await stage.village.post("four", in: stage.topic, as: "grace")
        try await stage.village.post("five", in: stage.den.room, as: "ada")
      }),
    ReplayCase(
      "patch /messages/{id}", { try await $0.request(.patch, "/messages/\($0.message)", as: "grace", ["text": "figs"]) }
    ),
    ReplayCase("delete /messages/{id}", { try await $0.request(.delete, "/messages/\($0.answer)", as: "linus") }),
    ReplayCase(
      "delete /messages/{id}", "edited", { try await $0.request(.delete, "/messages/\($0.message)", as: "grace") }),
    ReplayCase(
      "post /messages/{id}/remove",
      { try await $0.request(.post, "/messages/\($0.message)/remove", as: "ada", ["reason": "no fruit"]) }),
    ReplayCase(
      "post /messages/{id}/restore",
      before: { try await $0.request(.post, "/messages/\($0.answer)/remove", as: "grace", ["reason": "no fruit"]) },
      { try await $0.request(.post, "/messages/\($0.answer)/restore", as: "grace", [:]) }),
    ReplayCase(
      "delete /messages/{id}/revisions/{revision}",
      { try await $0.request(.delete, "/messages/\($0.message)/revisions/1", as: "grace") }),
    ReplayCase(
      "put /messages/{id}/actions/{type}",
      { stage in
        try await stage.request(.put, "/messages/\(stage.answer)/actions/like", as: "grace")
        try await stage.request(.put, "/messages/\(stage.answer)/actions/star", as: "gus")
      }),
    ReplayCase(
      "delete /messages/{id}/actions/{type}",
      { try await $0.request(.delete, "/messages/\($0.message)/actions/like", as: "linus") }),
    ReplayCase(
      "put /messages/{id}/actions/{type}", "repost",
      { stage in
        let feed = try await stage.village.feed(of: "grace")
        let post = try await stage.village.post("socks", in: feed, as: "grace")
        try await stage.request(.put, "/messages/\(post)/actions/repost", as: "linus")
        try await stage.request(.put, "/messages/\(post)/actions/repost", as: "grace")
        try await stage.request(.delete, "/messages/\(post)/actions/repost", as: "grace")
      }),
    ReplayCase(
      "put /messages/{id}/vote",
      { stage in
        let poll = ["options": ["plums", "pears"]]
        let id = try await stage.village.post("Which?", in: stage.garden.room, as: "grace", ["poll": poll])
        for (name, options) in [("linus", [0]), ("grace", [1]), ("linus", [1]), ("grace", [])] {
          try await stage.request(.put, "/messages/\(id)/vote", as: name, ["options": options])
        }
      }),
    ReplayCase(
      "post /messages/{id}/poll/close",
      { stage in
        let poll: [String: Any] = ["options": ["plums", "pears"], "anonymous": true]
        let id = try await stage.village.post("Which?", in: stage.garden.room, as: "grace", ["poll": poll])
        try await stage.request(.put, "/messages/\(id)/vote", as: "linus", ["options": [1]])
        try await stage.request(.post, "/messages/\(id)/poll/close", as: "grace")
      }),
    ReplayCase(
      "post /messages/{id}/presses",
      { stage in
        let buttons = [["id": "yes", "label": "Yes"]]
        let id = try await stage.village.post("Well?", in: stage.garden.room, as: "robo", ["buttons": buttons])
        try await stage.request(.post, "/messages/\(id)/presses", as: "grace", ["button_id": "yes"])
        let pressed = [["id": "yes", "label": "Yes!", "pressed": true] as [String: Any]]
        try await stage.request(.patch, "/messages/\(id)", as: "robo", ["buttons": pressed])
      }),
    ReplayCase(
      "post /messages/{id}/topic",
      { stage in
        let root = try await stage.village.post("a long story", in: stage.garden.room, as: "grace")
        try await stage.village.post("go on", in: stage.garden.room, as: "linus", ["reply_to": root])
        try await stage.request(.post, "/messages/\(root)/topic", as: "ada", ["title": "Stories"])
      }),
    ReplayCase(
      "post /messages/{id}/topic", "with actions, an edit and a mention",
      before: { stage in
        let path = "/messages/\(stage.message)"
        try await stage.request(.patch, path, as: "grace", ["text": "pears, @linus"])
        for (action, name) in [("like", "grace"), ("star", "grace"), ("star", "ada"), ("pin", "ada")] {
          try await stage.request(.put, "\(path)/actions/\(action)", as: name)
        }
        try await stage.village.post("mine @grace", in: stage.garden.room, as: "linus", ["reply_to": stage.message])
      },
      { try await $0.request(.post, "/messages/\($0.message)/topic", as: "ada", ["title": "Pears"]) }),
    ReplayCase(
      "delete /messages/{id}", "the solution of a topic",
      before: { stage in
        try await stage.request(.patch, "/forums/\(stage.garden.forum)", as: "ada", ["solvable": true])
      },
      { stage in
        let id = try await stage.village.post("pull them", in: stage.topic, as: "grace")
        try await stage.request(.patch, "/conversations/\(stage.topic)", as: "linus", ["solved_by": id])
        try await stage.request(.delete, "/messages/\(id)", as: "grace")
      }),
  ]

  private static let conversations: [ReplayCase] = [
    ReplayCase(
      "post /conversations", "group",
      { stage in
        let made = try await stage.village.conversation("group", by: "linus", with: ["gus", "ada"], ["title": "new"])
        try await stage.village.post("welcome", in: made, as: "linus")
      }),
    ReplayCase(
      "post /conversations", "direct", { try await $0.village.conversation("direct", by: "linus", with: ["ada"]) }),
    ReplayCase(
      "post /conversations", "feed",
      { stage in
        let feed = try await stage.request(.post, "/conversations", as: "grace", ["kind": "feed"])
        try await stage.village.post("my day", in: feed["id"] ?? "", as: "grace")
      }),
    ReplayCase(
      "patch /conversations/{id}",
      {
        try await $0.request(.patch, "/conversations/\($0.group)", as: "grace", ["title": "plums", "slow_seconds": 5])
      }),
    ReplayCase(
      "patch /conversations/{id}", "a topic",
      { try await $0.request(.patch, "/conversations/\($0.topic)", as: "ada", ["title": "nettles", "locked": true]) }),
    ReplayCase(
      "patch /conversations/{id}", "closed to whoever comes",
      { try await $0.request(.patch, "/conversations/\($0.channel)", as: "ada", ["readers": ["open_to": "users"]]) }),
    ReplayCase(
      "delete /conversations/{id}", { try await $0.request(.delete, "/conversations/\($0.group)", as: "grace") }),
    ReplayCase(
      "delete /conversations/{id}", "a topic",
      { try await $0.request(.delete, "/conversations/\($0.topic)", as: "ada") }),
    ReplayCase(
      "put /conversations/{id}/participants/{user}", "new",
      { try await $0.request(.put, "/conversations/\($0.group)/participants/\($0.id("ada"))", as: "grace", [:]) }),
    ReplayCase(
      "put /conversations/{id}/participants/{user}", "without what was said before",
      before: { try await $0.request(.patch, "/conversations/\($0.group)", as: "grace", ["history_visible": false]) },
      { stage in
        try await stage.request(.put, "/conversations/\(stage.group)/participants/\(stage.id("ada"))", as: "grace", [:])
        try await stage.request(.patch, "/messages/\(stage.answer)", as: "linus", ["text": "I don’t"])
        try await stage.village.post("welcome", in: stage.group, as: "linus")
      }),
    ReplayCase(
      "put /conversations/{id}/participants/{user}", "another role",
      {
        let path = "/conversations/\($0.group)/participants/\($0.id("linus"))"
        try await $0.request(.put, path, as: "grace", ["role": "admin"])
      }),
    ReplayCase(
      "put /conversations/{id}/participants/{user}", "an open channel",
      { try await $0.request(.put, "/conversations/\($0.channel)/participants/\($0.id("linus"))", as: "linus", [:]) }),
    ReplayCase(
      "delete /conversations/{id}/participants/{user}", "the lead",
      { try await $0.request(.delete, "/conversations/\($0.group)/participants/\($0.id("grace"))", as: "grace") }),
    ReplayCase(
      "delete /conversations/{id}/participants/{user}", "and back again",
      { stage in
        let path = "/conversations/\(stage.group)/participants/\(stage.id("linus"))"
        try await stage.request(.delete, path, as: "grace")
        try await stage.village.post("he is gone", in: stage.group, as: "gus")
        try await stage.request(.put, path, as: "grace", [:])
      }),
    ReplayCase(
      "put /conversations/{id}/request",
      { try await $0.request(.put, "/conversations/\($0.messageRequest)/request", as: "grace") }
    ),
    ReplayCase(
      "put /conversations/{id}/request", "after it was refused",
      before: { try await $0.request(.delete, "/conversations/\($0.messageRequest)/request", as: "grace") },
      { try await $0.request(.put, "/conversations/\($0.messageRequest)/request", as: "grace") }),
    ReplayCase(
      "delete /conversations/{id}/request",
      { try await $0.request(.delete, "/conversations/\($0.messageRequest)/request", as: "grace") }),
  ]

  private static let own: [ReplayCase] = [
    ReplayCase(
      "patch /me/notifications",
      { stage in try await stage.request(.patch, "/me/notifications", as: "grace", ["paused": true]) }),
    ReplayCase(
      "put /me/email",
      { stage in try await stage.request(.put, "/me/email", as: "grace", ["address": "grace@example.org"]) }),
    ReplayCase(
      "delete /me/email",
      { stage in
        try await stage.request(.put, "/me/email", as: "grace", ["address": "grace@example.org"])
        try await stage.request(.delete, "/me/email", as: "grace")
      }),
    ReplayCase(
      "post /email-confirmations",
      { stage in
        let code = try await stage.village.emailCode("grace@example.org", of: "grace")
        try await stage.request(.post, "/email-confirmations", as: "grace", ["code": code])
      }),
    ReplayCase("post /password-resets", { try await $0.request(.post, "/password-resets", ["login": "grace"]) }),
    ReplayCase(
      "post /settings/mail-test",
      { try await $0.request(.post, "/settings/mail-test", as: "ada", ["address": "ada@example.org"]) }),
    ReplayCase("post /me/push-subscriptions", { _ = try await $0.village.subscribe("grace") }),
    ReplayCase(
      "delete /me/push-subscriptions/{id}",
      { stage in
        let (_, id) = try await stage.village.subscribe("grace")
        try await stage.request(.delete, "/me/push-subscriptions/\(id)", as: "grace")
      }),
    ReplayCase(
      "post /me/push-subscriptions/{id}/test",
      { stage in
        let (_, id) = try await stage.village.subscribe("grace")
        try await stage.request(.post, "/me/push-subscriptions/\(id)/test", as: "grace")
      }),
    ReplayCase(
      "put /conversations/{id}/read",
      { stage in
        try await stage.request(.put, "/conversations/\(stage.group)/read", as: "linus", ["message_id": stage.first])
        try await stage.request(.put, "/conversations/\(stage.group)/read", as: "gus", ["message_id": stage.answer])
        try await stage.request(
          .put, "/conversations/\(stage.garden.room)/read", as: "ada", ["message_id": stage.message])
      }),
    ReplayCase(
      "put /conversations/{id}/delivered",
      { try await $0.request(.put, "/conversations/\($0.group)/delivered", as: "linus", ["message_id": $0.first]) }),
    ReplayCase(
      "post /conversations/{id}/typing",
      { try await $0.request(.post, "/conversations/\($0.group)/typing", as: "linus") }),
    ReplayCase(
      "put /conversations/{id}/level",
      { stage in
        let body = ["level": "everything"]
        try await stage.request(.put, "/conversations/\(stage.topic)/level", as: "grace", body)
      }),
    ReplayCase(
      "delete /conversations/{id}/level",
      before: { try await $0.request(.put, "/conversations/\($0.group)/level", as: "grace", ["level": "nothing"]) },
      { try await $0.request(.delete, "/conversations/\($0.group)/level", as: "grace") }),
    ReplayCase(
      "put /conversations/{id}/later",
      { stage in
        let body = ["until": "2027-06-01T00:00:00.000Z"]
        try await stage.request(.put, "/conversations/\(stage.group)/later", as: "grace", body)
      }),
    ReplayCase(
      "delete /conversations/{id}/later",
      before: { stage in
        let body = ["until": "2027-06-01T00:00:00.000Z"]
        try await stage.request(.put, "/conversations/\(stage.group)/later", as: "grace", body)
      },
      { try await $0.request(.delete, "/conversations/\($0.group)/later", as: "grace") }),
    ReplayCase(
      "put /timeline/read",
      { stage in
        let post = try await stage.village.post("socks", in: try await stage.village.feed(of: "grace"), by: "grace")
        try await stage.request(.put, "/timeline/read", as: "grace", ["message_id": post])
      }),
    ReplayCase(
      "put /me/timeline-filters/{name}", { try await $0.request(.put, "/me/timeline-filters/a", as: "grace", [:]) }),
    ReplayCase(
      "delete /me/timeline-filters/{name}", { try await $0.request(.delete, "/me/timeline-filters/a", as: "grace") }),
    ReplayCase("delete /me/timeline-filters", { try await $0.request(.delete, "/me/timeline-filters", as: "grace") }),
  ]

  private static let order: [ReplayCase] = [
    ReplayCase(
      "post /users/{id}/warn",
      { try await $0.request(.post, "/users/@linus/warn", as: "ada", ["reason": "Mind the beds."]) }
    ),
    ReplayCase(
      "put /users/{id}/silence",
      { try await $0.request(.put, "/users/@linus/silence", as: "ada", ["reason": "Too loud."]) }),
    ReplayCase(
      "delete /users/{id}/silence",
      before: { try await $0.request(.put, "/users/@linus/silence", as: "ada", ["reason": "Too loud."]) },
      { try await $0.request(.delete, "/users/@linus/silence", as: "ada") }),
    ReplayCase(
      "put /users/{id}/ban", { try await $0.request(.put, "/users/@zoe/ban", as: "ada", ["reason": "Spam."]) }),
    ReplayCase(
      "delete /users/{id}/ban",
      before: { try await $0.request(.put, "/users/@zoe/ban", as: "ada", ["reason": "Spam."]) },
      { try await $0.request(.delete, "/users/@zoe/ban", as: "ada") }),
    ReplayCase(
      "post /reports",
      { try await $0.request(.post, "/reports", as: "linus", ["message_id": $0.message, "reason": "Not ripe."]) }),
    ReplayCase(
      "patch /reports/{id}",
      { stage in
        let body = ["message_id": stage.message, "reason": "Not ripe."]
        let made = try await stage.request(.post, "/reports", as: "linus", body)
        try await stage.request(
          .patch, "/reports/\(made["id"] ?? "")", as: "ada", ["assignee": "me", "if_revision": 1])
      }),
    ReplayCase(
      "patch /reports",
      before: { try await $0.request(.post, "/reports", as: "linus", ["user": "@grace", "reason": "Rude."]) },
      { try await $0.request(.patch, "/reports", as: "ada", ["user": "@grace", "state": "dismissed"]) }),
    ReplayCase(
      "post /conversations/{id}/messages", "mentioning a group",
      before: { stage in
        let id = try await UserGroupTests.create("gardeners", in: stage.village)
        for name in ["grace", "linus"] { try await stage.request(.put, "/groups/\(id)/members/@\(name)", as: "ada") }
      }, { try await $0.village.post("@gardeners", in: $0.garden.room, as: "grace") }),
    ReplayCase("post /groups", { _ = try await UserGroupTests.create("gardeners", in: $0.village) }),
    ReplayCase(
      "patch /groups/{id}",
      {
        let id = try await UserGroupTests.create("gardeners", in: $0.village)
        try await $0.request(.patch, "/groups/\(id)", as: "ada", ["name": "growers", "hue": 20])
      }),
    ReplayCase(
      "delete /groups/{id}",
      {
        let id = try await UserGroupTests.create("gardeners", in: $0.village)
        for name in ["grace", "linus"] { try await $0.request(.put, "/groups/\(id)/members/@\(name)", as: "ada") }
        try await $0.request(.delete, "/groups/\(id)", as: "ada")
        await $0.village.community.store.jobs.run()
      }),
    ReplayCase(
      "put /groups/{id}/members/{user}", "with a forum",
      {
        let id = try await openDen(to: ["gus"], $0)
        for name in ["grace", "linus"] { try await $0.request(.put, "/groups/\(id)/members/@\(name)", as: "ada") }
      }),
    ReplayCase("patch /forums/{id}", "for a group", { _ = try await openDen(to: ["linus", "gus"], $0) }),
    ReplayCase(
      "patch /forums/{id}", "no longer for a group", before: { _ = try await openDen(to: ["linus", "gus"], $0) },
      {
        try await $0.request(.patch, "/forums/\($0.den.forum)", as: "ada", ["write_groups": []])
        await $0.village.community.store.jobs.run()
      }),
    ReplayCase(
      "delete /forums/{id}", "of a group", before: { _ = try await openDen(to: ["linus", "gus"], $0) },
      {
        try await $0.request(.delete, "/forums/\($0.den.forum)", as: "ada")
        await $0.village.community.store.jobs.run()
      }),
    ReplayCase(
      "delete /groups/{id}", "with a forum", before: { _ = try await openDen(to: ["linus", "gus"], $0) },
      { stage in
        let groups = try await stage.request(.get, "/groups", as: "ada").texts("data", "id")
        try await stage.request(.delete, "/groups/\((groups.first ?? nil) ?? "")", as: "ada")
        await stage.village.community.store.jobs.run()
      }),
    ReplayCase(
      "delete /groups/{id}/members/{user}", "with a forum",
      before: { _ = try await openDen(to: ["linus", "gus"], $0) },
      { stage in
        let groups = try await stage.request(.get, "/groups", as: "ada").texts("data", "id")
        try await stage.request(.delete, "/groups/\((groups.first ?? nil) ?? "")/members/@linus", as: "ada")
      }),
    ReplayCase(
      "put /groups/{id}/members/{user}",
      {
        let id = try await UserGroupTests.create("gardeners", in: $0.village)
        try await $0.request(.put, "/groups/\(id)/members/@grace", as: "ada")
      }),
    ReplayCase(
      "delete /groups/{id}/members/{user}",
      {
        let id = try await UserGroupTests.create("gardeners", in: $0.village)
        for name in ["grace", "linus"] { try await $0.request(.put, "/groups/\(id)/members/@\(name)", as: "ada") }
        try await $0.request(.delete, "/groups/\(id)/members/@grace", as: "ada")
      }),
    ReplayCase("post /moderation-rules", { _ = try await rule($0) }),
    ReplayCase(
      "post /moderation-rules/trial",
      { try await $0.request(.post, "/moderation-rules/trial", as: "ada", ["words": ["spam"]]) }),
    ReplayCase(
      "patch /moderation-rules/{id}",
      { stage in
        let id = try await rule(stage)
        try await stage.request(.patch, "/moderation-rules/\(id)", as: "ada", ["enabled": false, "if_revision": 1])
      }),
    ReplayCase(
      "delete /moderation-rules/{id}",
      { stage in
        let id = try await rule(stage)
        try await stage.request(.delete, "/moderation-rules/\(id)", as: "ada")
      }),
    ReplayCase("post /removals", { _ = try await removal($0) }),
    ReplayCase(
      "delete /removals/{id}",
      { stage in
        let id = try await removal(stage)
        try await stage.request(.delete, "/removals/\(id)", as: "ada", ["reason": "My mistake."])
        await stage.village.community.store.jobs.run()
      }),
    ReplayCase(
      "post /destructions", before: { stage in try await stage.village.post("bad", in: stage.group, as: "grace") },
      { stage in
        let found = try await stage.request(.get, "/conversations/\(stage.group)/messages?limit=1", as: "linus")
        let body = ["message": found["data.0.id"] ?? "", "reason": "A letter."]
        try await stage.request(.post, "/destructions", as: "ada", body)
      }),
    ReplayCase(
      "put /inbox/read", before: { try await $0.village.post("@linus, look", in: $0.group, as: "grace") },
      { try await $0.request(.put, "/inbox/read", as: "linus", ["up_to": "9007199254740991"]) }),
    ReplayCase(
      "put /unread/read", before: { try await $0.village.post("@linus, look", in: $0.group, as: "grace") },
      { try await $0.request(.put, "/unread/read", as: "linus", ["up_to": "9007199254740991"]) }),
  ]

  private static func rule(_ stage: Stage) async throws -> String {
    let body: [String: Any] = ["name": "Spam", "words": ["spam"], "enabled": true]
    return try await stage.request(.post, "/moderation-rules", as: "ada", body)["id"] ?? ""
  }

  private static func endpoint(_ stage: Stage) async throws -> String {
    let draft: [String: Any] = ["name": "x", "url": "https://example.org/", "topics": ["me"]]
    return try await stage.village.expect(201, .post, "/webhook-endpoints", as: "ada", draft)["id"] ?? ""
  }

  private static func command(_ stage: Stage) async throws -> String {
    try await SlashCommandTests.create(in: stage.village).id
  }

  /// The secret of a use by grace.
  private static func invocation(of command: String, _ stage: Stage) async throws -> String {
    let secret = try Secret.make()
    let (room, user) = (ID<Conversation>(Int(stage.garden.room) ?? 0), stage.village.user("grace"))
    _ = try await stage.village.community.store.write { tx throws(Refusal) in
      guard let command = try tx.command(ID(Int(command) ?? 0)) else { throw .notFound }
      return try tx.addInvocation(of: command, by: user, in: room, digest: secret.digest)
    }
    return secret.text
  }

  private static func webhook(_ stage: Stage) async throws -> (id: String, path: String) {
    try await WebhookTests.create(in: stage.garden.room, of: stage.village)
  }

  /// Removes all messages of linus.
  private static func removal(_ stage: Stage) async throws -> String {
    let body = ["author": "@linus", "since": "2020-01-01T00:00:00.000Z", "reason": "Spam."]
    let made = try await stage.request(.post, "/removals", as: "ada", body)
    await stage.village.community.store.jobs.run()
    return made["id"] ?? ""
  }

  private static let files: [ReplayCase] = [
    ReplayCase("post /files", { try await $0.village.send(Photographs.png(), named: "rose.png", by: "grace") }),
    ReplayCase(
      "delete /files/{id}",
      { stage in
        let file = try await picture(stage)
        try await stage.request(.delete, "/files/\(file)", as: "grace")
      }),
    ReplayCase(
      "put /files/{id}/preview",
      { stage in
        let file = try await attached(stage)
        let answer = try await stage.village.send(.put, "/files/\(file)/preview", as: "grace", Photographs.png())
        #expect(answer.status == 200, "\(answer.text)")
      }),
    ReplayCase(
      "post /files/{id}/link",
      { stage in
        let file = try await attached(stage)
        try await stage.request(.post, "/files/\(file)/link", as: "linus")
      }),
    ReplayCase(
      "post /uploads", { try await $0.request(.post, "/uploads", as: "grace", ["name": "film", "size": 2]) }),
    ReplayCase(
      "patch /uploads/{id}",
      { stage in
        let begun = try await stage.request(.post, "/uploads", as: "grace", ["name": "film", "size": 2])
        let answer = try await stage.village.send(
          .patch, "/uploads/\(begun["id"] ?? "")", as: "grace", [1, 2],
          fields: ["Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"])
        #expect(answer.status == 201, "\(answer.text)")
      }),
    ReplayCase(
      "delete /uploads/{id}",
      { stage in
        let begun = try await stage.request(.post, "/uploads", as: "grace", ["name": "film", "size": 2])
        try await stage.request(.delete, "/uploads/\(begun["id"] ?? "")", as: "grace")
      }),
    ReplayCase("put /users/{id}/avatar", { try await choose($0) }),
    ReplayCase(
      "delete /users/{id}/avatar", before: { try await choose($0) },
      { try await $0.request(.delete, "/me/avatar", as: "grace") }),
  ]

  private static func picture(_ stage: Stage) async throws -> String {
    try await stage.village.send(Photographs.png(), named: "rose.png", by: "grace")["id"] ?? ""
  }

  private static func attached(_ stage: Stage) async throws -> String {
    let file = try await picture(stage)
    try await stage.village.post("look", in: stage.group, as: "grace", ["attachments": [file]])
    return file
  }

  private static func choose(_ stage: Stage) async throws {
    try await stage.request(.put, "/me/avatar", as: "grace", ["file": try await picture(stage)])
  }

  /// Endpoints without a case, each with the reason.
  static let notWalked = [
    "post /backups": "it needs a store on a disk, and writes no event",
    "delete /backups/{id}": "the same",
    "post /me/export": "the same",
    "delete /me/export": "the same",
    "put /me/second-factor": "it needs the code of a moment",
    "post /me/second-factor/recovery-codes": "it follows on the same",
    "post /sessions/second-factor": "the same",
    "post /previews": "it changes nothing, but asks others",
  ]
}
