import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct RelationTests {
  @Test(arguments: TestTransport.allCases)
  func `follows, mutes and blocks are private, and repeats change nothing`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      for kind in ["follow", "mute", "block"] {
        for (method, path) in [(Method.put, "/users/@linus/\(kind)"), (.delete, "/users/\(linus)/\(kind)")] {
          let events = try await village.events {
            for _ in 1...2 {
              let answer = try await village.request(method, path, as: "grace")
              #expect(answer.status == 204 && answer.body.isEmpty, "\(kind): \(answer.text)")
            }
          }
          #expect(events == ["relation.changed user:\(grace)"], "\(method) \(kind)")
        }
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `relations are listed with users, page by page`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      for name in ["linus", "mira", "ada", "robo"] {
        #expect(try await village.request(.put, "/users/@\(name)/follow", as: "grace").status == 204)
      }
      #expect(try await village.request(.put, "/users/@mira/mute", as: "grace").status == 204)
      #expect(try await village.request(.put, "/users/@robo/block", as: "grace").status == 204)
      var names: [String?] = []
      var next = ""
      repeat {
        let page = try await village.request(.get, "/me/following?limit=1\(next)", as: "grace")
        #expect(page.count("data") == 1)
        names += page.texts("data", "name")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(names == ["ada", "mira", "linus"])
      #expect(try await village.request(.get, "/users/@grace/following", as: "linus").texts("data", "name") == names)
      #expect(try await village.request(.get, "/users/@linus/followers", as: "ada").texts("data", "name") == ["grace"])
      #expect(try await village.request(.get, "/me/muted", as: "grace").texts("data", "name") == ["mira"])
      #expect(try await village.request(.get, "/me/blocked", as: "grace").texts("data", "name") == ["robo"])
      #expect(try await village.request(.get, "/users/me/blocked", as: "mira").count("data") == 0)
      for query in ["limit=0", "limit=201", "limit=x", "next=x", "next=007", "kind=mute"] {
        for list in ["/me/following", "/me/followers", "/me/muted", "/me/blocked"] {
          #expect(try await village.request(.get, "\(list)?\(query)", as: "grace").status == 400, "\(list)?\(query)")
        }
      }
    }
  }

  @Test func `a block ends follows in both directions and prevents new ones`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      try await village.request(.put, "/users/@linus/follow", as: "grace")
      try await village.request(.put, "/users/@grace/follow", as: "linus")
      let events = try await village.events {
        for _ in 1...2 { try await village.request(.put, "/users/@linus/block", as: "grace") }
      }
      #expect(events == ["relation.changed user:\(linus)", "relation.changed user:\(grace)"])
      for caller in ["grace", "linus"] {
        #expect(try await village.request(.get, "/me/following", as: caller).count("data") == 0)
        #expect(try await village.request(.get, "/me/followers", as: caller).count("data") == 0)
      }
      #expect(try await village.request(.put, "/users/@linus/follow", as: "grace").status == 403)
      #expect(try await village.request(.put, "/users/@grace/follow", as: "linus").status == 403)
      #expect(try await village.request(.put, "/users/@grace/block", as: "linus").status == 204)
      try await village.request(.delete, "/users/@linus/block", as: "grace")
      #expect(try await village.request(.put, "/users/@linus/follow", as: "grace").status == 403)
      try await village.request(.delete, "/users/@grace/block", as: "linus")
      #expect(try await village.request(.put, "/users/@linus/follow", as: "grace").status == 204)
    }
  }

  /// Rows: the caller. Columns: follows, mutes, blocks linus; follows themselves; follows a pending user; lists the
  /// users that linus follows, and their own mutes.
  @Test(arguments: [
    (String?.none, [401, 401, 401, 401, 401, 401, 401]), ("gus", [404, 404, 404, 403, 404, 404, 200]),
    ("robo", [204, 204, 204, 403, 404, 200, 200]), ("grace", [204, 204, 204, 403, 404, 200, 200]),
    ("mira", [204, 204, 204, 403, 403, 200, 200]), ("ada", [204, 204, 204, 403, 403, 200, 200]),
  ])
  func `permissions to follow, mute and block`(caller: String?, expected: [Int]) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("wanda")
      try await village.setState("wanda", in: .pending)
      let mine = village.id(caller ?? "ada")
      let calls: [(Method, String)] = [
        (.put, "/users/@linus/follow"), (.put, "/users/@linus/mute"), (.put, "/users/@linus/block"),
        (.put, "/users/\(mine)/follow"), (.put, "/users/\(village.id("wanda"))/follow"),
        (.get, "/users/@linus/following"), (.get, "/me/muted"),
      ]
      var found: [Int] = []
      for (method, path) in calls { found.append(try await village.request(method, path, as: caller).status) }
      #expect(found == expected)
    }
  }

  @Test func `a guest follows users of shared forums and lists only their own relations`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.forum("garden", .private, ["grace", "gus"])
      #expect(try await village.request(.put, "/users/@grace/follow", as: "gus").status == 204)
      #expect(try await village.request(.get, "/me/following", as: "gus").texts("data", "name") == ["grace"])
      #expect(try await village.request(.get, "/users/@grace/followers", as: "gus").status == 403)
      #expect(try await village.request(.get, "/users/@linus/followers", as: "gus").status == 404)
    }
  }

  @Test func `an unknown name can't be followed`() async throws {
    try await Village.open(.inMemory) { village in
      for path in ["/users/@nobody-here", "/users/99999999", "/users/0", "/users/x"] {
        for kind in ["follow", "mute", "block"] {
          for method in [Method.put, .delete] {
            let answer = try await village.request(method, "\(path)/\(kind)", as: "grace")
            #expect(answer.status == 404, "\(method) \(path)/\(kind)")
          }
        }
      }
    }
  }

  @Test func `a disabled user can be muted, and a mute can be removed without access`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .private, ["grace", "gus"])
      #expect(try await village.request(.put, "/users/@grace/mute", as: "gus").status == 204)
      try await village.request(.delete, "/forums/\(forum)/members/@gus", as: "ada")
      #expect(try await village.request(.get, "/users/@grace", as: "gus").status == 404)
      #expect(try await village.request(.delete, "/users/@grace/mute", as: "gus").status == 204)
      try await village.setState("linus", in: .disabled)
      #expect(try await village.request(.put, "/users/@linus/follow", as: "grace").status == 403)
      #expect(try await village.request(.put, "/users/@linus/mute", as: "grace").status == 204)
      #expect(try await village.request(.get, "/me/muted", as: "grace").count("data") == 1)
    }
  }

  @Test func `the number of followed users is limited`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, limit) = (ID<User>(Int(village.id("grace")) ?? 0), village.community.bounds.relations)
      try await village.community.store.write { tx throws(Refusal) in
        var first = 0
        for number in 1...limit {
          let id = tx.nextID()
          if number == 1 { first = id }
        }
        try tx.run { connection in
          try connection.execute(
            """
            with recursive n (id) as (select $1 union all select id + 1 from n where id < $1 + $2 - 1)
            insert into account (id, name, role, state, created_at)
            select id, '', 'member', 'left', 0
            from n
            """, first, limit)
        }
      }
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute(
            """
            insert into relation (user_id, kind, other_id, created_at)
            select $1, 'follow', id, 0
            from account
            where state = 'left'
            """, grace.number)
        }
      }
      let full = try await village.request(.put, "/users/@linus/follow", as: "grace")
      #expect(full.status == 409 && full.code == "too_many" && full.int("params.limit") == limit)
      #expect(try await village.request(.put, "/users/@linus/mute", as: "grace").status == 204)
    }
  }
}
