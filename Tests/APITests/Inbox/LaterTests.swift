import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Conversations that a user puts off.
@Suite struct LaterTests {
  private static let hour = 3_600_000

  private func listed(_ village: Village) async throws -> [String?] {
    try await village.expect(200, .get, "/unread?limit=200", as: "linus").texts("data", "conversation_id")
  }

  private func later(_ village: Village) async throws -> [String?] {
    try await village.expect(200, .get, "/unread", as: "linus").texts("later", "conversation_id")
  }

  private func putOff(_ conversation: String, _ village: Village, _ clock: StoppedClock) async throws {
    let until = Timestamp.format(Int(clock.read()) + 3 * Self.hour)
    let answer = try await village.expect(
      200, .put, "/conversations/\(conversation)/later", as: "linus", ["until": until])
    #expect(answer["conversation_id"] == conversation && answer["until"] == until)
  }

  @Test(arguments: TestTransport.allCases)
  func `a conversation is not listed until its time`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      _ = try await village.garden(members: ["grace", "linus"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let other = try await village.conversation("group", by: "grace", with: ["linus"])
      for direct in [other, group] { try await village.post("seeds?", in: direct, as: "grace") }
      try await putOff(group, village, clock)
      #expect(try await listed(village) == [other])
      #expect(try await later(village) == [group])
      try await village.post("more seeds", in: group, as: "grace")
      #expect(try await listed(village) == [other])
      clock.add(3 * Self.hour)
      #expect(try await listed(village) == [group, other])
      #expect(try await later(village) == [])
      try await putOff(group, village, clock)
      try await village.expect(204, .delete, "/conversations/\(group)/later", as: "linus")
      try await village.expect(204, .delete, "/conversations/\(group)/later", as: "linus")
      #expect(try await listed(village) == [group, other])
    }
  }

  @Test func `a mention, a reply, a direct message and reading on end it`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await village.garden(members: ["grace", "linus"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      let own = try await village.post("which seeds?", in: group, as: "linus")
      let plain = try await village.post("all", in: group, as: "grace")
      for text in ["@linus", "here"] {
        try await putOff(group, village, clock)
        #expect(try await listed(village) == [])
        try await village.post(text, in: group, as: "grace", text == "here" ? ["reply_to": own] : [:])
        #expect(try await listed(village) == [group])
      }
      // A notification from before does not.
      try await putOff(group, village, clock)
      #expect(try await listed(village) == [])
      let counts = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(counts.int("unread.all") == 0)
      try await village.expect(200, .put, "/conversations/\(group)/read", as: "linus", ["message_id": plain])
      #expect(try await listed(village) == [group])

      try await village.post("psst", in: direct, as: "grace")
      try await putOff(direct, village, clock)
      #expect(try await listed(village) == [group])
      try await village.post("hey", in: direct, as: "grace")
      #expect(Set(try await listed(village)) == [group, direct])
    }
  }

  @Test func `new topics and rooms are put off one by one`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      // New topics are those after joining.
      clock.add(1)
      var topics: [String] = []
      for title in ["Seeds", "Roses"] {
        let topic = try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": title, "text": "look"])
        topics.append(try #require(topic["id"]))
      }
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
      try await village.post("hello", in: room, as: "grace")
      try await putOff(room, village, clock)
      try await putOff(topics[0], village, clock)
      let overview = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(overview["data.0.kind"] == "forum" && overview.int("data.0.unread_count") == 0)
      #expect(overview.int("data.0.new_topics") == 1 && overview["data.0.topics.0.id"] == topics[1])
      #expect(overview.isNull("data.0.message"))
    }
  }

  @Test func `marking all as read leaves out what was put off`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await village.garden(members: ["grace", "linus"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let other = try await village.conversation("group", by: "grace", with: ["linus"])
      for conversation in [group, other] { try await village.post("@linus", in: conversation, as: "grace") }
      try await putOff(group, village, clock)
      try await village.expect(204, .put, "/unread/read", as: "linus", ["up_to": "9007199254740991"])
      #expect(try await listed(village) == [])
      clock.add(3 * Self.hour)
      let overview = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(overview.count("data") == 1 && overview["data.0.conversation_id"] == group)
      #expect(overview.int("data.0.mentions") == 1 && overview.int("data.0.unread_count") == 1)
    }
  }

  @Test func `the time lies ahead, at most a year, and the conversation is readable`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      _ = try await village.garden(members: ["grace", "linus"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(group)/later"
      for offset: Int64 in [0, Later.maxDuration + 1] {
        let until = Timestamp.format(Int(clock.read() + offset))
        let refused = try await village.expect(400, .put, path, as: "linus", ["until": until])
        #expect(refused["errors.0.field"] == "until" && refused["errors.0.code"] == "invalid")
      }
      let year = Timestamp.format(Int(clock.read() + Later.maxDuration))
      try await village.expect(200, .put, path, as: "linus", ["until": year])
      try await village.expect(400, .put, path, as: "linus", ["until": "tomorrow"])
      try await village.expect(400, .put, path, as: "linus", [:])
      try await village.expect(404, .put, path, as: "mira", ["until": year])
      try await village.expect(404, .delete, path, as: "mira")
      try await village.expect(401, .put, path, ["until": year])
      try await village.expect(401, .delete, path)
    }
  }
}
