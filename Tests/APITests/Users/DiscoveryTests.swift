import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct DiscoveryTests {
  private static func setAddresses(
    _ addresses: [String], _ name: String, discoverable: Bool = true, in village: Village
  )
    async throws
  {
    let body: [String: Any] = ["addresses": addresses, "discoverable": discoverable]
    #expect(try await village.request(.patch, "/me", as: name, body).status == 200)
  }

  private static func find(_ addresses: [String], as name: String, in village: Village) async throws -> [String] {
    let answer = try await village.request(.post, "/users/discover", as: name, ["addresses": addresses])
    #expect(answer.status == 200, "\(answer.text)")
    return (0..<answer.count("data")).map {
      "\(answer["data.\($0).address"] ?? "") \(answer["data.\($0).user.name"] ?? "")"
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a user that opted in is found by their address in any spelling`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.changeSettings(["discovery": true])
      try await Self.setAddresses(["Linus@Example.org", "+49 30 123456"], "linus", in: village)
      try await Self.setAddresses(["mira@example.org"], "mira", discoverable: false, in: village)
      let asked = ["mira@example.org", "LINUS@example.org", "0049 30/123456", "ada@example.org", "no address", ""]
      for _ in 1...2 {
        #expect(
          try await Self.find(asked, as: "grace", in: village) == ["LINUS@example.org linus", "0049 30/123456 linus"])
      }
      #expect(try await Self.find(["linus@example.org"], as: "linus", in: village) == [])
      let found = try await village.request(
        .post, "/users/discover", as: "grace", ["addresses": ["linus@example.org"]])
      #expect(!found.has("data.0.user.discoverable") && !found.has("data.0.user.state") && found.isNull("next"))
    }
  }

  @Test func `withdrawn, disabled, inactive and blocked users are not found`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["discovery": true])
      let address = ["linus@example.org"]
      try await Self.setAddresses(address, "linus", in: village)
      try await village.request(.patch, "/me", as: "linus", ["discoverable": false])
      #expect(try await Self.find(address, as: "grace", in: village) == [])
      try await village.request(.patch, "/me", as: "linus", ["discoverable": true])
      #expect(try await Self.find(address, as: "grace", in: village).count == 1)
      for (caller, target) in [("grace", "linus"), ("linus", "grace")] {
        try await village.request(.put, "/users/@\(target)/block", as: caller)
        #expect(try await Self.find(address, as: "grace", in: village) == [])
        try await village.request(.delete, "/users/@\(target)/block", as: caller)
      }
      for state in [UserState.disabled, .deactivated] {
        try await village.setState("linus", in: state)
        #expect(try await Self.find(address, as: "grace", in: village) == [])
      }
      try await village.setState("linus", in: .active)
      try await village.request(.patch, "/me", as: "linus", ["addresses": []])
      #expect(try await Self.find(address, as: "grace", in: village) == [])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `addresses are stored as digests only, and equal ones change nothing`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      var changed: Answer?
      let events = try await village.events {
        for addresses in [["grace@example.org", "+15551234567"], ["+1 555 1234567", "GRACE@example.org"]] {
          changed = try await village.request(.patch, "/me", as: "grace", ["addresses": addresses])
        }
      }
      #expect(events == ["preferences.updated user:\(village.id("grace")) #2"] && changed?.int("revision") == 2)
      #expect(changed?.text.lowercased().contains("example.org") == false)
      let key = try await village.community.store.readInBackground { tx throws(Refusal) in try tx.addressKey() }
      #expect(key?.count == 64)
      #expect(try await village.request(.get, "/settings", as: "ada").text.contains(key ?? "") == false)
      let stored = try #require(FileManager.default.enumerator(atPath: village.folder))
      for case let file as String in stored where file.hasSuffix("db") || file.hasSuffix("wal") {
        let bytes = try Data(contentsOf: URL(filePath: village.folder + "/" + file))
        for text in ["grace@example.org", "GRACE@", "5551234567"] {
          #expect(bytes.range(of: Data(text.utf8)) == nil, "\(file)")
        }
      }
      // The key does not change.
      try await Self.setAddresses(["linus@example.org"], "linus", in: village)
      #expect(try await village.community.store.readInBackground { tx throws(Refusal) in try tx.addressKey() } == key)
    }
  }

  @Test(arguments: [
    (["x"], "addresses[0]", "invalid"), (["a@example.org", "b"], "addresses[1]", "invalid"),
    ((1...11).map { "a\($0)@example.org" }, "addresses", "too_many"),
    (["a@exa\u{0}mple.org"], "addresses[0]", "invalid"),
  ])
  func `an invalid address is refused by index`(addresses: [String], field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.request(.patch, "/me", as: "grace", ["addresses": addresses])
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
      #expect(try await village.request(.get, "/me", as: "grace").int("revision") == 1)
    }
  }

  @Test func `only the user manages their addresses`() async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = ["addresses": ["a@example.org"]]
      for caller in ["ada", "mira", "linus"] {
        let answer = try await village.request(.patch, "/users/@grace", as: caller, body)
        #expect(answer.status == 403)
      }
    }
  }

  /// The status with and without the site's permission.
  @Test(arguments: [
    (String?.none, 401, 401), ("gus", 403, 403), ("robo", 403, 403), ("grace", 403, 200), ("mira", 403, 200),
    ("ada", 403, 200),
  ])
  func `discovery is off by default and limited to users`(caller: String?, off: Int, on: Int) async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = ["addresses": ["a@example.org"]]
      #expect(try await village.request(.post, "/users/discover", as: caller, body).status == off)
      try await village.changeSettings(["discovery": true])
      #expect(try await village.request(.post, "/users/discover", as: caller, body).status == on)
    }
  }

  @Test func `discovery requests are limited in size and per day`() async throws {
    var rates = Village.unlimited
    rates.discovery = RateLimits().discovery
    try await Village.open(.inMemory, rates: rates) { village in
      try await village.changeSettings(["discovery": true])
      let many = (0...200).map { "a\($0)@example.org" }
      let refused = try await village.request(.post, "/users/discover", as: "grace", ["addresses": many])
      #expect(refused.status == 400 && refused["errors.0.code"] == "too_many")
      for (body, code) in [
        ([String: Any](), "missing"), (["addresses": "a"], "wrong_type"), (["addresses": [1]], "wrong_type"),
      ] {
        let answer = try await village.request(.post, "/users/discover", as: "grace", body)
        #expect(answer.status == 400 && answer["errors.0.code"] == code)
      }
      for _ in 5...10 { _ = try await Self.find(Array(many.prefix(200)), as: "grace", in: village) }
      let late = try await village.request(.post, "/users/discover", as: "grace", ["addresses": []])
      #expect(late.status == 429 && late.code == "rate_limited")
      #expect((late.int("params.seconds") ?? 0) > 8_000)
      // The limit is per user, and other work is not limited.
      #expect(try await Self.find([], as: "linus", in: village) == [])
      #expect(try await village.request(.patch, "/me", as: "grace", ["bio": "x"]).status == 200)
    }
  }
}
