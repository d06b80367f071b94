import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Content of each kind of event, per viewer.
@Suite struct EventContentTests {
  @Test(arguments: TestTransport.allCases)
  func `a conversation's stream carries its state, participants and receipts`(
    transport: TestTransport
  ) async throws {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus", "robo")
      let group = try await village.conversation("group", by: "grace", with: ["linus"], ["title": "seeds"])
      let (linus, robo) = (village.id("linus"), village.id("robo"))
      try await village.expect(200, .put, "/conversations/\(group)/participants/\(robo)", as: "grace", [:])
      try await village.expect(
        200, .put, "/conversations/\(group)/participants/\(linus)", as: "grace", ["role": "admin"])
      try await village.expect(200, .patch, "/conversations/\(group)", as: "grace", ["title": "plums"])
      let word = try await village.post("hello", in: group, as: "grace")
      try await village.expect(200, .put, "/conversations/\(group)/read", as: "linus", ["message_id": word])
      try await village.expect(204, .delete, "/conversations/\(group)/participants/\(robo)", as: "grace")
      let page = try await village.stream("conversation:\(group)", as: "linus")
      #expect(
        page.texts("data", "event") == [
          "conversation.created", "participant.joined", "participant.changed", "conversation.updated",
          "message.created", "receipt.updated", "participant.left",
        ])
      // The current state, not the state at the time of the event.
      #expect(page["data.0.data.title"] == "plums" && page.int("data.0.data.revision") == 2)
      #expect(page.texts("data.0.data.participants", "role") == ["admin", "admin"])
      #expect(!page.has("data.0.data.role") && !page.has("data.0.data.unread_count"))
      #expect(page["data.1.data.user_id"] == robo && !page.has("data.1.data.role"))
      #expect(page["data.2.data.user_id"] == linus && page["data.2.data.role"] == "admin")
      #expect(page["data.2.data.conversation_id"] == group)
      #expect(page["data.5.data.user_id"] == linus && page.int("data.5.data.read_up_to") == 1)
      #expect(page["data.6.data.user_id"] == robo && !page.has("data.6.data.role"))
      // Disabling receipts hides earlier read positions, too.
      try await village.expect(200, .patch, "/me", as: "linus", ["show_receipts": false])
      let after = try await village.stream("conversation:\(group)", as: "grace")
      #expect(after.int("data.5.data.read_up_to") == 0 && after.int("data.5.data.delivered_up_to") == 0)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a user's stream carries their conversations, actions and read positions`(transport: TestTransport) async throws
  {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus")
      let room = try await village.garden("garden", "members", members: ["linus"]).room
      let conversation = try await village.conversation("group", by: "grace", with: ["linus"], ["title": "seeds"])
      let lost = try await village.conversation("group", by: "grace", with: ["linus"], ["title": "secret"])
      let word = try await village.post("hello", in: conversation, as: "grace")
      try await village.expect(200, .put, "/conversations/\(conversation)/read", as: "linus", ["message_id": word])
      try await village.expect(200, .put, "/conversations/\(conversation)/level", as: "linus", ["level": "nothing"])
      try await village.expect(204, .put, "/users/@grace/mute", as: "linus")
      let until = "2027-06-01T00:00:00.000Z"
      try await village.expect(200, .put, "/conversations/\(conversation)/later", as: "linus", ["until": until])
      let post = try await village.post("socks", in: try await village.feed(of: "linus"), by: "linus")
      try await village.expect(200, .put, "/timeline/read", as: "linus", ["message_id": post])
      try await village.expect(201, .put, "/me/timeline-filters/quiet", as: "linus", [:])
      try await village.expect(200, .patch, "/me", as: "linus", ["preferences": ["theme": "dark"]])
      try await village.expect(204, .delete, "/conversations/\(lost)/participants/me", as: "linus")
      let events = try await village.stream("user:\(village.id("linus"))", as: "linus")
      let kinds = events.texts("data", "event")
      func index(_ kind: String) -> String {
        "data.\(kinds.firstIndex { $0 == kind } ?? -1).data"
      }
      let gained = kinds.indices.filter { kinds[$0] == "conversation.created" }.map { "data.\($0).data" }
      let ofRoom = try #require(gained.first { events["\($0).id"] == room })
      #expect(events["\(ofRoom).kind"] == "room" && events.int("\(ofRoom).from_seq") == 1)
      let ofConversation = try #require(gained.first { events["\($0).id"] == conversation })
      #expect(events["\(ofConversation).title"] == "seeds" && events["\(ofConversation).role"] == "member")
      #expect(events.int("\(ofConversation).from_offset") == 1 && events.int("\(ofConversation).joined_seq") == 0)
      // Events of lost conversations carry only the id.
      let ofLost = try #require(gained.first { events["\($0).id"] == lost })
      #expect(!events.has("\(ofLost).title") && !events.text.contains("secret"))
      #expect(events["\(index("conversation.removed")).id"] == lost)
      #expect(events.int("\(index("read_position.updated")).read_up_to") == 1)
      #expect(events["\(index("level.changed")).conversation_id"] == conversation)
      #expect(events["\(index("level.changed")).level"] == "nothing")
      #expect(events["\(index("later.changed")).conversation_id"] == conversation)
      #expect(events["\(index("later.changed")).until"] == until)
      #expect(events["\(index("timeline.read")).message_id"] == post)
      #expect(events["\(index("timeline_filters.changed")).id"] == village.id("linus"))
      #expect(events["\(index("relation.changed")).user_id"] == village.id("grace"))
      #expect(events.bool("\(index("relation.changed")).mute") == true)
      #expect(events.bool("\(index("relation.changed")).follow") == false)
      #expect(events["\(index("preferences.updated")).preferences.theme"] == "dark")
    }
  }

  @Test func `a request is pending until it is accepted`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation("direct", by: "grace", with: ["linus"])
      let own = "user:\(village.id("linus"))"
      let before = try await village.stream(own, as: "linus")
      #expect(before.bool("data.0.data.request") == true)
      try await village.expect(200, .put, "/conversations/\(conversation)/request", as: "linus")
      let after = try await village.stream(own, as: "linus")
      #expect(after.texts("data", "event").suffix(2) == ["relation.changed", "notification.read"], "\(after.text)")
      #expect(after.bool("data.0.data.request") == false && after.count("data.1.data.requests") == 0)
    }
  }

  @Test func `the site's stream carries public objects in full and the rest by id for guests`() async throws {
    try await Village.open(.inMemory) { village in
      let start = try await village.stream("site", as: "ada").int("last_offset") ?? 0
      let (open, _) = try await village.garden("open", "public")
      let (members, _) = try await village.garden("ours", "members")
      let (hidden, _) = try await village.garden("hidden", "private")
      try await village.expect(200, .patch, "/forums/\(hidden)", as: "ada", ["visibility": "members"])
      try await village.expect(200, .patch, "/forums/\(hidden)", as: "ada", ["visibility": "private"])
      try await village.expect(200, .patch, "/me", as: "grace", ["display_name": "Grace H"])
      try await village.expect(200, .patch, "/settings", as: "ada", ["welcome": "come in"])
      for (name, seesAll) in [("grace", true), ("gus", false)] {
        let page = try await village.stream("site", as: name, after: start)
        #expect(
          page.texts("data", "event") == [
            "forum.created", "forum.created", "forum.updated", "forum.updated", "user.updated", "settings.updated",
          ], "\(name)")
        #expect(page["data.0.data.id"] == open && page["data.0.data.title"] == "open")
        #expect(page["data.1.data.id"] == members && page.has("data.1.data.title") == seesAll)
        #expect(page["data.3.data.id"] == hidden && !page.has("data.3.data.title"))
        #expect(page["data.4.data.id"] == village.id("grace") && page.has("data.4.data.display_name") == seesAll)
        #expect(!page.has("data.4.data.preferences") && !page.has("data.4.data.state"))
        #expect(page["data.5.data.welcome"] == "come in")
      }
    }
  }

  @Test func `a forum's stream carries the forum, its members and its topics`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "private", members: ["linus"])
      let topic = try await village.request(
        .post, "/forums/\(forum)/conversations", as: "linus", ["title": "weeds", "text": "everywhere"])
      let id = try #require(topic["conversation.id"] ?? topic["id"], "\(topic.text)")
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["title": "orchard"])
      let page = try await village.stream("forum:\(forum)", as: "linus")
      #expect(
        page.texts("data", "event") == [
          "forum.created", "conversation.created", "participant.joined", "participant.joined", "conversation.created",
          "forum.updated",
        ])
      #expect(page["data.0.data.title"] == "orchard" && !page.has("data.0.data.role"))
      #expect(page["data.1.data.kind"] == "room" && page["data.4.data.title"] == "weeds")
      #expect(page["data.4.data.id"] == id)
      #expect(page["data.3.data.forum_id"] == forum && page["data.3.data.role"] == "member")
      try await village.expect(204, .delete, "/conversations/\(id)", as: "ada")
      let after = try await village.stream("forum:\(forum)", as: "linus")
      #expect(after["data.4.data.id"] == id && !after.text.contains("weeds"))
      #expect(after.texts("data", "event").last == "conversation.removed")
    }
  }

  @Test func `visitors receive participant events without the user`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let conversation = try await village.conversation(
        "channel", by: "grace", with: ["linus"], ["type": "com.example.news", "readers": ["open_to": "anyone"]])
      try await village.expect(
        200, .put, "/conversations/\(conversation)/participants/\(village.id("linus"))", as: "grace", ["role": "reader"]
      )
      let page = try await village.stream("conversation:\(conversation)")
      #expect(page.texts("data", "event") == ["conversation.created", "hidden"])
      #expect(!page.has("data.0.data.participants") && page.int("data.0.data.participant_count") == 2)
      let own = try await village.stream("conversation:\(conversation)", as: "gus")
      #expect(own.texts("data", "event") == ["conversation.created", "participant.changed"])
    }
  }

}

extension Village {
  /// All events of a stream, each decoded as a client decodes it.
  func stream(_ stream: String, as name: String? = nil, after offset: Int = 0) async throws -> Answer {
    let path = "/streams/\(stream)/events?limit=200&after_offset=\(offset)"
    let page = try await expect(200, .get, path, as: name)
    var object = try JSONValue(parsing: page.body).object()
    let events: [ReceivedEvent] = try object.read("data")
    #expect(events.map(\.offset) == Array((offset + 1)..<(offset + 1 + events.count)))
    return page
  }
}
