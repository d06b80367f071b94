import Foundation
import ParleyCrypto
import ParleyModel
import Synchronization
import TestSupport
import Testing
import Web

@testable import API
@testable import Community
@testable import Storage

/// A site with ada as the owner, grace and linus, in a temporary folder, without a transport.
final class TestSite: Sendable {
  let community: Community
  let application: Application
  private let folder: Folder
  private let users = Mutex<[String: (id: ID<User>, token: String)]>([:])

  private static let migrations = Checkout.migrations
  private static let clock = Atomic<Int>(1_800_000_000_000)

  static let ticking: @Sendable () -> Int64 = { Int64(clock.add(1, ordering: .relaxed).newValue) }

  static func open(_ body: (TestSite) async throws -> Void) async throws {
    let testSite = try TestSite()
    do {
      for (name, role) in [("ada", Role.owner), ("grace", .member), ("linus", .member)] {
        try await testSite.addUser(name, role)
      }
      try await body(testSite)
    } catch {
      await testSite.close()
      throw error
    }
    await testSite.close()
  }

  private init() throws {
    folder = try Folder()
    try MigratedDatabase.copy(to: folder.path)
    let publisher = API.publisher()
    let store = try Store(
      try DataFolder(folder.path), migrations: Self.migrations, jobs: Community.jobs, clock: Self.ticking,
      deliver: { publisher.enqueue($0) })
    community = Community(
      store, publisher: publisher, passwordCost: Scrypt(cost: 16, blockSize: 1, parallelism: 1))
    let endless = Allowance(burst: 1_000_000, perMinute: 60_000)
    var rates = RateLimits()
    (rates.login, rates.sending, rates.writing) = (endless, endless, endless)
    let api = API(community, release: API.Release(version: "1.2.3", web: "w", minClient: "1.0"), rates: rates)
    application = Application(router: Router { routes in api.add(to: &routes) }, limits: Limits())
  }

  private func addUser(_ name: String, _ role: Role) async throws {
    let password = try await community.passwords.hash("password of \(name)")
    let secret = try Secret.make()
    let id = try await community.store.write { tx throws(Refusal) in
      let id = try tx.add(NewUser(name: name, role: role, password: password))
      _ = try tx.add(NewSession(user: id, kind: .session, digest: secret.digest, name: "test", scope: .admin))
      return id
    }
    users.withLock { $0[name] = (id, secret.text) }
  }

  private func close() async {
    community.hub.close()
    await community.store.close()
    folder.remove()
  }

  func id(_ name: String) -> ID<User> { users.withLock { $0[name]?.id ?? ID(0) } }

  func token(_ name: String) -> String? { users.withLock { $0[name]?.token } }
}
