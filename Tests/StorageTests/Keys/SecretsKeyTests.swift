import Foundation
import ParleyCrypto
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct SecretsKeyTests {
  private static func folder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "parley-key-\(UUID())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  @Test func `the key is made once, for its owner alone`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let sealed = try SecretsKey.load(folder) { _ in Issue.record() }.seal([1, 2], for: "x")
    #expect(try SecretsKey.load(folder) { _ in Issue.record() }.open(sealed, for: "x") == [1, 2])
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/secrets.key")
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secrets.key"])
  }

  @Test func `a rest of an interrupted start is replaced`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "ab".write(toFile: "\(folder)/secrets.key.part", atomically: false, encoding: .utf8)
    _ = try SecretsKey.load(folder) { _ in }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secrets.key"])
  }

  @Test func `a key that others can read is named in the log`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try SecretsKey.load(folder) { _ in }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/secrets.key")
    var lines: [String] = []
    _ = try SecretsKey.load(folder) { lines.append($0) }
    #expect(lines.count == 1 && lines[0].contains("chmod 600"))
  }

  @Test(arguments: [
    "", "\n", "00\n", String(repeating: "0", count: 64), String(repeating: "z", count: 64) + "\n",
    String(repeating: "0", count: 66) + "\n", String(repeating: "0", count: 64) + "\n\n",
  ])
  func `something else than a key stops the start and stays`(text: String) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try text.write(toFile: "\(folder)/secrets.key", atomically: false, encoding: .utf8)
    do {
      _ = try SecretsKey.load(folder) { _ in }
      Issue.record("it was taken")
    } catch { #expect(error.description.contains("64 hexadecimal digits")) }
    #expect(try String(contentsOfFile: "\(folder)/secrets.key", encoding: .utf8) == text)
  }

  @Test func `a link or a folder is no key`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/secrets.key", withDestinationPath: "/dev/zero")
    #expect(throws: StoreFault.self) { try SecretsKey.load(folder) { _ in } }
  }

  @Test func `a key that can't be read is not taken for the database`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: "\(folder)/secrets.key", withIntermediateDirectories: false)
    do {
      _ = try SecretsKey.load(folder) { _ in }
      Issue.record("it was taken")
    } catch {
      #expect(error.description.hasPrefix("The key \(folder)/secrets.key can't be used: "))
      #expect(!error.description.contains("database"))
    }
  }

  @Test func `a new key beside sealed secrets is named in the log`() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lines = Mutex<[String]>([])
    func start(_ body: (Store) async throws -> Void = { _ in }) async throws {
      let store = try Store(
        try DataFolder(folder), migrations: Checkout.migrations, clock: { 5 },
        log: { line in lines.withLock { if line.contains("secrets.key") { $0.append(line) } } })
      try await body(store)
      await store.close()
    }
    try await start()
    try FileManager.default.removeItem(atPath: "\(folder)/secrets.key")
    // No secret is lost with this key.
    try await start { store in
      let sealed = try store.secrets.seal([1], for: "x")
      try await store.write { tx throws(Refusal) in
        let user = try tx.add(NewUser(name: "grace", role: .member))
        try tx.setTOTP(sealed, of: user)
      }
    }
    try await start()
    #expect(lines.withLock { $0 } == [])
    try FileManager.default.removeItem(atPath: "\(folder)/secrets.key")
    for _ in 1...2 { try await start() }
    #expect(
      lines.withLock { $0 } == [
        "\(folder)/secrets.key was missing, and a new key was made. Secrets sealed by the earlier key can't be opened: "
          + "users with two-step sign-in need a recovery code or a reset, outgoing webhooks and slash "
          + "commands a new secret. Restore the file to undo this."
      ])
  }
}
