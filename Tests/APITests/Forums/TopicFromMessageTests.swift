import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct TopicFromMessageTests {
  @Test(arguments: TestTransport.allCases)
  func `a message and its replies become a topic, with a link in the room`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden()
      try await village.post("before", in: room)
      let file = try await village.upload("rose.png", by: "linus")
      let root = try await village.post("who has #roses? @mira https://a.example", in: room, as: "grace")
      let answer = try await village.post("me", in: room, as: "linus", ["reply_to": root, "attachments": [file]])
      try await village.post("aside", in: room, as: "robo")
      let deep = try await village.post("which?", in: room, as: "grace", ["reply_to": answer])
      let gone = try await village.post("oops", in: room, as: "robo", ["reply_to": root])
      _ = try await village.request(.delete, "/messages/\(gone)", as: "robo")
      var answered: Answer?
      let events = try await village.events {
        answered = try await village.request(.post, "/messages/\(root)/topic", as: "grace", ["title": "Roses"])
      }
      let made = try #require(answered)
      #expect(made.status == 201, "\(made.text)")
      let topic = try #require(made["conversation_id"])
      let linus = village.id("linus")
      #expect(
        events == [
          "conversation.created forum:\(forum) #1", "conversation.created conversation:\(topic) #1",
          "conversation.created user:\(village.id("grace"))",
          "message.created conversation:\(topic) #1", "notification.created user:\(village.id("mira"))",
          "message.deleted conversation:\(room) #2",
          "message.created conversation:\(topic) #1", "notification.created user:\(village.id("grace"))",
          "message.deleted conversation:\(room) #2",
          "message.created conversation:\(topic) #1", "notification.created user:\(linus)",
          "message.deleted conversation:\(room) #2",
          "participant.joined conversation:\(topic)", "conversation.created user:\(linus)",
          "message.created conversation:\(room) #1",
        ])
      let copies = try await village.request(.get, "/conversations/\(topic)/messages?order=asc", as: "mira")
      #expect(copies.texts("data", "text") == ["who has #roses? @mira https://a.example", "me", "which?"])
      #expect(copies.texts("data", "moved_from") == [root, answer, deep])
      #expect(copies.texts("data", "author_id") == [village.id("grace"), linus, village.id("grace")])
      #expect((0..<3).map { copies.int("data.\($0).seq") } == [1, 2, 3])
      #expect(copies.isNull("data.0.previous_message") && copies["data.1.previous_message"] == copies["data.0.id"])
      #expect(copies.isNull("data.0.reply_to") && copies["data.1.reply_to"] == copies["data.0.id"])
      #expect(copies["data.2.reply_to"] == copies["data.1.id"] && copies["data.1.attachments.0"] == file)
      #expect(copies["data.0.id"] == made["message_id"])
      #expect(copies.count("data.0.entities.mentions") == 1)
      let left = try await village.request(.get, "/conversations/\(room)/messages?order=asc", as: "mira")
      #expect(left.texts("data", "deletion") == [nil, "moved", "moved", nil, "moved", "author", nil])
      #expect(left["data.1.moved_to"] == copies["data.0.id"] && left["data.4.moved_to"] == copies["data.2.id"])
      #expect(left["data.6.kind"] == "system" && left["data.6.text"] == "Roses")
      #expect(left["data.6.annotations.0.value.conversation_id"] == topic)
      #expect(!left.text.contains("who has"))
      // A repeated request returns the same topic.
      let again = try await village.events {
        let answer = try await village.request(.post, "/messages/\(root)/topic", as: "mira", ["title": "Other"])
        #expect(answer.status == 200 && answer.body == made.body)
      }
      #expect(again == [])
      #expect(try await village.rows("select tag || conversation_id from hashtag") == ["roses\(topic)"])
      #expect(try await village.rows("select '' || message_id from attachment") == [copies["data.1.id"] ?? ""])
      #expect(try await village.rows("select 'unused' from file where unused_since is not null") == [])
      let head = try await village.request(.get, "/forums/\(forum)", as: "mira")
      #expect(head["last_message_id"] == left["data.6.id"])
      let unread = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.unread(of: ID(Int(village.id("mira")) ?? 0), in: ID(Int(topic) ?? 0))
      }
      #expect(unread == 0)
    }
  }

  @Test func `the author or a moderator converts a message to a topic, only in a forum`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let id = try await village.post("x", in: room, as: "grace")
      let path = "/messages/\(id)/topic"
      #expect(try await village.request(.post, path, as: "linus", ["title": "a"]).status == 403)
      #expect(try await village.request(.post, path, as: "gus", ["title": "a"]).status == 404)
      #expect(try await village.request(.post, path, as: "grace", ["title": " "]).status == 400)
      _ = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["start_topics": "moderators"])
      #expect(try await village.request(.post, path, as: "grace", ["title": "a"]).status == 403)
      #expect(try await village.request(.post, path, as: "mira", ["title": "a"]).status == 201)
      let conversation = try await village.conversation(.group, ["grace", "linus"])
      let posted = try await village.post("x", in: conversation, as: "grace")
      #expect(try await village.request(.post, "/messages/\(posted)/topic", as: "grace", ["title": "a"]).status == 403)
      let gone = try await village.post("x", in: room, as: "grace")
      _ = try await village.request(.delete, "/messages/\(gone)", as: "grace")
      #expect(try await village.request(.post, "/messages/\(gone)/topic", as: "mira", ["title": "a"]).status == 410)
    }
  }

  @Test func `an author moves no message out of a locked topic`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden().forum
      let topic = try await village.topic("Locked", in: forum)
      let id = try await village.post("my comment", in: topic, as: "grace")
      try await village.expect(200, .patch, "/conversations/\(topic)", as: "mira", ["locked": true])
      try await village.expect(403, .post, "/messages/\(id)/topic", as: "grace", ["title": "a"])
      try await village.expect(201, .post, "/messages/\(id)/topic", as: "mira", ["title": "a"])
      // The answer to a repeated request does not write.
      try await village.expect(200, .post, "/messages/\(id)/topic", as: "grace", ["title": "a"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a copy takes over actions, earlier texts and notifications`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (_, room) = try await village.garden()
      let root = try await village.post("weeds! @mira", in: room, as: "grace")
      let path = "/messages/\(root)"
      try await village.expect(200, .patch, path, as: "grace", ["text": "flowers! @mira"])
      for (action, name) in [("like", "mira"), ("like", "linus"), ("star", "linus"), ("pin", "ada")] {
        try await village.expect(200, .put, "\(path)/actions/\(action)", as: name)
      }
      let notification = try await village.expect(200, .get, "/inbox", as: "mira")["data.0.id"]
      var made: Answer?
      let events = try await village.events {
        made = try await village.expect(201, .post, "\(path)/topic", as: "grace", ["title": "Flowers"])
      }
      let (topic, copy) = (try #require(made?["conversation_id"]), try #require(made?["message_id"]))
      let (linus, mira) = (village.id("linus"), village.id("mira"))
      #expect(
        events.dropFirst(3) == [
          "message.created conversation:\(topic) #2", "action.removed user:\(linus)", "action.added user:\(linus)",
          "notification.created user:\(mira)", "message.deleted conversation:\(room) #3",
          "message.created conversation:\(room) #1",
        ])
      let seen = try await village.expect(200, .get, "/messages/\(copy)", as: "linus")
      #expect(seen.int("revision") == 2 && seen["edited_at"] != nil && seen["edited_by"] == village.id("grace"))
      #expect(seen.int("actions.like.count") == 2 && seen.bool("actions.like.mine") == true)
      #expect(seen.int("actions.pin.count") == 1 && seen.bool("actions.star.mine") == true)
      let revisions = try await village.expect(200, .get, "/messages/\(copy)/revisions", as: "grace")
      #expect(revisions.texts("data", "text").contains("weeds! @mira"))
      let stars = try await village.expect(200, .get, "/me/actions?type=star", as: "linus")
      #expect(stars.texts("data", "id") == [copy])
      let inbox = try await village.expect(200, .get, "/inbox", as: "mira")
      #expect(inbox.int("unread.mention") == 1 && inbox["data.0.id"] == notification)
      #expect(inbox["data.0.message_id"] == copy && inbox["data.0.conversation_id"] == topic)
      // The next edit follows the earlier ones.
      let edited = try await village.expect(200, .patch, "/messages/\(copy)", as: "grace", ["text": "roses!"])
      #expect(edited.int("revision") == 3)
      let all = try await village.expect(200, .get, "/messages/\(copy)/revisions", as: "grace")
      #expect(Set(all.texts("data", "text")).isSuperset(of: ["weeds! @mira", "flowers! @mira"]))
      let faults = try Verification(village.folder).run(all: true).flatMap(\.faults)
      #expect(faults == [], "\(faults)")
    }
  }

  @Test func `many actions and notifications of a moved message follow in a job`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden()
      let root = try await village.post("@room", in: room)
      let (message, count) = (ID<Message>(Int(root) ?? 0), WriteTransaction.notificationChunk * 2 + 5)
      let conversation = ID<Conversation>(Int(room) ?? 0)
      let sender = ID<User>(Int(village.id("ada")) ?? 0)
      let types = ["like", "star"].compactMap { ActionType($0) }
      for part in 0..<10 {
        try await village.community.store.write { tx throws(Refusal) in
          for number in 0..<count where number % 10 == part {
            let id = try tx.add(NewUser(name: "member\(number)", role: .member, password: nil))
            for type in types { _ = try tx.add(type, to: message, in: conversation, by: id) }
            try tx.addNotification(.room, of: id, in: conversation, message: message, by: sender)
          }
        }
      }
      let made = try await village.expect(201, .post, "/messages/\(root)/topic", as: "ada", ["title": "All"])
      await village.community.store.jobs.run()
      let copy = try #require(made["message_id"])
      let seen = try await village.expect(200, .get, "/messages/\(copy)", as: "grace")
      #expect(seen.int("actions.like.count") == count)
      #expect(try await village.rows("select 'left' from action where message_id = \(root)") == [])
      #expect(try await village.rows("select 'left' from notification where message_id = \(root)") == [])
      let moved = try await village.rows("select message_id || '' from notification where message_id = \(copy)")
      #expect(moved.count >= count)
      let faults = try Verification(village.folder).run(all: true).flatMap(\.faults)
      #expect(faults == [], "\(faults)")
    }
  }

  @Test func `a branch is limited in length`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      let room = try await village.garden().room
      let fits = try await village.post("fits", in: room)
      for number in 1..<200 { try await village.post("\(number)", in: room, as: "grace", ["reply_to": fits]) }
      let made = try await village.request(.post, "/messages/\(fits)/topic", as: "ada", ["title": "fits"])
      #expect(made.status == 201, "\(made.text)")
      let topic = made["conversation_id"] ?? ""
      let page = try await village.request(.get, "/conversations/\(topic)/messages?limit=200&order=asc", as: "grace")
      #expect(page.count("data") == 200 && page["data.199.text"] == "199")
      #expect(made.isNull("job_id"))
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a longer branch is moved by a job, each message once and in order`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      let (forum, room) = try await village.garden()
      try await village.post("before", in: room, as: "linus")
      let over = try await village.post("over", in: room)
      var last = over
      var expected = ["over"]
      for number in 1...300 {
        // Each message replies to the previous one; some are deleted, and some are not part of the branch.
        let id = try await village.post("\(number)", in: room, as: "grace", ["reply_to": last])
        if number % 50 == 0 {
          try await village.expect(200, .delete, "/messages/\(id)", as: "grace")
          try await village.post("aside", in: room, as: "robo")
        } else {
          expected.append("\(number)")
        }
        last = id
      }
      let made = try await village.expect(201, .post, "/messages/\(over)/topic", as: "ada", ["title": "over"])
      let (topic, job) = (try #require(made["conversation_id"]), try #require(made["job_id"]))
      let again = try await village.request(.post, "/messages/\(over)/topic", as: "mira", ["title": "x"])
      #expect(again.status == 200 && again.body == made.body)
      while try await village.expect(200, .get, "/jobs/\(job)", as: "ada")["state"] == "running" { await Task.yield() }
      #expect(try await village.expect(200, .get, "/jobs/\(job)", as: "ada")["state"] == "finished")
      let first = try await village.request(.get, "/conversations/\(topic)/messages?limit=200&order=asc", as: "grace")
      let rest = try await village.request(
        .get, "/conversations/\(topic)/messages?limit=200&order=asc&after=\(first["data.199.id"] ?? "")", as: "grace")
      #expect(first.texts("data", "text") + rest.texts("data", "text") == expected)
      #expect(first.isNull("data.0.reply_to") && first["data.0.id"] == made["message_id"])
      // A reply to a deleted message loses its target; the others keep theirs.
      let replies = first.texts("data", "reply_to") + rest.texts("data", "reply_to")
      let ids = first.texts("data", "id") + rest.texts("data", "id")
      for index in 1..<ids.count {
        let isBehindGap = (Int(expected[index]) ?? 0) % 50 == 1 && index > 1
        #expect(replies[index] == (isBehindGap ? nil : ids[index - 1]), "\(expected[index])")
      }
      let left = try await village.rows(
        "select text from message where conversation_id = \(room) and deletion is null order by seq")
      #expect(left == ["before"] + [String](repeating: "aside", count: 6) + ["over"])
      #expect(try await village.request(.get, "/forums/\(forum)", as: "grace").status == 200)
    }
  }
}
