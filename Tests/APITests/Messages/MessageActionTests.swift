import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct MessageActionTests {
  @Test(arguments: TestTransport.allCases)
  func `likes are counted for all, stars are private`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let id = try await village.post("roses", in: room)
      let thumb = "reaction:%F0%9F%91%8D"
      let events = try await village.events {
        for _ in 0..<2 {
          for type in ["like", thumb, "com.example.done", "star"] {
            let answer = try await village.request(.put, "/messages/\(id)/actions/\(type)", as: "grace")
            #expect(answer.status == 200, "\(type): \(answer.text)")
          }
        }
        let answer1 = try await village.request(.put, "/messages/\(id)/actions/like", as: "linus")
        #expect(answer1.status == 200)
      }
      #expect(
        events == [
          "action.added conversation:\(room)", "action.added conversation:\(room)", "action.added conversation:\(room)",
          "action.added user:\(village.id("grace"))", "action.added conversation:\(room)",
        ])
      let own = try await village.request(.get, "/messages/\(id)", as: "grace")
      #expect(own.int("actions.like.count") == 2 && own.bool("actions.like.mine") == true)
      #expect(own.int("actions.reaction:👍.count") == 1 && own.bool("actions.star.mine") == true)
      let other = try await village.request(.get, "/messages/\(id)", as: "mira")
      #expect(other.bool("actions.like.mine") == false && !other.has("actions.star"))
      let list = try await village.request(.get, "/messages/\(id)/actions?limit=2", as: "grace")
      #expect(list.texts("data", "type") == ["com.example.done", "like"] && !list.isNull("next"))
      let next = list["next"] ?? ""
      let rest = try await village.request(.get, "/messages/\(id)/actions?limit=9&next=\(next)", as: "grace")
      #expect(rest.texts("data", "type") == ["like", "reaction:👍", "star"])
      #expect(try await village.request(.get, "/messages/\(id)/actions?type=star", as: "linus").count("data") == 0)
      let removed = try await village.events {
        for _ in 0..<2 {
          let answer2 = try await village.request(.delete, "/messages/\(id)/actions/like", as: "grace")
          #expect(answer2.status == 204)
          let answer3 = try await village.request(.delete, "/messages/\(id)/actions/star", as: "grace")
          #expect(answer3.status == 204)
        }
      }
      #expect(removed == ["action.removed conversation:\(room)", "action.removed user:\(village.id("grace"))"])
    }
  }

  @Test func `moderators pin a message once`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post("rules", in: room)
      #expect(try await village.request(.put, "/messages/\(id)/actions/pin", as: "grace").status == 403)
      let events = try await village.events {
        for name in ["mira", "ada"] {
          let answer = try await village.request(.put, "/messages/\(id)/actions/pin", as: name)
          #expect(answer.int("actions.pin.count") == 1)
        }
        let answer4 = try await village.request(.delete, "/messages/\(id)/actions/pin", as: "grace")
        #expect(answer4.status == 403)
        let answer5 = try await village.request(.delete, "/messages/\(id)/actions/pin", as: "ada")
        #expect(answer5.status == 204)
      }
      #expect(events == ["action.added conversation:\(room)", "action.removed conversation:\(room)"])
    }
  }

  @Test(arguments: [
    "likes", "reaction:", "reaction:a", "reaction:1", "reaction:%F0%9F%91%8D%F0%9F%91%8D", "reaction:%F0%9F%91%8Da",
    "reaction:%F0%9F%91%8D%CC%81", "net.app.core.mine", "a..b", ".a", "a.b%20c", "star%20",
    "com.\(String(repeating: "x", count: 125))",
  ])
  func `an invalid action is refused`(type: String) async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.post("x", in: village.garden().room)
      let answer = try await village.request(.put, "/messages/\(id)/actions/\(type)", as: "grace")
      #expect(answer.status == 400, "\(answer.text)")
    }
  }

  @Test(arguments: ["❤", "❤️", "👍🏿", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "1️⃣", "🫠"])
  func `every emoji is a reaction`(emoji: String) {
    #expect(ActionType("reaction:" + emoji) != nil)
  }

  @Test func `the number of actions per user and of action types per message is limited`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post("x", in: room)
      for number in 0..<20 {
        #expect(try await village.request(.put, "/messages/\(id)/actions/a.n\(number)", as: "grace").status == 200)
      }
      let over = try await village.request(.put, "/messages/\(id)/actions/like", as: "grace")
      #expect(over.status == 409 && over.code == "too_many" && over.int("params.limit") == 20)
      #expect(try await village.request(.put, "/messages/\(id)/actions/a.n0", as: "grace").status == 200)
      for number in 20..<40 { _ = try await village.request(.put, "/messages/\(id)/actions/a.n\(number)", as: "linus") }
      for number in 40..<50 {
        #expect(try await village.request(.put, "/messages/\(id)/actions/a.n\(number)", as: "mira").status == 200)
      }
      #expect(try await village.request(.put, "/messages/\(id)/actions/a.n50", as: "ada").code == "too_many")
      #expect(try await village.request(.put, "/messages/\(id)/actions/a.n0", as: "ada").status == 200)
      #expect(try await village.request(.put, "/messages/\(id)/actions/star", as: "ada").status == 200)
    }
  }

  @Test func `a tombstone accepts no actions, but an action can be removed`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.post("x", in: village.garden().room, as: "grace")
      _ = try await village.request(.put, "/messages/\(id)/actions/like", as: "linus")
      _ = try await village.request(.post, "/messages/\(id)/remove", as: "mira")
      #expect(try await village.request(.put, "/messages/\(id)/actions/like", as: "ada").status == 410)
      #expect(try await village.request(.get, "/messages/\(id)/actions", as: "ada").count("data") == 0)
      _ = try await village.request(.post, "/messages/\(id)/restore", as: "mira")
      #expect(try await village.request(.get, "/messages/\(id)/actions", as: "ada").count("data") == 1)
      #expect(try await village.request(.delete, "/messages/\(id)/actions/like", as: "linus").status == 204)
    }
  }

  @Test func `starred messages moved to a topic keep the order of their posting`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden()
      var ids = [try await village.post("first", in: room, as: "grace")]
      ids.append(try await village.post("second", in: room, as: "grace"))
      let made = try await village.request(.post, "/messages/\(ids[0])/topic", as: "grace", ["title": "First"])
      ids[0] = try #require(made["message_id"])
      for id in ids { _ = try await village.request(.put, "/messages/\(id)/actions/star", as: "linus") }
      var found: [String?] = []
      var next = ""
      for _ in 1...2 {
        let page = try await village.request(.get, "/me/actions?type=star&limit=1\(next)", as: "linus")
        found += page.texts("data", "text")
        next = page["next"].map { "&next=\($0)" } ?? ""
      }
      #expect(found == ["second", "first"] && next == "")
      for wrong in ["x", "1", "1.2.3", "1.x"] {
        let answer = try await village.request(.get, "/me/actions?type=star&next=\(wrong)", as: "linus")
        #expect(answer.status == 400 && answer["errors.0.field"] == "next")
      }
    }
  }

  @Test func `starred messages are listed newest first, as far as they are readable`() async throws {
    try await Village.open(.inMemory) { village in
      let open = try await village.garden().room
      let (closed, hidden) = try await village.garden("secret", "private", members: ["grace"])
      var ids: [String] = []
      for number in 0..<3 {
        ids.append(try await village.post("open \(number)", in: open))
        ids.append(try await village.post("hidden \(number)", in: hidden))
      }
      for id in ids.reversed() { _ = try await village.request(.put, "/messages/\(id)/actions/star", as: "grace") }
      let page = try await village.request(.get, "/me/actions?type=star&limit=4", as: "grace")
      #expect(page.texts("data", "text") == ["hidden 2", "open 2", "hidden 1", "open 1"] && !page.isNull("next"))
      #expect(page.bool("data.0.actions.star.mine") == true)
      let rest = try await village.request(.get, "/me/actions?type=star&next=\(page["next"] ?? "")", as: "grace")
      #expect(rest.texts("data", "text") == ["hidden 0", "open 0"] && rest.isNull("next"))
      _ = try await village.request(.delete, "/forums/\(closed)/members/\(village.id("grace"))", as: "ada")
      let left = try await village.request(.get, "/me/actions?type=star&limit=3", as: "grace")
      #expect(left.texts("data", "text") == ["open 2", "open 1", "open 0"] && left.isNull("next"))
      #expect(try await village.request(.get, "/me/actions", as: "grace")["errors.0.code"] == "missing")
    }
  }

  @Test func `stars are private until their user shows them`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      let (_, hidden) = try await village.garden("secret", "private", members: ["grace"])
      let (open, secret) = (try await village.post("open", in: room), try await village.post("secret", in: hidden))
      for id in [open, secret] { try await village.expect(200, .put, "/messages/\(id)/actions/star", as: "grace") }
      let (stars, actions) = ("/users/@grace/stars", "/messages/\(open)/actions")
      func texts(_ name: String) async throws -> [String?] {
        try await village.expect(200, .get, stars, as: name).texts("data", "text")
      }
      func starring(_ name: String?) async throws -> [String?] {
        try await village.expect(200, .get, actions, as: name).texts("data", "user_id")
      }
      try await village.expect(404, .get, stars, as: "linus")
      #expect(try await texts("grace") == ["secret", "open"])
      #expect(try await starring("linus") == [])
      try await village.expect(200, .patch, "/me", as: "grace", ["show_stars": true])
      #expect(try await texts("linus") == ["open"])
      #expect(try await texts("grace") == ["secret", "open"])
      #expect(try await starring("linus") == [village.id("grace")])
      // The public may read the message, but stars are for users.
      #expect(try await starring(nil) == [])
      try await village.expect(401, .get, stars)
      // A message never counts them.
      let message = try await village.expect(200, .get, "/messages/\(open)", as: "linus")
      #expect(!message.has("actions.star"))
      try await village.expect(200, .patch, "/me", as: "grace", ["show_stars": false])
      try await village.expect(404, .get, stars, as: "linus")
      #expect(try await starring("linus") == [])
      try await village.expect(404, .get, "/users/@nobody/stars", as: "linus")
    }
  }
}
