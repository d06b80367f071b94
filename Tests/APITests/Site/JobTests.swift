import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Progress of jobs.
@Suite struct JobTests {
  @Test(arguments: TestTransport.allCases)
  func `deleting a forum returns its erasure job with progress`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      try await village.post("x", in: room)
      let first = try await village.expect(200, .delete, "/forums/\(forum)", as: "ada")
      let id = try #require(first["job_id"])
      #expect(try await village.request(.delete, "/forums/\(forum)", as: "ada").body == first.body)
      await village.community.store.jobs.run()
      #expect(try await village.request(.delete, "/forums/\(forum)", as: "ada").body == first.body)
      let done = try await village.expect(200, .get, "/jobs/\(id)", as: "ada")
      #expect(done["id"] == id && done["kind"] == "forum.erasure" && done["state"] == "finished")
      #expect(done.int("progress") == 1 && done.isNull("error") && done["finished_at"] != nil)
      for name in ["grace", "mira", "gus", "robo"] { try await village.expect(404, .get, "/jobs/\(id)", as: name) }
      try await village.expect(401, .get, "/jobs/\(id)")
      for wrong in ["99999999", forum, "x"] { try await village.expect(404, .get, "/jobs/\(wrong)", as: "ada") }
    }
  }

  @Test func `leaving returns a job that staff can read`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let body: [String: Any] = ["how": "leave", "reason": "spam"]
      let sent = try await village.expect(200, .delete, "/users/\(village.id("grace"))", as: "alma", body)
      let id = try #require(sent["job_id"])
      #expect(try await village.request(.delete, "/users/\(village.id("grace"))", as: "alma", body)["job_id"] == id)
      await village.community.store.jobs.run()
      for name in ["alma", "ada"] {
        let job = try await village.expect(200, .get, "/jobs/\(id)", as: name)
        #expect(job["kind"] == "departure" && job["state"] == "finished")
      }
      let away = try await village.expect(
        200, .delete, "/users/@linus", as: "alma", ["how": "deactivate", "reason": "x"])
      #expect(away.isNull("job_id"))
      // A former admin sees only their own jobs.
      _ = try await village.request(.patch, "/users/@alma", as: "ada", ["role": "member", "end_sessions": false])
      try await village.expect(200, .get, "/jobs/\(id)", as: "alma")
      let other = try await village.expect(200, .delete, "/users/@robo", as: "ada", body)
      try await village.expect(404, .get, "/jobs/\(other["job_id"] ?? "")", as: "alma")
    }
  }

  @Test func `narrowing a forum returns the job that removes access`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "members").forum
      let wider = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["visibility": "public"])
      #expect(wider.status == 200 && !wider.has("job_id"))
      let narrow = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      let job = try await village.expect(200, .get, "/jobs/\(narrow["job_id"] ?? "")", as: "ada")
      #expect(job["kind"] == "forum.losses")
      #expect(try ForumView(json: JSONValue(parsing: narrow.body)).job != nil)
    }
  }

  /// The progress of a job in a given state.
  private func progress(_ kind: JobKind, _ state: String, in village: Village) async throws -> Double {
    let job = StoredJob(
      id: ID(1), kind: kind.name, subject: nil, startedBy: nil, startedAt: 0, state: state, finishedAt: nil, error: nil)
    return try await village.community.store.readInBackground { tx throws(Refusal) in try kind.progress(of: job, tx) }
  }

  @Test func `progress runs from zero to one`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let topic = try await village.topic("roses", in: forum)
      var ids: [String] = []
      for number in 1...4 { ids.append(try await village.post("\(number)", in: room, as: "grace")) }
      func erasure(_ conversation: String, _ seq: Int) -> String {
        #"{"forum":"\#(forum)","actor":"1","conversation":\#(conversation),"seq":\#(seq)}"#
      }
      for (conversation, seq, share) in [("0", 0, 0), (room, 1, 0.125), (room, 4, 0.5), (room, 0, 0.5), (topic, 0, 1)] {
        #expect(try await progress(.forumErasure, erasure(conversation, seq), in: village) == share)
      }
      func losses(_ conversation: String, _ user: Int) -> String {
        #"{"forum":"\#(forum)","actor":"1","conversation":\#(conversation),"account":\#(user)}"#
      }
      for (conversation, user, share) in [("0", 0, 0), (room, 7, 0), (room, 0, 0.5), (topic, 7, 0.5), (topic, 0, 1)] {
        #expect(try await progress(.forumLosses, losses(conversation, user), in: village) == share)
      }
      func departure(_ stage: String, _ isErasure: Bool, _ last: String = "0", _ count: Int = 0) -> String {
        #"{"account":"\#(village.id("grace"))","actor":"1","erasure":\#(isErasure),"stage":"\#(stage)","#
          + #""last_message":\#(last),"messages":\#(count)}"#
      }
      #expect(try await progress(.departure, departure("relations", false), in: village) == 0)
      #expect(try await progress(.departure, departure("notes", false), in: village) == 0.75)
      #expect(try await progress(.departure, departure("forums", true), in: village) == 2.0 / 7)
      #expect(try await progress(.departure, departure("messages", true), in: village) == 5.0 / 7)
      #expect(try await progress(.departure, departure("messages", true, ids[1], 2), in: village) == 5.5 / 7)
      await #expect(throws: Refusal.unavailable) { try await progress(.departure, "{}", in: village) }
    }
  }

  @Test func `a failed job reports its error`() async throws {
    try await Village.open(.inMemory) { village in
      let ada = village.user("ada")
      let (open, failed) = try await village.community.store.write { tx throws(Refusal) in
        let open = try tx.startJob(kind: "strange", by: ada, state: 7)
        let failed = try tx.startJob(kind: "strange", by: ada, state: 7)
        try tx.endJob(failed, with: .conflict)
        return (open, failed)
      }
      let running = try await village.expect(200, .get, "/jobs/\(open)", as: "ada")
      #expect(running["state"] == "running" && running.int("progress") == 0 && running.isNull("finished_at"))
      let ended = try await village.expect(200, .get, "/jobs/\(failed)", as: "ada")
      #expect(ended["state"] == "failed" && ended["error"] == "conflict" && ended.int("progress") == 0)
    }
  }
}
