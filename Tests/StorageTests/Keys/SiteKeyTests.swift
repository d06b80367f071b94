import Foundation
import ParleyCrypto
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
