import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The steps and the remaining data of a departure.
@Suite struct DepartureTests {
  private static func depart(_ user: ID<User>, as state: UserState, in garden: Garden) async throws {
    try await garden.store.write { tx throws(Refusal) in _ = try tx.depart(user, as: state, by: user) }
  }

  private static func count(_ query: SQL, in garden: Garden) async throws -> Int {
    try await garden.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in try connection.first(query) { row in try row.int(0) } ?? -1 }
    }
  }

  private static func execute(_ statement: SQL, in garden: Garden) async throws {
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute(statement) }
    }
  }

  private static func makeMember(_ user: ID<User>, since: Int, _ garden: Garden, role: String = "member")
    async throws
  {
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          "insert into participant (conversation_id, user_id, role, joined_at) values (3, $1, $2, $3)", user.number,
          role, since)
      }
    }
  }

  @Test func `thousands of messages are erased in chunks between other writes`() async throws {
    let garden = try await Garden(jobs: [.departure])
    for first in stride(from: 0, to: 3_000, by: 100) {
      try await garden.store.write { tx throws(Refusal) in
        for number in first..<first + 100 {
          let author = number % 10 == 0 ? Garden.grace : Garden.ada
          _ = try tx.post(
            NewMessage(conversation: Garden.room, author: author, clientID: "m\(number)", text: "seed \(number) #seeds")
          )
        }
      }
    }
    let before = garden.delivered.all.count
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    async let finished: Void = garden.store.jobs.run()
    _ = try await garden.post("still here", by: Garden.grace)
    await finished
    let events = garden.delivered.all.dropFirst(before)
    #expect(events.filter { $0.kind == .messageDeleted }.count == 2_700)
    #expect(events.filter { $0.kind == .userUpdated }.count == 1)
    #expect(try await Self.count("select count(*) from message where deletion = 'erased'", in: garden) == 2_700)
    #expect(try await Self.count("select count(*) from message where deletion is null", in: garden) == 301)
    #expect(
      try await Self.count("select count(*) from message where deletion is null and author_id = 1", in: garden) == 0)
    let job = try #require(
      try await garden.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.first("select state, finished_at, error from job where kind = 'departure'") { row in
            (state: try row.text(0), isFinished: !row.isNull(1), error: try row.optionalText(2))
          }
        }
      })
    let departure = try Departure(json: JSONValue(parsing: Array(job.state.utf8)))
    #expect(job.isFinished && job.error == nil && departure.messages == 2_700)
    #expect(garden.refusals == [])
    await garden.store.close()
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a report made during an erasure keeps no copy`() async throws {
    let garden = try await Garden()
    let reported = try await garden.post("chrysanthemum")
    let answered = try await garden.post("answer", by: Garden.grace)
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    let job = try #require(
      try await garden.store.readInBackground { tx throws(Refusal) in
        try tx.job(.departure, about: Garden.ada.number)
      })
    /// Runs the stages before that of messages.
    while true {
      let state = try await garden.store.write { tx throws(Refusal) in
        let state = try tx.job(job)?.state ?? ""
        if !state.contains(#""stage":"messages""#) { try tx.runChunk(of: job, .departure) }
        return state
      }
      if state.contains(#""stage":"messages""#) { break }
    }
    try await garden.store.write { tx throws(Refusal) in
      for (message, context) in [(reported, answered), (answered, reported)] {
        let author = try tx.state(of: message.id).author
        var report = NewReport(by: nil, of: author, reason: "Rude.")
        (report.message, report.conversation) = (message.id, Garden.room)
        guard let copied = try tx.messages([message.id]).first else { throw .notFound }
        report.attach(copied, context: try tx.messages([context.id]), maxBytes: 10_000)
        _ = try tx.add(report)
      }
    }
    await garden.store.close()
    let again = try await Garden(in: garden.folder, jobs: [.departure])
    await again.store.jobs.run()
    #expect(
      try await Self.count(
        """
        select count(*)
        from report
        where copy like '%chrysanthemum%' or surroundings like '%chrysanthemum%'
        """, in: again) == 0)
    #expect(try await Self.count("select count(*) from report where copy like '%answer%'", in: again) == 1)
    await again.store.close()
  }

  @Test(arguments: ["reports", "actions", "messages"])
  func `an erasure that an older version began erases the messages`(stage: String) async throws {
    let garden = try await Garden()
    _ = try await garden.post("seeds")
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("update job set state = json_set(state, '$.stage', $1)", stage)
      }
    }
    await garden.store.close()
    let again = try await Garden(in: garden.folder, jobs: [.departure])
    await again.store.jobs.run()
    #expect(try await Self.count("select count(*) from message where deletion = 'erased'", in: again) == 1)
    #expect(try await Self.count("select count(*) from job where finished_at is null", in: again) == 0)
    await again.store.close()
  }

  @Test func `an erasure resumes after a restart`() async throws {
    let garden = try await Garden()
    for number in 0..<150 { _ = try await garden.post("seed \(number)", as: "m\(number)") }
    // No kinds of jobs are registered here, so none runs.
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    await garden.store.close()
    let again = try await Garden(in: garden.folder, jobs: [.departure])
    await again.store.jobs.run()
    #expect(try await Self.count("select count(*) from message where deletion = 'erased'", in: again) == 150)
    await again.store.close()
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `earlier texts, files and sealed messages are erased too`() async throws {
    let garden = try await Garden(jobs: [.departure])
    let (edited, removed) = (try await garden.post("one"), try await garden.post("secret"))
    let own = try await garden.post("mine", by: Garden.ada)
    try await garden.store.write { tx throws(Refusal) in
      let (attached, avatar) = (tx.nextID(), tx.nextID())
      try tx.run { connection in
        for file in [attached, avatar] {
          try connection.execute(
            """
            insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
            values ($1, 1, $2, 0, 'a', 'file', 'text/plain', 0)
            """, file, [UInt8](repeating: UInt8(file), count: 32))
        }
        try connection.execute("update account set avatar_file_id = $1 where id = 1", avatar)
      }
      _ = try tx.edit(edited.id, to: MessageText("two"), attachments: [ID(attached)], by: Garden.ada)
      _ = try tx.remove(removed.id, by: Garden.grace, reason: "rude")
      _ = try tx.delete(own.id, by: Garden.ada)
    }
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    await garden.store.jobs.run()
    for table in ["revision", "sealed", "attachment", "sealed_attachment"] {
      #expect(try await Self.count(SQL("select count(*) from \(table)"), in: garden) == 0, "\(table)")
    }
    #expect(try await Self.count("select count(*) from file where unused_since is null", in: garden) == 0)
    #expect(try await Self.count("select count(*) from message where deletion = 'erased'", in: garden) == 1)
    #expect(try await Self.count("select count(*) from message where deletion is null", in: garden) == 0)
    await garden.store.close()
    let faults = try Garden.faults(in: garden.folder, besides: "files")
    #expect(faults == [], "\(faults)")
  }

  @Test(arguments: [UserState.left, .erased])
  func `no data owned by the user is left`(state: UserState) async throws {
    let garden = try await Garden(jobs: [.departure])
    let message = try await garden.post("seeds", by: Garden.grace)
    try await Self.makeMember(Garden.ada, since: 1, garden)
    try await garden.store.write { tx throws(Refusal) in
      try tx.set(.mute, of: Garden.ada, to: Garden.grace)
      try tx.set(.block, of: Garden.grace, to: Garden.ada)
      try tx.storeAddressKey("key")
      try tx.setAddresses([[1, 2, 3]], of: Garden.ada)
      try tx.addLink(.reset, for: Garden.ada, digest: [9])
      _ = try tx.add(NewSession(user: Garden.ada, kind: .token, digest: [8], name: "t", scope: .read))
      try tx.run { connection in
        try connection.execute(
          "insert into read_position (user_id, conversation_id, read_seq, delivered_seq) values (1, 3, 1, 1)")
        try connection.execute("insert into level (user_id, scope_id, level) values (1, 3, 'nothing')")
        try connection.execute(
          """
          insert into command_invocation (id, command_id, name, bot_id, user_id, conversation_id, digest, state, created_at)
          values (70, 1, 'weather', 2, 1, 3, x'01', 'delivered', 0)
          """)
        try connection.execute(
          """
          insert into command_reply (id, invocation_id, visible_to, text, created_at)
          values (71, 70, 'caller', 'rain', 0)
          """)
        try connection.execute(
          "insert into later (user_id, conversation_id, until, read_seq, notification_id) values (1, 3, 9, 0, 0)")
        try connection.execute(
          "insert into notification (id, user_id, kind, created_at) values ($1, 1, 'mention', 0)", message.id.number)
        for type in ["star", "like"] {
          try connection.execute(
            """
            insert into action (message_id, type, user_id, created_at, message_at)
            select id, $1, 1, 0, created_at from message where id = $2
            """, type, message.id.number)
        }
      }
    }
    let before = garden.delivered.all.count
    try await Self.depart(Garden.ada, as: state, in: garden)
    await garden.store.jobs.run()
    for table in [
      "relation", "address", "link", "session", "read_position", "level", "later", "notification", "participant",
      "command_invocation", "command_reply",
    ] {
      #expect(try await Self.count(SQL("select count(*) from \(table)"), in: garden) == 0, "\(table)")
    }
    // Actions visible to other users stay with their messages, except after an erasure.
    #expect(try await Self.count("select count(*) from action", in: garden) == (state == .left ? 1 : 0))
    let expected: [Event.Kind] =
      [.userUpdated, .relationChanged, .participantLeft, .conversationRemoved, .conversationRemoved]
      + (state == .left ? [] : [.actionRemoved])
    let events = garden.delivered.all.dropFirst(before)
    #expect(events.map(\.kind) == expected)
    #expect(events.dropFirst().first?.stream == .user(Garden.grace))
    await garden.store.close()
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `many related users are notified, each once`() async throws {
    let garden = try await Garden(jobs: [.departure])
    try await Self.execute(
      """
      with recursive n (id) as (select 1000 union all select id + 1 from n where id < 1999)
      insert into account (id, name, name_key, role, state, created_at)
      select id, 'n' || id, 'n' || id, 'member', 'active', 0
      from n
      """, in: garden)
    for kind in ["follow", "mute"] {
      try await garden.store.write { tx throws(Refusal) in
        try tx.run { connection in
          for columns in ["id, $1, 1", "1, $1, id"] {
            try connection.execute(
              SQL(
                """
                insert into relation (user_id, kind, other_id, created_at)
                select \(columns), 0
                from account
                where id >= 1000
                """), kind)
          }
        }
      }
    }
    let before = garden.delivered.all.count
    try await Self.depart(Garden.ada, as: .left, in: garden)
    await garden.store.jobs.run()
    #expect(try await Self.count("select count(*) from relation", in: garden) == 0)
    let notifications = garden.delivered.all.dropFirst(before).filter { $0.kind == .relationChanged }
    #expect(notifications.count == 1_000 && Set(notifications.map(\.stream)).count == 1_000)
    await garden.store.close()
  }

  @Test func `the longest member becomes admin after the last admin left`() async throws {
    let garden = try await Garden(jobs: [.departure])
    try await Self.execute(
      """
      insert into account (id, name, name_key, role, state, created_at)
      values (50, 'linus', 'linus', 'member', 'active', 0), (51, 'mira', 'mira', 'member', 'active', 0)
      """, in: garden)
    try await Self.makeMember(Garden.ada, since: 1, garden, role: "admin")
    try await Self.makeMember(ID(50), since: 2, garden, role: "reader")
    try await Self.makeMember(Garden.grace, since: 4, garden)
    try await Self.makeMember(ID(51), since: 3, garden)
    let before = garden.delivered.all.count
    try await Self.depart(Garden.ada, as: .left, in: garden)
    await garden.store.jobs.run()
    let events = garden.delivered.all.dropFirst(before)
    #expect(events.map(\.kind) == [.userUpdated, .participantLeft, .conversationRemoved, .participantChanged])
    #expect(events.last?.subject == 51)
    #expect(try await Self.count("select user_id from participant where role = 'admin'", in: garden) == 51)
    await garden.store.close()
  }

  @Test func `a message with many rows is a chunk of its own`() async throws {
    let garden = try await Garden(jobs: [.departure])
    for number in 0..<6 {
      var text = MessageText("seed \(number)")
      text.hashtags = (0..<2_500).map { "t\($0)" }
      let seed = NewMessage(conversation: Garden.room, author: Garden.ada, text: text)
      try await garden.store.write { tx throws(Refusal) in _ = try tx.post(seed) }
    }
    try await Self.depart(Garden.ada, as: .erased, in: garden)
    await garden.store.jobs.run()
    #expect(try await Self.count("select count(*) from message where deletion = 'erased'", in: garden) == 6)
    #expect(garden.refusals == [])
    await garden.store.close()
  }
}
