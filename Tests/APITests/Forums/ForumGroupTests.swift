import Foundation
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Access to forums by groups of users.
@Suite struct ForumGroupTests {
  @Test(arguments: TestTransport.allCases)
  func `members of a group read a private forum with its whole history`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden("den", "private")
      try await village.post("before", in: room)
      let readers = try await UserGroupTests.create("readers", in: village)
      try await village.expect(200, .put, "/groups/\(readers)/members/@grace", as: "ada")
      try await village.expect(404, .get, "/forums/\(forum)", as: "grace")
      let events = try await village.events {
        let body: [String: Any] = ["read_groups": [readers, readers]]
        let changed = try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", body)
        #expect(changed.list("read_groups") == [readers] && changed.list("write_groups").isEmpty)
        #expect(changed.isNull("group_access") && !changed.has("job_id"))
        await village.community.store.jobs.run()
      }
      let informed = ["grace", "ada"].map { "forum.updated user:\(village.id($0))" }
      #expect(events == ["forum.updated forum:\(forum) #2"] + informed, "\(events)")
      let seen = try await village.expect(200, .get, "/forums/\(forum)", as: "grace")
      #expect(seen["group_access"] == "read" && seen.isNull("role") && seen.int("member_count") == 1)
      #expect(try await village.expect(200, .get, "/forums", as: "grace").texts("data", "id") == [forum])
      let messages = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "grace")
      #expect(messages.texts("data", "text") == ["before"])
      // Members may.
      try await village.expect(403, .post, "/conversations/\(room)/messages", as: "grace", ["text": "hello"])
      let topic = ["title": "weeds", "text": "everywhere"]
      try await village.expect(403, .post, "/forums/\(forum)/conversations", as: "grace", topic)
      // A reader cannot become a member, which would outlast the group.
      try await village.expect(403, .put, "/forums/\(forum)/members/me", as: "grace")
      let audit = try await village.expect(200, .get, "/audit?limit=1", as: "ada")
      #expect(audit["data.0.changes.0.field"] == "read_groups" && audit.list("data.0.changes.0.to") == [readers])
    }
  }

  @Test func `a group that may write does, whatever the policy of the forum`() async throws {
    try await Village.open(.inMemory) { village in
      let readers = try await UserGroupTests.create("readers", in: village)
      let writers = try await UserGroupTests.create("writers", in: village)
      for (group, names) in [(readers, ["grace", "gus"]), (writers, ["linus", "gus"])] {
        for name in names { try await village.expect(200, .put, "/groups/\(group)/members/@\(name)", as: "ada") }
      }
      let more: [String: Any] = [
        "write": "moderators", "start_topics": "moderators", "read_groups": [readers], "write_groups": [writers],
      ]
      let (forum, room) = try await village.garden("news", "private", more)
      for (name, access) in [("grace", "read"), ("linus", "write"), ("gus", "write")] {
        let status = access == "write" ? 201 : 403
        try await village.expect(status, .post, "/conversations/\(room)/messages", as: name, ["text": "of \(name)"])
        let topic = ["title": "of \(name)", "text": "a topic"]
        try await village.expect(status, .post, "/forums/\(forum)/conversations", as: name, topic)
        #expect(try await village.expect(200, .get, "/forums/\(forum)", as: name)["group_access"] == access)
      }
      let post = try await village.post("likes", in: room)
      for name in ["grace", "gus"] { try await village.expect(200, .put, "/messages/\(post)/actions/like", as: name) }
      // A guest knows those that share the forum by groups, and its members.
      try await village.expect(200, .get, "/users/@grace", as: "gus")
      try await village.expect(200, .get, "/users/@ada", as: "gus")
      try await village.expect(404, .get, "/users/@mira", as: "gus")
      for change in [["locked": true], ["locked": false, "archived": true]] {
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", change)
        try await village.expect(403, .post, "/conversations/\(room)/messages", as: "linus", ["text": "late"])
      }
    }
  }

  @Test func `the ETag of a forum depends on the access by groups`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "public").forum
      let group = try #require(try await village.expect(201, .post, "/groups", as: "ada", ["name": "team"])["id"])
      let change: [String: Any] = ["write": "moderators", "write_groups": [group]]
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", change)
      let before = try await village.expect(200, .get, "/forums/\(forum)", as: "linus")
      try await village.expect(200, .put, "/groups/\(group)/members/@linus", as: "ada")
      let tag = try #require(before.fields["etag"])
      let after = try await village.request(
        .get, "/forums/\(forum)", as: "linus", fields: ["If-None-Match": tag])
      #expect(after.status == 200 && after["group_access"] == "write")
    }
  }

  @Test func `staff that reads a private forum by a group is in the audit log`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let group = try await UserGroupTests.create("readers", in: village)
      let other = try await UserGroupTests.create("others", in: village)
      let (den, _) = try await village.garden("den", "private", ["read_groups": [group]])
      let (hut, _) = try await village.garden("hut", "private")
      let entered = { () async throws -> [String?] in
        try await village.expect(200, .get, "/audit?kind=forum.entered", as: "ada").texts("data", "forum_id")
      }
      #expect(try await entered() == [])
      for _ in 1...2 { try await village.expect(200, .put, "/groups/\(group)/members/me", as: "alma") }
      #expect(try await entered() == [den])
      try await village.expect(200, .put, "/groups/\(other)/members/me", as: "alma")
      try await village.expect(200, .patch, "/forums/\(hut)", as: "alma", ["read_groups": [other]])
      #expect(try await entered() == [hut, den])
      // A later membership, too.
      try await village.expect(200, .put, "/forums/\(den)/members/me", as: "alma")
      #expect(try await entered() == [den, hut, den])
    }
  }

  @Test func `only staff gives access to groups of others`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await UserGroupTests.create("writers", in: village)
      let body: [String: Any] = ["title": "shed", "visibility": "private", "write_groups": [group]]
      try await village.expect(403, .post, "/forums", as: "grace", body)
      let (shed, _) = try await village.garden("shed", "private", members: ["grace"])
      try await village.expect(200, .put, "/forums/\(shed)/members/@grace", as: "ada", ["role": "admin"])
      try await village.expect(403, .patch, "/forums/\(shed)", as: "grace", ["read_groups": [group]])
      try await village.expect(200, .put, "/groups/\(group)/members/@grace", as: "ada")
      try await village.expect(200, .patch, "/forums/\(shed)", as: "grace", ["read_groups": [group]])
      // The groups that the forum has may stay.
      try await village.expect(204, .delete, "/groups/\(group)/members/@grace", as: "ada")
      let change: [String: Any] = ["write_groups": [group], "read_groups": [String]()]
      try await village.expect(200, .patch, "/forums/\(shed)", as: "grace", change)
    }
  }

  @Test func `groups of a forum have limits, and must exist`() async throws {
    var bounds = Bounds()
    (bounds.forumGroups, bounds.groupForums) = (2, 2)
    try await Village.open(.inMemory, bounds: bounds) { village in
      var groups: [String] = []
      for name in ["one", "two", "three"] { groups.append(try await UserGroupTests.create(name, in: village)) }
      for field in ["read_groups", "write_groups"] {
        for (list, code) in [(groups, "too_many"), (["999999"], "unknown")] {
          let body: [String: Any] = ["title": "garden", field: list]
          let refused = try await village.expect(400, .post, "/forums", as: "grace", body)
          #expect(refused["errors.0.field"] == field && refused["errors.0.code"] == code, "\(refused.text)")
        }
      }
      for title in ["a", "b"] { _ = try await village.garden(title, "private", ["read_groups": [groups[0]]]) }
      let body: [String: Any] = ["title": "c", "read_groups": [groups[0]]]
      #expect(try await village.request(.post, "/forums", as: "ada", body).code == "too_many")
      let (forum, _) = try await village.garden("c", "private")
      let change: [String: Any] = ["write_groups": [groups[0]]]
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", change).code == "too_many")
      try await village.expect(404, .patch, "/forums/\(forum)", as: "grace", change)
    }
  }

  @Test func `a group that has lost a forum may get another`() async throws {
    var bounds = Bounds()
    bounds.groupForums = 1
    try await Village.open(.inMemory, bounds: bounds) { village in
      let group = try await UserGroupTests.create("readers", in: village)
      let (first, _) = try await village.garden("a", "private", ["read_groups": [group]])
      // The members are informed later.
      try await village.expect(200, .patch, "/forums/\(first)", as: "ada", ["read_groups": [String]()])
      _ = try await village.garden("b", "private", ["write_groups": [group]])
    }
  }

  @Test func `users who read a forum by groups may write to each other`() async throws {
    try await Village.open(.inMemory) { village in
      let readers = try await UserGroupTests.create("readers", in: village)
      let writers = try await UserGroupTests.create("writers", in: village)
      try await village.expect(200, .put, "/groups/\(readers)/members/@grace", as: "ada")
      try await village.expect(200, .put, "/groups/\(writers)/members/@linus", as: "ada")
      try await village.request(.patch, "/me", as: "linus", ["reachable_by": "shared"])
      let body: [String: Any] = ["kind": "direct", "participants": ["@linus"]]
      let early = try await village.expect(400, .post, "/conversations", as: "grace", body)
      #expect(early["errors.0.code"] == "unreachable")
      let groups: [String: Any] = ["read_groups": [readers], "write_groups": [writers]]
      _ = try await village.garden("den", "private", groups)
      let made = try await village.expect(201, .post, "/conversations", as: "grace", body)
      let seen = try await village.expect(200, .get, "/conversations/\(made["id"] ?? "")", as: "linus")
      #expect(seen.bool("request") == false)
    }
  }

  @Test func `readers by a group see new topics and mentions in the overview`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await UserGroupTests.create("readers", in: village)
      let (forum, room) = try await village.garden("den", "private", ["read_groups": [group]])
      func start(_ title: String) async throws -> String {
        let body = ["title": title, "text": "hello"]
        return try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "ada", body)["id"] ?? "?"
      }
      _ = try await start("before")
      try await village.expect(200, .put, "/groups/\(group)/members/@grace", as: "ada")
      #expect(try await village.expect(200, .get, "/unread", as: "grace").count("data") == 0)
      let topic = try await start("after")
      let unread = try await village.expect(200, .get, "/unread", as: "grace")
      #expect(unread.texts("data", "kind") == ["forum"], "\(unread.text)")
      #expect(unread.texts("data.0.topics", "id") == [topic])
      #expect(try await village.expect(200, .get, "/forums", as: "grace").int("data.0.new_topics") == 1)
      for number in 0..<3 { try await village.post("earlier \(number)", in: room) }
      let mention = try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "ada", ["text": "@readers, look"])
      let both = try await village.expect(200, .get, "/unread", as: "grace")
      #expect(both.texts("data", "kind") == ["room", "forum"], "\(both.text)")
      #expect(both["data.0.conversation_id"] == room && both.int("data.0.mentions") == 1)
      #expect(both["data.0.message.id"] == mention["id"] && both.int("data.0.unread_count") == 0)
      let upTo = try #require(both["up_to"])
      try await village.expect(204, .put, "/unread/read", as: "grace", ["up_to": upTo])
      #expect(try await village.expect(200, .get, "/unread", as: "grace").count("data") == 0)
    }
  }

  enum Loss: CaseIterable {
    case removedFromGroup, groupDeleted, listChanged, forumDeleted
  }

  @Test(arguments: Loss.allCases)
  func `access by a group ends at once, on all devices`(loss: Loss) async throws {
    try await Village.open(.socket) { village in
      let group = try await UserGroupTests.create("writers", in: village)
      for name in ["grace", "linus"] {
        try await village.expect(200, .put, "/groups/\(group)/members/@\(name)", as: "ada")
      }
      let (square, common) = try await village.garden("square", "members", members: ["grace"])
      let (forum, room) = try await village.garden("den", "private", ["write_groups": [group]])
      let body = ["title": "weeds", "text": "everywhere"]
      let made = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", body)
      let topic = try #require(made["conversation.id"] ?? made["id"])
      await village.community.store.jobs.run()
      var away = try await ReplicaClient(village, "grace")
      #expect(away.replica.forums.count == 2 && away.replica.conversations.count == 2)
      let live = try village.connect("topics=me,forum:\(forum)/messages", as: "grace")
      _ = try await live.event("complete")
      switch loss {
      case .removedFromGroup: try await village.expect(204, .delete, "/groups/\(group)/members/@grace", as: "ada")
      case .groupDeleted: try await village.expect(204, .delete, "/groups/\(group)", as: "ada")
      case .listChanged:
        let changed = try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["write_groups": []])
        #expect(changed.has("job_id"))
      case .forumDeleted: try await village.expect(200, .delete, "/forums/\(forum)", as: "ada")
      }
      // No job has run.
      for path in ["/forums/\(forum)", "/conversations/\(topic)", "/conversations/\(room)/messages"] {
        try await village.expect(404, .get, path, as: "grace")
      }
      #expect(try await village.expect(200, .get, "/forums", as: "grace").texts("data", "id") == [square])
      #expect(try await village.expect(200, .get, "/messages/search?q=everywhere", as: "grace").count("data") == 0)
      #expect(try await village.request(.get, "/snapshot", as: "grace").text.contains("weeds") == false)
      if loss != .forumDeleted {
        try await village.post("secret", in: room)
        try await village.post("secret", in: topic)
      }
      try await village.post("end", in: common)
      let events = try await live.events { $0["data.text"] == "end" }
      #expect(!events.contains { $0["data.text"] == "secret" })
      await village.community.store.jobs.run()
      try await away.synchronize()
      #expect(try await away.faults() == [])
      #expect(away.replica.forums.keys.map(\.description) == [square])
      #expect(!away.replica.conversations.keys.contains { $0.description == topic })
      let rest = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.forums(ofGroup: ID(Int(group) ?? 0))
      }
      #expect(rest.map(\.description) == (loss == .removedFromGroup ? [forum] : []))
    }
  }

  @Test func `a member who leaves the group before the job has run gets the loss, too`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await UserGroupTests.create("readers", in: village)
      try await village.expect(200, .put, "/groups/\(group)/members/@grace", as: "ada")
      let (forum, _) = try await village.garden("den", "private", ["read_groups": [group]])
      await village.community.store.jobs.run()
      var grace = try await ReplicaClient(village, "grace")
      #expect(grace.replica.forums.count == 1)
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["read_groups": []])
      try await village.expect(204, .delete, "/groups/\(group)/members/@grace", as: "ada")
      await village.community.store.jobs.run()
      try await grace.synchronize()
      #expect(grace.replica.forums.isEmpty)
      #expect(try await grace.faults() == [])
    }
  }

  @Test func `membership outlasts a group, and a group outlasts membership`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await UserGroupTests.create("readers", in: village)
      try await village.expect(200, .put, "/groups/\(group)/members/@grace", as: "ada")
      let (forum, _) = try await village.garden("den", "private", members: ["grace"], ["read_groups": [group]])
      var grace = try await ReplicaClient(village, "grace")
      try await village.expect(204, .delete, "/forums/\(forum)/members/me", as: "grace")
      let reader = try await village.expect(200, .get, "/forums/\(forum)", as: "grace")
      #expect(reader.isNull("role") && reader["group_access"] == "read")
      await village.community.store.jobs.run()
      try await grace.synchronize()
      #expect(grace.replica.forums.count == 1)
      #expect(try await grace.faults() == [])
      try await village.expect(200, .put, "/forums/\(forum)/members/@grace", as: "ada")
      try await village.expect(204, .delete, "/groups/\(group)/members/@grace", as: "ada")
      let member = try await village.expect(200, .get, "/forums/\(forum)", as: "grace")
      #expect(member["role"] == "member" && member.isNull("group_access"))
      await village.community.store.jobs.run()
      try await grace.synchronize()
      #expect(try await grace.faults() == [])
    }
  }

  // MARK: Agreement

  /// Groups, members and forums as the test has set them.
  private struct Plan {
    struct Plot {
      let id: String
      let room: String
      var visibility = Visibility.private
      var members: Set<String> = []
      var read: Set<String> = []
      var write: Set<String> = []
    }

    var groups: [String: Set<String>] = [:]
    var plots: [Plot] = []

    func mayRead(_ name: String, _ plot: Plot) -> Bool {
      if plot.members.contains(name) { return true }
      if plot.read.union(plot.write).contains(where: { groups[$0]?.contains(name) ?? false }) { return true }
      return plot.visibility == .public || plot.visibility == .members && name != "gus"
    }

    func readable(by name: String) -> Set<String> { Set(plots.filter { mayRead(name, $0) }.map(\.id)) }
  }

  private static let people = ["mira", "grace", "linus", "robo", "gus"]

  /// The access by requests, lists, search, snapshot, live events and catch-up is the same after each of many changes, and
  /// no subscriber gets a message after losing access.
  @Test(arguments: [1, 2] as [UInt64])
  func `all ways to read a forum agree`(seed: UInt64) async throws {
    try await Village.open(.socket) { village in
      var random = Seeded(seed: seed)
      var plan = Plan()
      for name in ["one", "two"] { plan.groups[try await UserGroupTests.create(name, in: village)] = [] }
      for number in 0..<3 {
        let (forum, room) = try await village.garden("plot \(number)", "private")
        try await village.post("acorn", in: room)
        plan.plots.append(Plan.Plot(id: forum, room: room))
      }
      let (_, common) = try await village.garden("square", "public")
      var replicas: [ReplicaClient] = []
      var sockets: [String: LiveClient] = [:]
      for name in Self.people {
        replicas.append(try await ReplicaClient(village, name))
        let socket = try village.connect("topics=conversation:\(common)", as: name)
        _ = try await socket.event("complete")
        sockets[name] = socket
      }
      for round in 0..<14 {
        let topics = plan.plots.map { "forum:\($0.id)/messages" }
        var subscribed: [String: Set<String>] = [:]
        for name in Self.people {
          // None may be readable; then the command is refused.
          _ = try await sockets[name]?.request(["do": "subscribe", "topics": topics])
          subscribed[name] = plan.readable(by: name)
        }
        try await Self.change(&plan, round, village, &random)
        for plot in plan.plots { try await village.post("note \(plot.id)", in: plot.room) }
        try await village.post("end \(round)", in: common)
        for name in Self.people {
          let expected = plan.readable(by: name)
          let events = try await sockets[name]?.events { $0["data.text"] == "end \(round)" } ?? []
          let live = Set(events.compactMap { $0["data.text"] }.filter { $0.hasPrefix("note ") })
          let still = expected.intersection(subscribed[name] ?? [])
          #expect(live == Set(still.map { "note \($0)" }), "\(name) live, seed \(seed), round \(round)")
          try await Self.expectAgreement(name, expected, plan, village)
        }
        if Bool.random(using: &random) { await village.community.store.jobs.run() }
      }
      await village.community.store.jobs.run()
      for index in replicas.indices {
        try await replicas[index].synchronize()
        #expect(try await replicas[index].faults() == [], "\(replicas[index].name ?? "")")
      }
    }
  }

  private static func change(
    _ plan: inout Plan, _ round: Int, _ village: Village, _ random: inout Seeded
  ) async throws {
    let groups = plan.groups.keys.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count }
    let name = people.randomElement(using: &random) ?? "grace"
    let index = Int.random(in: plan.plots.indices, using: &random)
    let path = "/forums/\(plan.plots[index].id)"
    switch Int.random(in: 0..<10, using: &random) {
    case 0...3:
      guard let group = groups.randomElement(using: &random) else { return }
      let isMember = plan.groups[group]?.contains(name) ?? false
      let membership = "/groups/\(group)/members/@\(name)"
      try await village.expect(isMember ? 204 : 200, isMember ? .delete : .put, membership, as: "ada")
      if isMember { plan.groups[group]?.remove(name) } else { plan.groups[group]?.insert(name) }
    case 4...6:
      plan.plots[index].read = Set(groups.filter { _ in Bool.random(using: &random) })
      plan.plots[index].write = Set(groups.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
      let body: [String: Any] = [
        "read_groups": Array(plan.plots[index].read), "write_groups": Array(plan.plots[index].write),
      ]
      try await village.expect(200, .patch, path, as: "ada", body)
    case 7:
      plan.plots[index].visibility = [.private, .private, .members, .public].randomElement(using: &random) ?? .private
      let body = ["visibility": plan.plots[index].visibility.rawValue, "from": "beginning"]
      try await village.expect(200, .patch, path, as: "ada", body)
    case 8:
      let isMember = plan.plots[index].members.contains(name)
      try await village.expect(isMember ? 204 : 200, isMember ? .delete : .put, "\(path)/members/@\(name)", as: "ada")
      if isMember { plan.plots[index].members.remove(name) } else { plan.plots[index].members.insert(name) }
    default:
      if let group = groups.first, groups.count > 1 {
        try await village.expect(204, .delete, "/groups/\(group)", as: "ada")
        plan.groups[group] = nil
        for index in plan.plots.indices {
          plan.plots[index].read.remove(group)
          plan.plots[index].write.remove(group)
        }
      } else {
        plan.groups[try await UserGroupTests.create("group \(round)".replacing(" ", with: ""), in: village)] = []
      }
    }
  }

  private static func expectAgreement(
    _ name: String, _ expected: Set<String>, _ plan: Plan, _ village: Village
  ) async throws {
    var (requested, streamed, rooms, followed): (Set<String>, Set<String>, Set<String>, Set<String>) = ([], [], [], [])
    for plot in plan.plots {
      for path in ["/forums/\(plot.id)", "/forums/\(plot.id)/conversations"]
      where try await village.request(.get, path, as: name).status == 200 {
        requested.insert(plot.id)
      }
      if try await village.request(.get, "/conversations/\(plot.room)/messages", as: name).status == 200 {
        rooms.insert(plot.id)
      }
      if try await village.request(.get, "/streams/forum:\(plot.id)/events?limit=1", as: name).status == 200 {
        streamed.insert(plot.id)
      }
      let page = try await village.request(.get, "/sync?topics=forum:\(plot.id)", as: name)
      if page.status == 200, page.count("lost") == 0 { followed.insert(plot.id) }
    }
    let ids = Set(plan.plots.map(\.id))
    let listed = Set(try await village.expect(200, .get, "/forums", as: name).texts("data", "id").compactMap(\.self))
    let snapshot: Snapshot = try await village.expect(200, .get, "/snapshot", as: name).read()
    let held = Set(snapshot.forums.map(\.forum.id.description)).intersection(ids)
    let hits = try await village.expect(200, .get, "/messages/search?q=acorn&limit=50", as: name)
    let found = Set(hits.texts("data", "conversation_id").compactMap(\.self))
    let searched = Set(plan.plots.filter { found.contains($0.room) }.map(\.id))
    #expect(requested == expected, "\(name) requests")
    #expect(rooms == expected, "\(name) messages")
    #expect(streamed == expected, "\(name) streams")
    #expect(followed == expected, "\(name) catch-up")
    #expect(listed.intersection(ids) == expected, "\(name) list")
    #expect(held == expected, "\(name) snapshot")
    #expect(searched == expected, "\(name) search")
    let access = Dictionary(snapshot.forums.map { ($0.forum.id.description, $0.groupAccess) }) { one, _ in one }
    for plot in plan.plots where expected.contains(plot.id) {
      let own = { (groups: Set<String>) in groups.contains { plan.groups[$0]?.contains(name) ?? false } }
      let expected: GroupAccess? = own(plot.write) ? .write : own(plot.read) ? .read : nil
      #expect(access[plot.id] == .some(expected), "\(name) access")
    }
  }
}
