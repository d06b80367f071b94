import Foundation
import ParleyJSON
import ParleyModel
import TestSupport
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct SnapshotTests {
  @Test(arguments: TestTransport.allCases)
  func `a snapshot equals each list at one moment`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let stage = try await Stage(village)
      try await stage.request(.put, "/conversations/\(stage.group)/read", as: "gus", ["message_id": stage.first])
      try await stage.request(.put, "/forums/\(stage.garden.forum)/level", as: "grace", ["level": "nothing"])
      try await stage.request(.put, "/users/@linus/follow", as: "grace")
      try await stage.request(.post, "/conversations", as: "grace", ["kind": "feed"])
      for name in ["ada", "grace", "linus", "gus"] {
        let answer = try await village.expect(200, .get, "/snapshot", as: name)
        let snapshot: Snapshot = try answer.read()
        let me: User = try await village.expect(200, .get, "/me", as: name).read()
        #expect(snapshot.me.own == me.own && snapshot.me.summary.revision == me.summary.revision)
        let forums: [ForumView] = try await village.expect(200, .get, "/forums", as: name).read("data")
        #expect(snapshot.forums.map(\.forum) == forums.map(\.forum), "\(name)")
        #expect(snapshot.forums.map(\.role) == forums.map(\.role), "\(name)")
        for own in snapshot.conversations {
          let path = "/conversations/\(own.conversation.id)"
          #expect(own == (try await village.expect(200, .get, path, as: name).read()), "\(name) \(path)")
        }
        let mine: [OwnConversation] = try await village.expect(200, .get, "/conversations", as: name).read("data")
        let listed = snapshot.conversations.filter { $0.conversation.kind != .feed }
        #expect(listed.map(\.conversation.id) == mine.map(\.conversation.id), "\(name)")
        for user in snapshot.users {
          let seen: User = try await village.expect(200, .get, "/users/\(user.summary.id)", as: name).read()
          #expect(user.summary.name == seen.summary.name && user.own == nil && user.standing == nil)
        }
        let named = Set(mine.flatMap { ($0.conversation.participants ?? []).map(\.user) })
        #expect(named.subtracting(snapshot.users.map(\.summary.id)) == [me.summary.id], "\(name)")
        #expect(!snapshot.hasMoreForums && !snapshot.hasMoreConversations)
        #expect(snapshot.offsets.count == 2)
      }
      let grace: Snapshot = try await village.expect(200, .get, "/snapshot", as: "grace").read()
      #expect(grace.levels == [.forum(ID(Int(stage.garden.forum) ?? 0)): .nothing])
      #expect(grace.relations == [village.user("linus"): [.follow]])
      #expect(grace.conversations.contains { $0.conversation.kind == .feed })
      #expect(try await village.request(.get, "/snapshot").status == 401)
    }
  }

  @Test func `a snapshot omits objects that are no longer readable`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "members", members: ["linus"])
      let topic = try await village.topic("weeds", in: forum, by: "linus")
      try await village.post("everywhere", in: topic, as: "linus")
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      try await village.expect(204, .delete, "/forums/\(forum)/members/me", as: "linus")
      // The job that removes his conversations has not run.
      let snapshot = try await village.expect(200, .get, "/snapshot", as: "linus")
      #expect(!snapshot.text.contains("weeds") && !snapshot.text.contains("everywhere"))
      #expect(!snapshot.text.contains("\"\(room)\"") && !snapshot.text.contains("garden"))
    }
  }

  @Test func `the ETag of a snapshot depends on its content, not on the end of the log`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation("direct", by: "grace", with: ["linus"])
      let first = try await village.expect(200, .get, "/snapshot", as: "gus")
      let tag = try #require(first.fields["etag"])
      // The cursor differs.
      #expect(tag.hasPrefix("W/"))
      // An event that gus can't read.
      try await village.post("hello", in: conversation, as: "grace")
      #expect(try await village.request(.get, "/snapshot", as: "gus", fields: ["If-None-Match": tag]).status == 304)
      try await village.changeSettings(["welcome": "come in"])
      #expect(try await village.request(.get, "/snapshot", as: "gus", fields: ["If-None-Match": tag]).status == 200)
    }
  }

  @Test func `the snapshot of a large site stays small`() async throws {
    try await Village.open(.inMemory) { village in
      let (users, forums, conversations) = (2_000, 300, 500)
      try await Self.plant(users: users, forums: forums, conversations: conversations, in: village)
      let clock = ContinuousClock()
      var answer: Answer?
      var times: [Duration] = []
      for _ in 0..<5 {
        let start = clock.now
        answer = try await village.request(.get, "/snapshot", as: "grace", fields: ["Accept-Encoding": "gzip"])
        times.append(clock.now - start)
      }
      let compressed = try #require(answer)
      #expect(compressed.status == 200 && compressed.fields["content-encoding"] == "gzip")
      let snapshot: Snapshot = try await village.expect(200, .get, "/snapshot", as: "grace").read()
      #expect(snapshot.forums.count == forums && snapshot.conversations.count == conversations)
      print("snapshot: \(compressed.body.count) bytes, \(times.min() ?? .zero)")
      #expect(compressed.body.count < 100_000)
    }
  }

  /// Creates forums for members with one message each, and groups of grace with four others.
  private static func plant(users: Int, forums: Int, conversations: Int, in village: Village) async throws {
    var random = Seeded(seed: 1)
    let letters = Array("abcdefghiklmnoprstuvw")
    var words: [String] = []
    for _ in 0..<2_000 {
      let word = (0..<Int.random(in: 2...9, using: &random)).compactMap { _ in letters.randomElement(using: &random)
      }
      words.append(String(word))
    }
    func text(_ count: Int) -> String {
      (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
    }
    var ids: [ID<User>] = []
    for start in stride(from: 0, to: users, by: 200) {
      let names = (start..<min(start + 200, users)).map { ("p\($0)\(text(1))", text(2)) }
      ids += try await village.community.store.write { tx throws(Refusal) in
        var added: [ID<User>] = []
        for (name, shown) in names {
          added.append(try tx.add(NewUser(name: name, role: .member, displayName: shown)))
        }
        return added
      }
    }
    let grace = village.user("grace")
    for start in stride(from: 0, to: forums, by: 50) {
      let drafts = (start..<min(start + 50, forums)).map { "\(text(3)) \($0)" }
      let says = drafts.map { _ in text(12) }
      let author = ids.randomElement(using: &random) ?? grace
      try await village.community.store.write { tx throws(Refusal) in
        for (title, posted) in zip(drafts, says) {
          let forum = try tx.add(ForumDraft(title: title, visibility: .members), by: author)
          _ = try tx.post(NewMessage(conversation: forum.room, author: author, text: posted))
        }
      }
    }
    for start in stride(from: 0, to: conversations, by: 50) {
      let drafts = (start..<min(start + 50, conversations)).map { _ in
        (text(2), text(10), (0..<4).compactMap { _ in ids.randomElement(using: &random) })
      }
      try await village.community.store.write { tx throws(Refusal) in
        for (title, posted, others) in drafts {
          var group = NewConversation(.group)
          group.fields = [.set(\.title, title)]
          group.participants = [NewParticipant(grace, .admin)] + Set(others).sorted().map { NewParticipant($0) }
          let id = try tx.add(group, by: grace)
          _ = try tx.post(NewMessage(conversation: id, author: others.first ?? grace, text: posted))
        }
      }
    }
  }
}
