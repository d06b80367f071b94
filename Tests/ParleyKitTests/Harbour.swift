import Crypto
import Foundation
import Model
import Networking
import ParleyKit
import ParleyTransport
import Serving
import Synchronization
import Testing
import Web

@testable import API
@testable import Community
@testable import Storage

/// A real server at a socket, with people in it, for clients that come over the network.
final class Harbour: Sendable {
  let community: Community
  private let server: Server
  private let folder: String
  private let tokens: Mutex<[String: String]> = Mutex([:])

  private static let migrations = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations/sqlite").path
  private static let clock = Atomic<Int>(1_800_000_000_000)

  /// Runs a test in a harbour of ada, who owns it, grace and linus.
  static func open(_ body: (Harbour) async throws -> Void) async throws {
    let harbour = try await Harbour()
    do {
      for (name, role) in [("ada", Role.owner), ("grace", .member), ("linus", .member)] {
        try await harbour.settle(name, role)
      }
      try await body(harbour)
    } catch {
      await harbour.close()
      throw error
    }
    await harbour.close()
  }

  private init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parley-harbour-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    Signals.ignoreBrokenPipes()
    let publisher = API.publisher()
    let store = try Store(
      try DataFolder(folder), migrations: Self.migrations, jobs: Community.jobs,
      clock: { Int64(Self.clock.add(1, ordering: .relaxed).newValue) }, deliver: { publisher.take($0) })
    community = Community(
      store, publisher: publisher, passwordCost: Scrypt(cost: 16, blockSize: 1, parallelism: 1))
    let endless = Allowance(burst: 1_000_000, perMinute: 60_000)
    var rates = RateLimits()
    (rates.login, rates.sending, rates.writing) = (endless, endless, endless)
    let api = API(community, release: API.Release(version: "1.2.3", web: "w", leastClient: "1.0"), rates: rates)
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    server = try Server(
      .init(endpoints: [.init(socket)], loops: 2),
      site: Site(router: Router { routes in api.add(to: &routes) }, limits: Limits()), complain: { _ in })
    try await server.start()
  }

  private func settle(_ name: String, _ role: Role) async throws {
    let password = try await community.passwords.hash("password of \(name)")
    let secret = try Secret.make()
    try await community.store.write { tx throws(Refusal) in
      let id = try tx.add(NewAccount(name: name, role: role, password: password))
      _ = try tx.add(NewSession(account: id, kind: .session, digest: secret.digest, name: "test", scope: .admin))
    }
    tokens.withLock { $0[name] = secret.text }
  }

  private func close() async {
    community.hub.close()
    await server.stop(within: 1)
    await community.store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  var port: UInt16 { server.addresses[0].port ?? 0 }
  func token(_ name: String) -> String? { tokens.withLock { $0[name] } }

  /// Somebody's calls; nobody's without a name.
  func client(_ name: String? = nil, _ transport: (any Transport)? = nil) throws -> Client {
    let address = try #require(ServerAddress("http://127.0.0.1:\(port)"))
    let transport = try transport ?? NetworkTransport()
    return Client(address, over: transport, token: name.flatMap(token), retrying: .never)
  }

  /// A forum that ada made; its room.
  func room() async throws -> ID<Conversation> {
    let forum = try await client("ada").send(
      .createForum { json in
        json.field("title", "garden")
        json.field("visibility", "public")
      })
    return forum.value.forum.room
  }
}
