import Foundation
import Storage
import Synchronization
import Testing

@testable import ParleyProgram

@Suite struct BackupHookTests {
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test func `a program that takes too long is killed, and tried again in an hour`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let migrations = root.appending(path: "Migrations/sqlite").path
    let store = try Store(
      try DataFolder(folder), migrations: migrations, clock: { Int64(Date().timeIntervalSince1970 * 1_000) })
    let plan = ScheduledBackups.Plan(
      folder: nil, interval: 86_400_000, retention: try #require(BackupRetention("7d,4w,6m")))
    let backups = ScheduledBackups(store, plan, program: "test")
    await backups.makeIfDue()
    await backups.testIfDue()
    let lines = Lines()
    let program = ChildProgram(["/bin/sh", "-c", "echo begun; sleep 1000"])
    let hook = BackupHook(program, backups, store, timeout: 1) { lines.add($0) }
    for _ in 0..<2 { await hook.runIfDue() }
    #expect(lines.all.count == 1)
    let line = try #require(lines.all.first)
    #expect(line.hasPrefix("event=hook result=failed "))
    #expect(line.hasSuffix("failed and is tried again in an hour: it took too long: begun"))
    #expect(await hook.lastSuccess == nil)
    await store.close()
  }
}
