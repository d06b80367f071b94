import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The forums as staff sees them in place of a member of a group, a newcomer, a guest or a visitor: the same as the requests
/// of such a user.
@Suite struct ForumAccessTests {
  /// The user behind each viewer; nil for a visitor.
  private static let users: [(viewer: String, name: String?)] = [
    ("readers", "grace"), ("writers", "linus"), ("none", "nora"), ("newcomer", "nick"), ("guest", "gus"),
    ("visitor", nil),
  ]

  private static var forums: [(title: String, fields: [String: Any])] {
    var forums: [(title: String, fields: [String: Any])] = []
    for visibility in ["public", "members", "private"] {
      for policy in ["readers", "members", "moderators"] {
        let fields: [String: Any] = [
          "visibility": visibility, "write": policy, "start_topics": policy, "room_mention": policy,
        ]
        forums.append(("\(visibility) \(policy)", fields))
        forums.append(("\(visibility) \(policy) by groups", fields.merging(["groups": true]) { one, _ in one }))
      }
      for change in ["locked", "archived", "is_default"] {
        forums.append(("\(visibility) \(change)", ["visibility": visibility, change: true, "groups": true]))
      }
    }
    return forums
  }

  /// The users, and the newcomer once more where newcomers only read.
  @Test(arguments: users.indices.map { ($0, false) } + [(3, true)])
  func `the view has exactly the operations that a real user may perform`(index: Int, pause: Bool) async throws {
    let (viewer, name) = Self.users[index]
    try await Village.open(.inMemory) { village in
      for name in ["nora", "nick"] { try await village.addUser(name) }
      let newcomers: [String: Any] = ["days": 0, "messages": 0, "messages_per_hour": 120]
      try await village.changeSettings(["newcomers": newcomers])
      var groups: [String: String] = [:]
      for name in ["readers", "writers", "none"] { groups[name] = try await UserGroupTests.create(name, in: village) }
      if let name, let group = groups[viewer] {
        try await village.expect(200, .put, "/groups/\(group)/members/@\(name)", as: "ada")
      }
      var expected: [String: [String]] = [:]
      var stages: [ForumStage] = []
      for (title, fields) in Self.forums {
        stages.append(try await village.stage(title, fields, groups, joined: viewer == "guest" ? nil : name))
      }
      if viewer == "newcomer" {
        let limits: [String: Any] = ["days": 2, "messages": 100, "messages_per_hour": pause ? 0 : 1_000]
        try await village.changeSettings(["newcomers": limits])
      }
      var answers: [String: [String]] = [:]
      var topics: [String: Int] = [:]
      var next: String? = ""
      while let position = next {
        let path = "/forum-access?viewer=\(groups[viewer] ?? viewer)&limit=7\(position)"
        let page = try await village.expect(200, .get, path, as: "ada")
        for number in 0..<page.count("data") {
          let id = try #require(page["data.\(number).forum_id"])
          answers[id] = page.list("data.\(number).operations")
          topics[id] = page.int("data.\(number).topic_count")
        }
        next = page["next"].map { "&next=\($0)" }
      }
      for stage in stages {
        expected[stage.forum] = try await village.operations(in: stage, as: name)
        #expect(answers[stage.forum] == expected[stage.forum], "\(viewer) in \(stage.title)")
        #expect(topics[stage.forum] == (expected[stage.forum]?.contains("read") == true ? 1 : 0), "\(stage.title)")
        try await village.expectRefusals(in: stage, as: name)
      }
      #expect(answers.count == Self.forums.count)
    }
  }

  @Test func `staff alone takes the view`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await UserGroupTests.create("growers", in: village)
      for name in ["grace", "mira", "robo"] {
        try await village.expect(403, .get, "/forum-access?viewer=\(group)", as: name)
      }
      try await village.expect(401, .get, "/forum-access?viewer=visitor")
      #expect(try await village.expect(200, .get, "/forum-access?viewer=\(group)", as: "ada").count("data") == 0)
      for (query, code) in [("", "missing"), ("?viewer=9999", "unknown"), ("?viewer=owner", "invalid")] {
        let refused = try await village.expect(400, .get, "/forum-access\(query)", as: "ada")
        #expect(refused["errors.0.field"] == "viewer" && refused["errors.0.code"] == code, "\(query)")
      }
    }
  }
}

/// A forum with a topic and a message of ada.
private struct ForumStage {
  let title: String
  let forum: String
  let room: String
  let topic: String
  let message: String
}

extension Village {
  fileprivate func stage(
    _ title: String, _ fields: [String: Any], _ groups: [String: String], joined name: String?
  ) async throws -> ForumStage {
    var draft = fields
    draft["title"] = title
    for key in ["groups", "locked", "archived", "room_mention"] { draft[key] = nil }
    if fields["groups"] != nil {
      draft["read_groups"] = [groups["readers"] ?? ""]
      draft["write_groups"] = [groups["writers"] ?? ""]
    }
    let made = try await expect(201, .post, "/forums", as: "ada", draft)
    let (forum, room) = (try #require(made["id"]), try #require(made["room_id"]))
    let opened = try await expect(
      201, .post, "/forums/\(forum)/conversations", as: "ada", ["title": "weeds", "text": "everywhere"])
    let message = try await post("plums", in: room, as: "ada")
    // A sign-up adds a member to the default forums.
    if fields["is_default"] != nil, let name {
      try await expect(200, .put, "/forums/\(forum)/members/@\(name)", as: "ada")
    }
    for change in ["room_mention", "locked", "archived"] {
      guard let value = fields[change] else { continue }
      try await expect(200, .patch, "/forums/\(forum)", as: "ada", [change: value])
    }
    return ForumStage(
      title: title, forum: forum, room: room, topic: try #require(opened["conversation.id"] ?? opened["id"]),
      message: message)
  }

  /// The operations that the requests of a user show, in the order of the API.
  fileprivate func operations(in stage: ForumStage, as name: String?) async throws -> [String] {
    func succeeds(_ method: ParleyWire.Method, _ path: String, _ body: [String: Any]? = nil) async throws -> Bool {
      let status = try await request(method, path, as: name, body).status
      #expect([200, 201, 401, 403, 404, 429].contains(status), "\(method) \(path)")
      return status < 300
    }
    var found: [String] = []
    func add(_ operation: String, _ isPermitted: Bool) { if isPermitted { found.append(operation) } }
    let (forum, room) = ("/forums/\(stage.forum)", "/conversations/\(stage.room)/messages")
    let sees = try await succeeds(.get, forum)
    add("see", sees)
    #expect(try await request(.get, "/forums?limit=200", as: name).texts("data", "id").contains(stage.forum) == sees)
    let reads = try await succeeds(.get, room)
    add("read", reads)
    for path in ["\(forum)/conversations", "\(forum)/members", "/conversations/\(stage.topic)/messages"] {
      #expect(try await succeeds(.get, path) == reads, "\(stage.title) \(path)")
    }
    add("react", try await succeeds(.put, "/messages/\(stage.message)/actions/like"))
    let writes = try await succeeds(.post, room, ["text": "hello"])
    add("write", writes)
    #expect(try await succeeds(.post, "/conversations/\(stage.topic)/messages", ["text": "hello"]) == writes)
    add("start_topics", try await succeeds(.post, "\(forum)/conversations", ["title": "more", "text": "weeds"]))
    let mention = try await request(.post, room, as: name, ["text": "@room hello"])
    add("mention_room", mention.bool("entities.mentions.0.room") == true)
    add("join", try await succeeds(.put, "\(forum)/members/me"))
    return found
  }

  /// A view has no operations of moderators, and no request of them succeeds.
  fileprivate func expectRefusals(in stage: ForumStage, as name: String?) async throws {
    let forum = "/forums/\(stage.forum)"
    for (method, path, body) in [
      (.patch, forum, ["description": "x"]), (.patch, forum, ["locked": false]), (.patch, forum, ["position": 3]),
      (.put, "\(forum)/members/@mira", [:]), (.post, "/messages/\(stage.message)/remove", ["reason": "x"]),
      (.patch, "/conversations/\(stage.topic)", ["pinned": true]), (.delete, forum, nil),
    ] as [(ParleyWire.Method, String, [String: Any]?)] {
      let status = try await request(method, path, as: name, body).status
      #expect([401, 403, 404].contains(status), "\(stage.title): \(method) \(path) \(status)")
    }
  }
}
