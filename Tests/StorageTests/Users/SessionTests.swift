import ParleyModel
import Testing

@testable import Storage

struct SessionTests {
  private static let day: Int64 = 86_400

  private static func add(_ kind: Session.Kind, _ garden: Garden) async throws -> (id: ID<Session>, digest: [UInt8]) {
    let digest = [UInt8](repeating: kind == .token ? 1 : 2, count: 32)
    let session = NewSession(user: Garden.ada, kind: kind, digest: digest, name: "laptop", scope: .admin)
    return (try await garden.store.write { tx throws(Refusal) in try tx.add(session) }, digest)
  }

  private static func isOpen(_ digest: [UInt8], _ garden: Garden) throws -> Bool {
    try garden.store.reader().read { tx throws(Refusal) in try tx.session(withDigest: digest) != nil }
  }

  private static func lastSeen(_ garden: Garden) throws -> Int? {
    try garden.store.reader().read { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first("select last_seen_at from account where id = 1") { row in try row.optionalInt(0) } ?? nil
      }
    }
  }

  @Test func `a session ends after 90 days without use, and each use extends it`() async throws {
    let garden = try await Garden()
    let (id, digest) = try await Self.add(.session, garden)
    let (_, token) = try await Self.add(.token, garden)
    garden.clock.pass(seconds: 89 * Self.day)
    #expect(try Self.isOpen(digest, garden))
    try await garden.store.write { tx throws(Refusal) in try tx.touch(id, of: Garden.ada) }
    garden.clock.pass(seconds: 89 * Self.day)
    #expect(try Self.isOpen(digest, garden))
    garden.clock.pass(seconds: Self.day)
    #expect(try !Self.isOpen(digest, garden))
    #expect(try Self.isOpen(token, garden), "tokens of programs do not end by themselves")
    await Housekeeping(garden.store).tick()
    let left = try garden.store.reader().read { tx throws(Refusal) in
      (try tx.sessionCount(.session, of: Garden.ada), try tx.sessionCount(.token, of: Garden.ada))
    }
    #expect(left == (0, 1))
    await garden.store.close()
  }

  @Test func `a user is seen at the sign-in and at the first use of a token`() async throws {
    let garden = try await Garden()
    let (id, digest) = try await Self.add(.token, garden)
    #expect(try Self.lastSeen(garden) == nil)
    let known = try garden.store.reader().read { tx throws(Refusal) in try tx.session(withDigest: digest) }
    #expect(known?.id == id && known?.lastUsedAt == nil, "so the first request records the use")
    _ = try await Self.add(.session, garden)
    #expect(try Self.lastSeen(garden) == Int(garden.clock.now))
    await garden.store.close()
  }
}
