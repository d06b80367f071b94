import Foundation
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit
@testable import ParleyTransport

/// Signing in and resuming in one call, at the daemon.
@Suite struct DeviceTests {
  @Test func `one call signs in, and one resumes`() async throws {
    try await Daemon.run { daemon in
      let folder = try Folder()
      defer { folder.remove() }
      let kept = Mutex<[String: String]>([:])
      let notes = KeyValueStore(
        read: { name in kept.withLock { $0[name] } }, write: { name, value in kept.withLock { $0[name] = value } })
      var device = Parley.Device(
        over: try NetworkTransport(), credentials: notes,
        clock: Outbox.Clock { Int64(Date().timeIntervalSince1970 * 1_000) }, cache: folder.path + "/cache.db"
      ) { file in FileSource(name: file.name, bytes: []) }
      let server = try #require(ServerAddress(daemon.url))
      #expect(try await Parley.resume(on: device) == nil)
      await #expect(throws: ClientFault.self) {
        try await Parley.signIn(server, "ada", password: "not this one", on: device)
      }
      #expect(kept.withLock { $0["token"] } == nil)

      let parley = try await Parley.signIn(server, "ada", password: Daemon.password, on: device)
      for await state in await parley.states() where state == .live { break }
      let room = try await parley.client.send(.createForum(title: "Garden", visibility: .public)).forum.room
      await parley.stop()

      // Simulates another process: the file of the cache is in use here.
      device.cache = folder.path + "/again.db"

      let resumed = try #require(try await Parley.resume(on: device))
      for await state in await resumed.states() where state == .live { break }
      #expect(await resumed.cache.replica.me?.summary.name == "ada")
      try await resumed.outbox.send(Draft("hello"), in: room)
      try await wait { await resumed.outbox.list().isEmpty }
      let last = try await resumed.client.send(.listMessages(in: room, limit: 1)).elements.first
      #expect(last?.message.content?.text == "hello")
      try await resumed.signOut()
      #expect(kept.withLock { $0["token"] } == nil)
      #expect(try await Parley.resume(on: device) == nil)
    }
  }

  @Test func `AN-08: the standard device has the default session, and another folder another session`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let server = try #require(ServerAddress("http://127.0.0.1:\(site.port)"))
      try await StandardFolder.$replacement.withValue(folder.path + "/a/b") {
        #expect(try await Parley.resume() == nil)
        let ada = try await Parley.signIn(to: server, as: "ada", password: "password of ada")
        // Another session at the same time.
        let device = try Parley.Device.standard(in: folder.path + "/grace")
        let grace = try await Parley.signIn(server, "grace", password: "password of grace", on: device)
        for parley in [ada, grace] { for await state in await parley.states() where state == .live { break } }
        #expect(await ada.cache.owner == site.id("ada"))
        #expect(await grace.cache.owner == site.id("grace"))
        for parley in [ada, grace] { try await parley.signOut() }
      }
      let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/a/b")[.posixPermissions] as? Int
      #expect(mode == 0o700)
    }
  }

  @Test func `the standard folder is that of the program in the user's data`() {
    func path(_ variables: [String: String]) -> String? { StandardFolder.path(of: "chat") { variables[$0] } }
    #expect(path(["XDG_DATA_HOME": "/data", "HOME": "/home/ada"]) == "/data/chat")
    #expect(path(["XDG_DATA_HOME": "data", "HOME": "/home/ada"]) == "/home/ada/.local/share/chat")
    #expect(path(["HOME": "/home/ada"]) == "/home/ada/.local/share/chat")
    #expect(path([:]) == nil && path(["HOME": "home"]) == nil)
  }

  private struct Notes: Sendable {
    private final class Kept: Sendable { let values = Mutex<[String: String]>([:]) }
    private let kept = Kept()

    subscript(_ name: String) -> String? { kept.values.withLock { $0[name] } }

    var store: KeyValueStore {
      KeyValueStore(
        read: { [kept] name in kept.values.withLock { $0[name] } },
        write: { [kept] name, value in kept.values.withLock { $0[name] = value } })
    }
  }

  private static func device(_ transport: any Transport, _ notes: Notes, cache: String) -> Parley.Device {
    Parley.Device(
      over: transport, credentials: notes.store,
      clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
      cache: cache
    ) { file in FileSource(name: file.name, bytes: []) }
  }

  private static func sessionCount(of name: String, _ site: SocketSite) async throws -> Int {
    try await site.client(name).send(.listSessions()).elements.count
  }

  private static func signIn(_ name: String, _ site: SocketSite, on device: Parley.Device) async throws -> Parley {
    let server = try #require(ServerAddress("http://127.0.0.1:\(site.port)"))
    return try await Parley.signIn(server, name, password: "password of \(name)", on: device)
  }

  @Test func `a network that fails after the answer to a sign-in leaves a session that is resumed`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let notes = Notes()
      let file = folder.path + "/cache.db"
      do {
        let parley = try await Self.signIn(
          "grace", site, on: Self.device(try NetworkTransport(), notes, cache: file))
        for await state in await parley.states() where state == .live { break }
        await parley.stop()
        await parley.cache.close()
      }
      let network = try CuttableTransport()
      let transport = HookedTransport(network)
      transport.set { request in if request.hasPrefix("POST") { network.cut() } }
      let before = try await Self.sessionCount(of: "grace", site)
      let first = notes["token"]
      let parley = try await Self.signIn("grace", site, on: Self.device(transport, notes, cache: file))
      #expect(try await Self.sessionCount(of: "grace", site) == before + 1)
      #expect(notes["token"] == parley.client.token && notes["token"] != first)
      transport.set { _ in }
      network.restore()
      await parley.networkAvailable()
      for await state in await parley.states() where state == .live { break }
      await parley.stop()
    }
  }

  @Test func `another user's sign-in erases the copy without a further request`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let notes = Notes()
      let file = folder.path + "/cache.db"
      do {
        let parley = try await Self.signIn(
          "grace", site, on: Self.device(try NetworkTransport(), notes, cache: file))
        for await state in await parley.states() where state == .live { break }
        await parley.stop()
        await parley.cache.close()
      }
      let network = try CuttableTransport()
      let transport = HookedTransport(network)
      transport.set { request in if request.hasPrefix("POST") { network.cut() } }
      let parley = try await Self.signIn("ada", site, on: Self.device(transport, notes, cache: file))
      #expect(await parley.cache.replica.me == nil)
      transport.set { _ in }
      network.restore()
      await parley.networkAvailable()
      for await state in await parley.states() where state == .live { break }
      #expect(await parley.cache.replica.me?.summary.id == site.id("ada"))
      await parley.stop()
    }
  }

  @Test func `a cache that can't be opened leaves no session`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let notes = Notes()
      let before = try await Self.sessionCount(of: "grace", site)
      let device = Self.device(try NetworkTransport(), notes, cache: folder.path + "/no/cache.db")
      await #expect(throws: CacheFault.self) { try await Self.signIn("grace", site, on: device) }
      #expect(try await Self.sessionCount(of: "grace", site) == before)
      #expect(notes["token"] == nil)
    }
  }

  @Test func `the token of a revoked session is removed`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let notes = Notes()
      let device = Self.device(try NetworkTransport(), notes, cache: folder.path + "/cache.db")
      let parley = try await Self.signIn("grace", site, on: device)
      for await state in await parley.states() where state == .live { break }
      let session = try await parley.client.send(.listSessions()).elements.first { $0.isCurrent }
      try await site.client("grace").send(.revokeSession(try #require(session).id.description))
      for await state in await parley.states() where state == .signedOut { break }
      #expect(parley.client.token == nil && notes["token"] == nil)
      #expect(try await Parley.resume(on: device) == nil)
    }
  }

  @Test func `a file of a credential is readable by its owner alone`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/credential"
    let file = CredentialFile(path)
    #expect(try file.load() == nil)
    let server = try #require(ServerAddress("https://chat.example:8443"))
    for token in ["first", "second"] {
      // A crash may leave the draft of a file.
      try Data("half".utf8).write(to: URL(filePath: path + ".new"))
      try file.save(StoredCredential(server, token: token))
      #expect(try file.load() == StoredCredential(server, token: token))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
    file.remove()
    file.remove()
    #expect(try file.load() == nil)
    try Data("no JSON".utf8).write(to: URL(filePath: path))
    #expect(try file.load() == nil)
    let missing = CredentialFile(folder.path + "/missing/credential")
    #expect(throws: CacheFault.self) { try missing.save(StoredCredential(server, token: "t")) }
  }

  private struct FullStore: CredentialStore {
    func load() -> StoredCredential? { nil }
    func save(_ credential: StoredCredential) throws(CacheFault) { throw .broken("full") }
    func remove() {}
  }

  @Test func `a sign-in whose credential can't be stored leaves no session`() async throws {
    try await SocketSite.open { site in
      var device = Self.device(try NetworkTransport(), Notes(), cache: "")
      (device.cache, device.credentials) = (nil, FullStore())
      let before = try await Self.sessionCount(of: "grace", site)
      await #expect(throws: CacheFault.broken("full")) { try await Self.signIn("grace", site, on: device) }
      #expect(try await Self.sessionCount(of: "grace", site) == before)
    }
  }
}
