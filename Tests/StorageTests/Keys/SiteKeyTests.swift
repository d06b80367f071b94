import Foundation
import ParleyCrypto
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct SiteKeyTests {
  private static func folder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "parley-site-key-\(UUID())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  @Test func `the key is made once, for its owner alone`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try SiteKey.read(folder) == nil)
    let key = try SiteKey.load(folder) { _ in Issue.record() }
    #expect(try SiteKey.load(folder) { _ in Issue.record() } == key)
    #expect(try SiteKey.read(folder) == key)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/site.key")
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["site.key"])
  }

  @Test func `an imported key replaces the one that is there`() async throws {
    let garden = try await Garden()
    let key = try Ed25519()
    #expect(garden.store.siteKey != key)
    await garden.store.close()
    let folder = try DataFolder(garden.folder)
    try SiteKey.replace(in: folder, by: key)
    folder.release()
    let again = try await Garden(in: garden.folder)
    #expect(again.store.siteKey == key)
    await again.store.close()
  }

  @Test func `secrets.key is not imported`() async throws {
    let garden = try await Garden()
    await garden.store.close()
    let text = try String(contentsOfFile: "\(garden.folder)/secrets.key", encoding: .utf8)
    let key = try Ed25519(secret: try #require(Hex.bytes(String(text.dropLast()))))
    let folder = try DataFolder(garden.folder)
    defer { folder.release() }
    #expect(throws: StoreFault.self) { try SiteKey.replace(in: folder, by: key) }
    #expect(try SiteKey.read(garden.folder) == garden.store.siteKey)
  }

  @Test func `a new key on a site with a chain is named in the log`() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lines = Mutex<[String]>([])
    func start(_ body: (Store) async throws -> Void = { _ in }) async throws {
      let store = try Store(
        try DataFolder(folder), migrations: Checkout.migrations, clock: { 5 },
        log: { line in lines.withLock { if line.contains("site.key") { $0.append(line) } } })
      try await body(store)
      await store.close()
    }
    try await start()
    try FileManager.default.removeItem(atPath: "\(folder)/site.key")
    // Nothing is signed with this key.
    try await start { store in
      try await store.write { tx throws(Refusal) in
        let user = try tx.add(NewUser(name: "ada", role: .owner))
        let room = try tx.add(NewConversation(.group), by: user)
        _ = try tx.post(NewMessage(conversation: room, author: user, text: "Hello"))
      }
    }
    #expect(lines.withLock { $0 } == [])
    try FileManager.default.removeItem(atPath: "\(folder)/site.key")
    for _ in 1...2 { try await start() }
    #expect(lines.withLock { $0.count } == 1)
  }

  @Test(arguments: ["", "00\n", String(repeating: "z", count: 64) + "\n", String(repeating: "0", count: 66) + "\n"])
  func `something else than a key stops the start and stays`(text: String) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try text.write(toFile: "\(folder)/site.key", atomically: false, encoding: .utf8)
    do {
      _ = try SiteKey.load(folder) { _ in }
      Issue.record("it was taken")
    } catch { #expect(error.description.contains("64 hexadecimal digits")) }
    #expect(try String(contentsOfFile: "\(folder)/site.key", encoding: .utf8) == text)
  }
}
