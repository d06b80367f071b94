import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ForumMemberTests {
  private func make(
    _ village: Village, _ visibility: String, by name: String = "grace", _ title: String = "Garden"
  ) async throws -> String {
    try #require(
      try await village.request(.post, "/forums", as: name, ["title": title, "visibility": visibility])["id"])
  }

  @Test func `forums are listed that both users have joined`() async throws {
    try await Village.open(.inMemory) { village in
      func shared(_ other: String, as name: String) async throws -> [String] {
        let answer = try await village.expect(200, .get, "/forums?shared_with=\(other)", as: name)
        return answer.texts("data", "id").compactMap(\.self)
      }
      let both = try await make(village, "public")
      let closed = try await make(village, "private", by: "grace", "Garden shed")
      _ = try await make(village, "members", by: "grace", "Orchard")
      for (forum, name) in [(both, "linus"), (both, "ada"), (closed, "ada")] {
        let caller = forum == closed ? "grace" : name
        try await village.expect(200, .put, "/forums/\(forum)/members/@\(name)", as: caller)
      }
      #expect(try await shared("@grace", as: "linus") == [both])
      #expect(try await shared(village.id("grace"), as: "ada") == [closed, both])
      #expect(try await shared("@ada", as: "linus") == [both])
      #expect(try await shared("@linus", as: "grace") == [both])
      let named = try await village.expect(200, .get, "/forums?shared_with=@grace&query=garden&limit=1", as: "ada")
      #expect(named.count("data") == 1 && !named.isNull("next"))
      let next = try #require(named["next"])
      let rest = try await village.expect(
        200, .get, "/forums?shared_with=@grace&query=garden&limit=1&next=\(next)", as: "ada")
      #expect(rest.texts("data", "id") != named.texts("data", "id") && rest.count("data") == 1 && rest.isNull("next"))
      try await village.expect(204, .delete, "/forums/\(both)/members/me", as: "linus")
      #expect(try await shared("@grace", as: "linus") == [])
      #expect(try await village.request(.get, "/forums?shared_with=@grace").status == 401)
      #expect(try await village.request(.get, "/forums?shared_with=@nobody", as: "ada").status == 400)
    }
  }

  @Test func `forums in common count as searches, other lists do not`() async throws {
    var rates = Village.unlimited
    rates.searching = Allowance(burst: 2, perMinute: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      for _ in 1...2 { try await village.expect(200, .get, "/forums?shared_with=@grace", as: "ada") }
      let refused = try await village.expect(429, .get, "/forums?shared_with=@grace", as: "ada")
      #expect(refused.code == "rate_limited")
      try await village.expect(200, .get, "/forums", as: "ada")
      try await village.expect(200, .get, "/forums?shared_with=@grace", as: "linus")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `readers join and leave a forum, each with one event`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let forum = try await make(village, "public")
      try await village.sayInRoom("before", of: forum)
      let (path, linus) = ("/forums/\(forum)/members/me", village.id("linus"))
      let joined = try await village.events { () async throws in
        for _ in 1...2 {
          let member = try await village.request(.put, path, as: "linus")
          #expect(member.status == 200 && member["user.name"] == "linus" && member["role"] == "member")
        }
      }
      #expect(
        joined == [
          "participant.joined forum:\(forum)", "participant.joined user:\(linus)", "conversation.created user:\(linus)",
        ])
      let seen = try await village.request(.get, "/forums/\(forum)", as: "linus")
      #expect(seen["role"] == "member" && seen.int("member_count") == 2)
      #expect(try await village.participants(inRoomOf: forum).contains(linus))
      // Earlier messages are not unread.
      let heads = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.heads(of: village.userID("linus"))
      }
      #expect(heads.map(\.unread) == [0] && heads.first?.lastMessage != nil)
      let left = try await village.events { () async throws in
        for _ in 1...2 { #expect(try await village.request(.delete, path, as: "linus").status == 204) }
      }
      #expect(
        left == [
          "participant.left forum:\(forum)", "participant.left user:\(linus)", "conversation.removed user:\(linus)",
        ])
      #expect(try await village.participants(inRoomOf: forum) == [village.id("grace")])
      #expect(try await village.request(.put, path, as: "gus").status == 403, "a guest is brought by others")
    }
  }

  @Test func `forum admins add members and set roles`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "private")
      let gus = "/forums/\(forum)/members/\(village.id("gus"))"
      #expect(try await village.request(.put, gus, as: "linus").status == 404)
      #expect(try await village.request(.put, gus, as: "grace").status == 200)
      let events = try await village.events { () async throws in
        for _ in 1...2 {
          let raised = try await village.request(.put, gus, as: "grace", ["role": "moderator"])
          #expect(raised.status == 200 && raised["role"] == "moderator")
        }
      }
      #expect(events == ["participant.changed forum:\(forum)", "participant.changed user:\(village.id("gus"))"])
      #expect(
        try await village.request(.put, "/forums/\(forum)/members/me", as: "gus", ["role": "admin"]).status == 403)
      #expect(try await village.request(.put, "/forums/\(forum)/members/@linus", as: "gus").status == 404)
      #expect(try await village.request(.put, gus, as: "grace", ["role": "owner"])["errors.0.field"] == "role")
      #expect(try await village.request(.put, "/forums/\(forum)/members/@nobody", as: "grace").status == 404)
      try await village.setState("linus", in: .disabled)
      #expect(try await village.request(.put, "/forums/\(forum)/members/@linus", as: "grace").status == 404)
      #expect(try await village.request(.delete, gus, as: "grace").status == 204)
      #expect(try await village.request(.get, "/forums/\(forum)", as: "gus").status == 404)
      let user = village.id("gus")
      #expect(try await village.audited() == ["forum.member_changed \(user)", "forum.member_removed \(user)"])
    }
  }

  @Test func `leaving a private forum leaves its topics, too`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "private")
      _ = try await village.request(.put, "/forums/\(forum)/members/@linus", as: "grace")
      var topics: [String] = []
      for number in 0..<3 {
        let topic = ["title": "topic \(number)"]
        let made = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "linus", topic)
        topics.append(try #require(made["id"]))
      }
      let linus = village.id("linus")
      let events = try await village.events { () async throws in
        for _ in 1...2 {
          #expect(try await village.request(.delete, "/forums/\(forum)/members/me", as: "linus").status == 204)
        }
      }
      #expect(
        events == [
          "participant.left forum:\(forum)", "participant.left user:\(linus)", "conversation.removed user:\(linus)",
        ] + topics.flatMap { ["participant.left conversation:\($0)", "conversation.removed user:\(linus)"] })
      let stream = "/streams/conversation:\(topics[0])/events"
      let log = try await village.expect(200, .get, stream, as: "grace")
      #expect(log.texts("data", "event").last == "participant.left", "\(log.text)")
      #expect(log["data.\(log.count("data") - 1).data.user_id"] == linus)
      let participants = try await village.expect(
        200, .get, "/conversations/\(topics[0])/participants", as: "grace")
      #expect(participants.count("data") == 0)
    }
  }

  @Test func `members of a private forum learn its changes in their own streams`() async throws {
    try await Village.open(.inMemory) { village in
      let readers = try await UserGroupTests.create("readers", in: village)
      try await village.expect(200, .put, "/groups/\(readers)/members/@mira", as: "ada")
      let (forum, _) = try await village.garden("den", "private", members: ["grace"], ["read_groups": [readers]])
      await village.community.store.jobs.run()
      let starts = ["grace": try await village.cursor(as: "grace"), "linus": try await village.cursor(as: "linus")]
      let events = try await village.events { () async throws in
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["title": "cave"])
        await village.community.store.jobs.run()
      }
      let updates = ["ada", "grace", "mira"].map { "forum.updated user:\(village.id($0))" }
      #expect(events.first == "forum.updated forum:\(forum) #2" && Set(events.dropFirst()) == Set(updates))
      let page = try await village.expect(200, .get, "/sync?topics=me&after=\(starts["grace"] ?? "")", as: "grace")
      #expect(page.texts("data", "event") == ["forum.updated"] && page["data.0.data.id"] == forum)
      #expect(!page.has("data.0.data.title"))
      let none = try await village.expect(200, .get, "/sync?topics=me&after=\(starts["linus"] ?? "")", as: "linus")
      #expect(none.count("data") == 0)
      // The group is deleted: its members are informed of the loss, the others of the change.
      let deleted = try await village.events { () async throws in
        try await village.expect(204, .delete, "/groups/\(readers)", as: "ada")
        await village.community.store.jobs.run()
      }
      for name in ["ada", "grace", "mira"] { #expect(deleted.contains("forum.updated user:\(village.id(name))")) }
      // The site's stream has the changes of other forums.
      let opened = try await village.events { () async throws in
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "members"])
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["title": "hall"])
        await village.community.store.jobs.run()
      }
      #expect(opened.count == 4 && opened.allSatisfy { $0.hasPrefix("forum.updated forum:") || $0.contains(" site ") })
    }
  }

  @Test func `many members of a private forum are informed in chunks`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("den", "private")
      let (id, ada) = (ID<Forum>(Int(forum) ?? 0), village.userID("ada"))
      try await village.community.store.write { tx throws(Refusal) in
        for number in 0..<450 {
          _ = try tx.setMember(try tx.add(NewUser(name: "member\(number)", role: .member)), .member, of: id, by: ada)
        }
      }
      let events = try await village.events { () async throws in
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["title": "cave"])
        await village.community.store.jobs.run()
      }
      #expect(events.count == 452 && Set(events).count == 452)
    }
  }

  @Test func `many topics are left in a stored job`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "private")
      let (id, linus, grace) = (ID<Forum>(Int(forum) ?? 0), village.userID("linus"), village.userID("grace"))
      try await village.community.store.write { tx throws(Refusal) in
        _ = try tx.setMember(linus, .member, of: id, by: grace)
        for number in 0..<450 { _ = try tx.addTopic("topic \(number)", in: id, by: linus) }
      }
      let events = try await village.events { () async throws in
        _ = try await village.request(.delete, "/forums/\(forum)/members/me", as: "linus")
        await village.community.store.jobs.run()
      }
      #expect(events.filter { $0 == "conversation.removed user:\(linus)" }.count == 451)
      #expect(try await village.participants(inRoomOf: forum) == [grace.description])
    }
  }

  @Test func `leaving an open forum keeps its topics`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "members")
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "linus")
      let topic = try #require(
        try await village.request(.post, "/forums/\(forum)/conversations", as: "linus", ["title": "weeds"])["id"])
      let events = try await village.events { () async throws in
        _ = try await village.request(.delete, "/forums/\(forum)/members/me", as: "linus")
      }
      #expect(events.count == 3)
      #expect(try await village.request(.patch, "/conversations/\(topic)", as: "linus", ["title": "x"]).status == 200)
    }
  }

  @Test func `the longest member succeeds the last forum admin`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "public")
      for name in ["robo", "linus"] { _ = try await village.request(.put, "/forums/\(forum)/members/me", as: name) }
      _ = try await village.request(.put, "/forums/\(forum)/members/@linus", as: "grace", ["role": "moderator"])
      let events = try await village.events { () async throws in
        #expect(try await village.request(.delete, "/forums/\(forum)/members/me", as: "grace").status == 204)
      }
      #expect(
        events == [
          "participant.left forum:\(forum)", "participant.left user:\(village.id("grace"))",
          "conversation.removed user:\(village.id("grace"))", "participant.changed forum:\(forum)",
          "participant.changed user:\(village.id("linus"))",
        ])
      #expect(try await village.request(.get, "/forums/\(forum)", as: "linus")["role"] == "admin", "a moderator first")
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "linus", ["role": "member"])
      #expect(try await village.request(.get, "/forums/\(forum)", as: "robo")["role"] == "admin")
      #expect(try await village.request(.get, "/forums/\(forum)", as: "linus")["role"] == "member")
      for name in ["linus", "robo"] {
        #expect(try await village.request(.delete, "/forums/\(forum)/members/me", as: name).status == 204)
      }
      #expect(try await village.request(.get, "/forums/\(forum)", as: "ada").int("member_count") == 0)
    }
  }

  @Test func `staff enter a private forum only as members, with an audit entry`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "private")
      #expect(try await village.request(.get, "/forums/\(forum)/conversations", as: "ada").status == 403)
      let events = try await village.events { () async throws in
        for _ in 1...2 {
          #expect(try await village.request(.put, "/forums/\(forum)/members/me", as: "ada").status == 200)
        }
      }
      let ada = "user:\(village.id("ada"))"
      #expect(
        events == ["participant.joined forum:\(forum)", "participant.joined \(ada)", "conversation.created \(ada)"])
      #expect(try await village.request(.get, "/forums/\(forum)/conversations", as: "ada").status == 200)
      #expect(try await village.audited() == ["forum.entered \(forum)"])
    }
  }

  @Test func `members are listed in pages`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, "public")
      for name in ["linus", "robo", "mira"] {
        _ = try await village.request(.put, "/forums/\(forum)/members/me", as: name)
      }
      var found: [String?] = []
      var path = "/forums/\(forum)/members?limit=3"
      while found.count < 10 {
        let page = try await village.request(.get, path)
        found += (0..<page.count("data")).map { page["data.\($0).user.name"] }
        guard let next = page["next"] else { break }
        path = "/forums/\(forum)/members?limit=3&next=\(next)"
      }
      #expect(found == ["mira", "grace", "linus", "robo"])
      #expect(try await village.request(.get, "/forums/\(forum)/members?limit=0").status == 400)
      #expect(try await village.request(.get, "/forums/1/members").status == 404)
    }
  }
}
