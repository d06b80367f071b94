import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The tags of a topic follow the first message, on every path that changes it. Each test ends with a verification.
@Suite struct TopicTagTests {
  /// A garden with one forum.
  private struct Orchard {
    let garden: Garden
    let forum: Forum

    init() async throws {
      garden = try await Garden(jobs: [.forumErasure, .departure, .branchMove])
      forum = try await garden.write { tx throws(Refusal) in
        try tx.add(ForumDraft(title: "Orchard", visibility: .public), by: Garden.ada)
      }
    }

    static func text(_ hashtags: [String]) -> MessageText {
      var text = MessageText("look " + hashtags.map { "#\($0)" }.joined(separator: " "))
      var entities = MessageEntities()
      for tag in hashtags { entities.hashtags.append(.init(.init(position: 0, length: 1), name: tag)) }
      text.entities = entities.stored
      text.hashtags = hashtags.map { $0.lowercased() }
      return text
    }

    /// A topic whose first message has these hashtags.
    func topic(
      _ hashtags: String..., by author: ID<User> = Garden.ada
    ) async throws -> (id: ID<Conversation>, first: ID<Message>) {
      let forum = forum.id
      return try await garden.write { tx throws(Refusal) in
        let id = try tx.addTopic("plums", tags: Topic.tags(from: hashtags), in: forum, by: author)
        return (id, try tx.post(NewMessage(conversation: id, author: author, text: Self.text(hashtags))).id)
      }
    }

    func tags(of topic: ID<Conversation>) async throws -> [String]? {
      try await garden.write { tx throws(Refusal) in try tx.topic(topic)?.tags }
    }

    func listed(_ tag: String) async throws -> [ID<Conversation>] {
      let forum = forum.id
      return try await garden.write { tx throws(Refusal) in
        try tx.topics(of: forum, tagged: tag, ListSlice(limit: 100)).map(\.id)
      }
    }

    func counts() async throws -> [ForumTag] {
      let forum = forum.id
      return try await garden.write { tx throws(Refusal) in try tx.tags(of: forum, limit: 3) }
    }

    /// Kind, stream and revision of the events of a change.
    func events(_ change: () async throws -> Void) async throws -> [String] {
      let before = garden.delivered.all.count
      try await change()
      return garden.delivered.all.dropFirst(before).map { "\($0.kind.name) \($0.stream) #\($0.revision)" }
    }

    func verify(at location: SourceLocation = #_sourceLocation) async throws {
      await garden.store.close()
      #expect(try Garden.faults(in: garden.folder) == [], sourceLocation: location)
    }
  }

  @Test func `a topic has the first five hashtags in their order`() async throws {
    let orchard = try await Orchard()
    let topic = try await orchard.topic("Plum", "apple", "PLUM", "fig", "Äpfel", "quince", "pear")
    #expect(try await orchard.tags(of: topic.id) == ["plum", "apple", "fig", "äpfel", "quince"])
    #expect(try await orchard.listed("äpfel") == [topic.id])
    #expect(try await orchard.listed("pear") == [])
    let conversation = try await orchard.garden.write { tx throws(Refusal) in try tx.conversation(topic.id) }
    #expect(conversation?.tags == ["plum", "apple", "fig", "äpfel", "quince"] && conversation?.revision == 1)
    let plain = try await orchard.topic()
    #expect(try await orchard.tags(of: plain.id) == [])
  }

  @Test func `the first message of a topic without messages sets its tags, a reply changes none`() async throws {
    let orchard = try await Orchard()
    let (forum, garden) = (orchard.forum.id, orchard.garden)
    let topic = try await garden.write { tx throws(Refusal) in try tx.addTopic("plums", in: forum, by: Garden.ada) }
    let events = try await orchard.events {
      try await garden.write { tx throws(Refusal) in
        _ = try tx.post(NewMessage(conversation: topic, author: Garden.ada, text: Orchard.text(["plum"])))
      }
    }
    #expect(
      events == [
        "message.created conversation:\(topic) #1", "conversation.updated conversation:\(topic) #2",
        "conversation.updated forum:\(forum) #2",
      ])
    let reply = try await orchard.events {
      try await garden.write { tx throws(Refusal) in
        _ = try tx.post(NewMessage(conversation: topic, author: Garden.ada, text: Orchard.text(["fig"])))
      }
    }
    #expect(reply == ["message.created conversation:\(topic) #1"])
    #expect(try await orchard.tags(of: topic) == ["plum"])
    try await orchard.verify()
  }

  @Test func `an edit replaces the tags and logs the topic's change`() async throws {
    let orchard = try await Orchard()
    let topic = try await orchard.topic("plum", "fig")
    func edit(_ text: MessageText) async throws -> [String] {
      try await orchard.events {
        _ = try await orchard.garden.write { tx throws(Refusal) in
          try tx.edit(topic.first, to: text, by: Garden.ada)
        }
      }
    }
    #expect(
      try await edit(Orchard.text(["fig", "pear"])) == [
        "conversation.updated conversation:\(topic.id) #2", "conversation.updated forum:\(orchard.forum.id) #2",
        "message.edited conversation:\(topic.id) #2",
      ])
    #expect(try await orchard.tags(of: topic.id) == ["fig", "pear"])
    #expect(try await orchard.listed("plum") == [])
    var same = Orchard.text(["fig", "pear"])
    same.markdown += "!"
    #expect(try await edit(same) == ["message.edited conversation:\(topic.id) #3"])
    #expect(try await edit(MessageText("nothing")).count == 3)
    #expect(try await orchard.tags(of: topic.id) == [])
    try await orchard.verify()
  }

  @Test func `a removal clears the tags, and a restoration brings them back in their order`() async throws {
    let orchard = try await Orchard()
    let topic = try await orchard.topic("plum", "apple")
    try await orchard.garden.write { tx throws(Refusal) in
      _ = try tx.remove(topic.first, by: Garden.grace, reason: nil)
    }
    #expect(try await orchard.tags(of: topic.id) == [])
    #expect(try await orchard.counts() == [])
    try await orchard.garden.write { tx throws(Refusal) in _ = try tx.restore(topic.first, by: Garden.grace) }
    #expect(try await orchard.tags(of: topic.id) == ["plum", "apple"])
    #expect(try await orchard.listed("apple") == [topic.id])
    try await orchard.garden.write { tx throws(Refusal) in _ = try tx.delete(topic.first, by: Garden.ada) }
    #expect(try await orchard.listed("apple") == [])
    try await orchard.verify()
  }

  @Test func `the list follows pins and activity`() async throws {
    let orchard = try await Orchard()
    var ids: [ID<Conversation>] = []
    for _ in 0..<5 { ids.append(try await orchard.topic("plum").id) }
    let garden = orchard.garden
    let moved = ids
    try await garden.write { tx throws(Refusal) in
      _ = try tx.post(NewMessage(conversation: moved[1], author: Garden.ada, text: "up"))
      guard let before = try tx.topic(moved[3]) else { throw .notFound }
      var after = before
      after.isPinned = true
      _ = try tx.change(before, to: after, by: Garden.ada)
    }
    let expected = [3, 1, 4, 2, 0].map { ids[$0] }
    #expect(try await orchard.listed("plum") == expected)
    let forum = orchard.forum.id
    for limit in 1...5 {
      let pages = try await garden.write { tx throws(Refusal) in
        var (found, key): ([ID<Conversation>], ListKey?) = ([], nil)
        while true {
          let page = try tx.topics(of: forum, tagged: "plum", ListSlice(after: key, limit: limit))
          found += page.map(\.id)
          guard let last = page.last else { return found }
          key = ListKey([last.isPinned ? 1 : 0, last.activity])
        }
      }
      #expect(pages == expected, "\(limit) at a time")
    }
    try await orchard.verify()
  }

  @Test func `tags are counted, the most used first`() async throws {
    let orchard = try await Orchard()
    for tags in [["fig", "plum"], ["plum"], ["apple"], ["quince", "plum"], ["quince"]] {
      _ = tags.count == 1 ? try await orchard.topic(tags[0]) : try await orchard.topic(tags[0], tags[1])
    }
    let expected = [ForumTag("plum", count: 3), ForumTag("quince", count: 2), ForumTag("apple", count: 1)]
    #expect(try await orchard.counts() == expected)
  }

  @Test func `a deleted topic and an erased forum are listed under no tag`() async throws {
    let orchard = try await Orchard()
    let (garden, forum) = (orchard.garden, orchard.forum)
    let (topic, other) = (try await orchard.topic("plum"), try await orchard.topic("plum"))
    try await garden.write { tx throws(Refusal) in
      guard let conversation = try tx.conversation(topic.id) else { throw .notFound }
      try tx.delete(conversation, by: Garden.ada)
    }
    #expect(try await orchard.listed("plum") == [other.id])
    try await garden.write { tx throws(Refusal) in
      try tx.delete(forum, by: Garden.ada)
      var erasure = ForumErasure(forum.id, by: Garden.ada)
      while try !tx.eraseNextChunk(&erasure) {}
    }
    #expect(try await orchard.listed("plum") == [])
    await garden.store.close()
    #expect(try garden.tables(saying: "plum") == [])
    #expect(try Garden.faults(in: garden.folder, besides: "members") == [])
  }

  @Test func `the erasure of an author clears the tags`() async throws {
    let orchard = try await Orchard()
    let topic = try await orchard.topic("plum", by: Garden.grace)
    _ = try await orchard.topic("fig")
    try await orchard.garden.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.grace, as: .erased, by: Garden.grace)
    }
    await orchard.garden.store.jobs.run()
    #expect(try await orchard.tags(of: topic.id) == [])
    #expect(try await orchard.counts() == [ForumTag("fig", count: 1)])
    try await orchard.verify()
  }

  @Test func `an imported topic has tags once it is open`() async throws {
    let orchard = try await Orchard()
    let forum = orchard.forum.id
    let topic = try await orchard.garden.write { tx throws(Refusal) in
      var imported = ImportedConversation(.topic, title: "plums", by: Garden.ada, createdAt: 1)
      imported.forum = forum
      let topic = try tx.startImport(of: imported)
      let first = NewMessage(conversation: topic, author: Garden.ada, text: Orchard.text(["plum"]))
      _ = try tx.importMessage(first, createdAt: 2)
      return topic
    }
    #expect(try await orchard.listed("plum") == [])
    try await orchard.garden.write { tx throws(Refusal) in try tx.openImported(topic, by: Garden.ada) }
    #expect(try await orchard.listed("plum") == [topic])
    #expect(try await orchard.garden.write { tx throws(Refusal) in try tx.topic(topic)?.revision } == 2)
    try await orchard.verify()
  }

  @Test func `topics from before a reader's history show no tags`() async throws {
    let orchard = try await Orchard()
    let (garden, forum) = (orchard.garden, orchard.forum.id)
    let old = try await orchard.topic("plum", "fig")
    try await garden.write { tx throws(Refusal) in
      try tx.openHistory(of: forum, after: tx.latestMessageID, from: .members, to: .public, by: Garden.ada)
    }
    let new = try await orchard.topic("plum")
    func expectNewOnly() async throws {
      #expect(try await orchard.tags(of: old.id) == [])
      #expect(try await orchard.tags(of: new.id) == ["plum"])
      #expect(try await orchard.listed("plum") == [new.id])
      #expect(try await orchard.counts() == [ForumTag("plum", count: 1)])
      let both = try await garden.write { tx throws(Refusal) in try tx.conversations([old.id, new.id]) }
      #expect(both[old.id]?.tags == [] && both[new.id]?.tags == ["plum"])
    }
    try await expectNewOnly()
    // A member keeps the late start after the forum was opened from the beginning.
    try await garden.write { tx throws(Refusal) in
      let start = try tx.historyStarts(of: forum)?.anyone
      _ = try tx.setMember(Garden.grace, .member, of: forum, after: start, by: Garden.grace)
      try tx.openHistory(of: forum, after: nil, from: .members, to: .public, by: Garden.ada)
    }
    try await expectNewOnly()
    try await garden.write { tx throws(Refusal) in _ = try tx.removeMember(Garden.grace, of: forum, by: Garden.ada) }
    #expect(try await orchard.tags(of: old.id) == ["plum", "fig"])
    #expect(try await orchard.listed("plum") == [new.id, old.id])
    // Hiding and showing the tags raised the revision.
    #expect(try await garden.write { tx throws(Refusal) in try tx.topic(old.id)?.revision } == 3)
    #expect(try await garden.write { tx throws(Refusal) in try tx.topic(new.id)?.revision } == 1)
    try await orchard.verify()
  }

  @Test func `the migration takes the tags from earlier hashtags`() async throws {
    let orchard = try await Orchard()
    let topics = [
      try await orchard.topic("plum", "Apple"), try await orchard.topic(), try await orchard.topic("fig"),
      try await orchard.topic("a", "b", "c", "d", "e", "f"),
    ]
    try await orchard.garden.write { tx throws(Refusal) in
      guard let conversation = try tx.conversation(topics[2].id) else { throw .notFound }
      try tx.delete(conversation, by: Garden.ada)
    }
    let garden = orchard.garden
    await garden.store.close()
    let connection = try Connection.writer(garden.folder + "/parley.db")
    // Later columns.
    try connection.executeScript(
      """
      drop index conversation_unchained;
      alter table conversation drop column chain_head;
      alter table conversation drop column chain_length;
      alter table conversation drop column chained_seq;
      delete from chain_entry;
      update message set chain_position = null, proof = null;
      """)
    let before = try garden.tables()
    try connection.executeScript(
      """
      drop trigger topic_tags_of_new_topic;
      drop trigger topic_tags_of_changed_topic;
      drop table topic_tag;
      drop index late_forum_members;
      alter table conversation drop column tags;
      alter table conversation drop column import_seq;
      """)
    let file = URL(filePath: Garden.migrations).appending(path: "0023_topic_tags.sql")
    try connection.executeScript(try String(contentsOf: file, encoding: .utf8))
    try connection.executeScript("alter table conversation add column import_seq integer")
    #expect(try garden.tables() == before)
    try connection.executeScript(
      """
      alter table conversation add column chained_seq integer not null default 0;
      alter table conversation add column chain_length integer not null default 0;
      alter table conversation add column chain_head blob;
      """)
    connection.close()
    #expect(try Garden.faults(in: garden.folder) == [])
  }
}
