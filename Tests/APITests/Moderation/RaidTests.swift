import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Fifty users register by one invite and its descendants and flood the site with links, mentions and messages.
@Suite struct RaidTests {
  private static let raiders = 50
  private static let tries = 12

  @Test func `rate limits contain a raid, and two calls clean it up`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings([
        "newcomers": ["messages_per_hour": 6, "links_per_hour": 3, "mentions_per_hour": 3]
      ])
      let room = try await village.garden("garden", "public").room
      let path = "/conversations/\(room)/messages"
      // Regular users past probation, and one invited by the same inviter.
      let regulars = ["grace", "linus"]
      for name in regulars {
        for number in 0..<5 { try await village.post("\(number)", in: room, as: name) }
      }
      try await village.grow(regulars, days: 30)
      let honest = try await village.post("what a day", in: room, as: "grace")
      let since = Timestamp.format(Int(village.community.store.clock()))

      let made = try await village.request(.post, "/invites", as: "linus", [:])
      let (invite, code) = (try #require(made["id"]), try #require(made["code"]))
      let (tokens, ids, codes) = try await village.raid(Self.raiders, by: code)
      var arrived = 0
      var refused: [String: Int] = [:]
      for (number, token) in tokens.enumerated() {
        for attempt in 0..<Self.tries {
          let text = ["https://\(number).example", "@grace look", "spam spam"][attempt % 3]
          let answer = try await village.request(
            .post, path, ["text": text], fields: ["Authorization": "Bearer \(token)"])
          switch answer.status {
          case 201: arrived += 1
          default:
            #expect(answer.code == "newcomer_limited", "\(answer.text)")
            refused[answer["params.limit"] ?? "", default: 0] += 1
          }
        }
        if number % 10 == 0 {
          for name in regulars { try await village.post("what is this? https://\(number).example", in: room, as: name) }
        }
      }
      #expect(arrived == Self.raiders * 6 && refused == ["messages": Self.raiders * (Self.tries - 6)])

      try await village.expect(
        204, .delete, "/invites/\(invite)?descendants=true", as: "mira", ["ban": true, "reason": "A raid."])
      let removed = try await village.expect(
        201, .post, "/removals", as: "mira", ["invite": invite, "since": since, "reason": "A raid."])
      await village.community.store.jobs.run()

      let removal = try await village.expect(200, .get, "/removals/\(try #require(removed["id"]))", as: "mira")
      #expect(removal.int("removed") == arrived && !removal.isNull("finished_at"))
      for (token, id) in zip(tokens, ids) {
        #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
        #expect(try await village.request(.get, "/users/\(id)", as: "mira")["state"] == "disabled")
      }
      for code in codes + [code] { #expect(try await village.request(.get, "/links/\(code)").status == 410) }
      let left = try await village.rows(
        """
        select distinct a.name
        from message m
        join account a on a.id = m.author_id
        where m.deletion is null
        order by a.name
        """)
      #expect(left == regulars)
      // Other users are neither banned nor limited.
      #expect(try await village.request(.get, "/messages/\(honest)")["text"] == "what a day")
      for name in regulars {
        #expect(try await village.request(.get, "/users/@\(name)", as: "mira")["state"] == "active")
        for number in 0..<20 { try await village.post("\(number) https://a.example @mira", in: room, as: name) }
      }
      #expect(try await village.request(.post, "/invites", as: "linus", [:]).status == 201)
      let audit = try await village.expect(200, .get, "/audit?actor=@mira&kind=user.banned&limit=200", as: "ada")
      #expect(audit.count("data") == Self.raiders && audit["data.0.reason"] == "A raid.")
    }
  }

  @Test func `a branch of hundreds is banned by a job, without users above the caller`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.request(.post, "/invites", as: "linus", [:])
      let (invite, code) = (try #require(made["id"]), try #require(made["code"]))
      let (_, ids, _) = try await village.raid(130, by: code)
      try await village.expect(
        200, .patch, "/users/\(ids[0])", as: "ada", ["role": "moderator", "end_sessions": false])
      let path = "/invites/\(invite)?descendants=true"
      for (caller, status) in [("grace", 404), ("linus", 403)] {
        try await village.expect(status, .delete, path, as: caller, ["ban": true])
      }
      try await village.expect(204, .delete, path, as: "mira", ["ban": true])
      await village.community.store.jobs.run()
      let banned = "select cast(count(*) as text) from account where state = 'disabled'"
      #expect(try await village.rows(banned) == ["129"])
      #expect(try await village.request(.get, "/users/\(ids[0])", as: "mira")["state"] == "active")
      #expect(
        try await village.events { try await village.expect(204, .delete, path, as: "mira", ["ban": true]) } == [])
    }
  }
}

extension Village {
  /// Registers `count` users: half by the invite, and each invites one more. Returns tokens, ids and invites.
  fileprivate func raid(_ count: Int, by code: String) async throws -> ([String], [String], [String]) {
    var (tokens, ids, codes): ([String], [String], [String]) = ([], [], [])
    for number in 0..<count {
      let transport = number % 2 == 0 ? code : codes[codes.count - 1]
      let name = "raider\(number)"
      let came = try await request(
        .post, "/users", ["name": name, "password": "\(name)’s password", "invite": transport])
      #expect(came.status == 201, "\(came.text)")
      tokens.append(came["token"] ?? "")
      ids.append(came["user.id"] ?? "")
      if number % 2 == 0 {
        let own = try await request(.post, "/invites", [:], fields: ["Authorization": "Bearer \(tokens[number])"])
        codes.append(own["code"] ?? "")
      }
    }
    return (tokens, ids, codes)
  }

  /// Moves registrations back by `days`.
  fileprivate func grow(_ names: [String], days: Int) async throws {
    let users = names.map { user($0).number }
    try await community.store.write { tx throws(Refusal) in
      try tx.run { connection in
        for user in users {
          try connection.execute(
            "update account set created_at = created_at - $1 where id = $2", days * 86_400_000, user)
        }
      }
    }
  }
}
