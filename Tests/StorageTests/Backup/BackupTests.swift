import Foundation
import ParleyModel
import ParleySQLite
import Synchronization
import Testing

@testable import Storage

@Suite struct BackupTests {
  let scratch: Scratch
  private var backup: String { scratch.path + "/backup.tar" }

  init() throws { scratch = try Scratch() }

  private func garden() async throws -> Garden { try await Garden(in: scratch.path + "/garden") }

  @Test func `the system's tar unpacks a backup with the right checksums`() async throws {
    let garden = try await garden()
    _ = try await garden.post("seeds")
    let file = try await garden.upload(Array("a rose".utf8))
    let report = try await garden.store.backUp(to: backup, program: "test") { _ in }
    #expect(report.messages == 1 && report.files == 1 && report.missing == 0)
    #expect(try scratch.bytes(of: "backup.tar").count == report.size)
    try FileManager.default.createDirectory(atPath: scratch.path + "/out", withIntermediateDirectories: true)
    #expect(try scratch.run("cd out && tar xf ../backup.tar && sha256sum --check --strict SHA256SUMS") == 0)
    #expect(try scratch.names(in: "out") == ["SHA256SUMS", "files", "parley-backup.json", "parley.db"])
    #expect(try scratch.bytes(of: "out/" + file.path) == Array("a rose".utf8))
    #expect(try Garden.faults(in: scratch.path + "/out") == [])
    await garden.store.close()
  }

  @Test func `a backup is one consistent state under concurrent writes, with all messages acknowledged before`()
    async throws
  {
    let garden = try await garden()
    let writing = Writing()
    let writers = (0..<8).map { writer in
      Task {
        var number = 0
        while !writing.isOver {
          let id = "\(writer)-\(number)"
          _ = try await garden.post(String(repeating: "seeds ", count: 50), as: id)
          writing.acknowledge(id)
          number += 1
        }
      }
    }
    while writing.acknowledged.count < 400 { await Task.yield() }
    let before = writing.acknowledged
    _ = try await garden.store.backUp(to: backup, program: "test") { _ in }
    writing.end()
    for writer in writers { try await writer.value }
    await garden.store.close()
    #expect(try scratch.run("mkdir out && tar xf backup.tar -C out") == 0)
    #expect(try Garden.faults(in: scratch.path + "/out") == [])
    let kept = try Set(Garden.messages(in: scratch.path + "/out").keys)
    #expect(before.isSubset(of: kept))
    #expect(kept.isSubset(of: writing.acknowledged))
  }

  /// The state that concurrent writers share.
  private final class Writing: Sendable {
    private let state = Mutex<(acknowledged: Set<String>, isOver: Bool)>(([], false))

    var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
    var isOver: Bool { state.withLock { $0.isOver } }
    func acknowledge(_ id: String) { state.withLock { _ = $0.acknowledged.insert(id) } }
    func end() { state.withLock { $0.isOver = true } }
  }

  @Test func `an offline backup includes the write-ahead log of a killed daemon`() async throws {
    let garden = try await garden()
    _ = try await garden.post("seeds", as: "one")
    // The disk after a kill: the log has pages that the database file lacks.
    #expect(try scratch.run("cp -r garden killed") == 0)
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/killed")
    let report = try folder.backUp(to: backup, program: "test", at: 1_800_000_000_000) { _ in }
    #expect(report.messages == 1)
  }

  @Test func `missing or changed files are reported, and the rest is backed up`() async throws {
    let garden = try await garden()
    let lost = try await garden.upload(Array("a rose".utf8))
    let changed = try await garden.upload([UInt8](repeating: 7, count: 700_000))
    let longer = try await garden.upload(Array("a lily".utf8))
    let whole = try await garden.upload(Array("a thorn".utf8))
    try FileManager.default.removeItem(atPath: "\(garden.folder)/\(lost.path)")
    try scratch.write([UInt8](repeating: 7, count: 699_999) + [8], to: "garden/" + changed.path)
    try scratch.write(Array("a lily pad".utf8), to: "garden/" + longer.path)
    let report = try await garden.store.backUp(to: backup, program: "test") { _ in }
    await garden.store.close()
    #expect(report.files == 1 && report.missing == 3)
    #expect(Set(report.firstMissing) == [lost.path, changed.path, longer.path])
    #expect(try scratch.run("mkdir out && tar xf backup.tar -C out && cd out && sha256sum --check SHA256SUMS") == 0)
    #expect(try scratch.run("test -f out/\(whole.path)") == 0)
  }

  @Test func `a corrupt database is not backed up`() async throws {
    let garden = try await garden()
    for text in ["seeds", "weeds", "roses"] { _ = try await garden.post(text) }
    await garden.store.close()
    let connection = try Connection.writer(garden.folder + "/parley.db")
    try connection.execute("update message set previous_message = 1 where seq = 3")
    connection.close()
    let folder = try DataFolder(garden.folder)
    let fault = #expect(throws: BackupFault.self) {
      try folder.backUp(to: backup, program: "test", at: 1_800_000_000_000) { _ in }
    }
    guard case .damaged(let faults) = fault else { return }
    #expect(faults.count == 1 && faults.first?.contains("but names 1") == true)
    #expect(try scratch.names() == ["garden"])
  }

  @Test func `a backup overwrites nothing and needs a database`() async throws {
    try scratch.write(Array("precious".utf8), to: "backup.tar")
    let garden = try await garden()
    let fault = await #expect(throws: BackupFault.self) {
      try await garden.store.backUp(to: backup, program: "test") { _ in }
    }
    #expect(fault?.description.contains("already exists") == true)
    await garden.store.close()
    #expect(try scratch.bytes(of: "backup.tar") == Array("precious".utf8))

    try FileManager.default.createDirectory(atPath: scratch.path + "/empty", withIntermediateDirectories: true)
    let folder = try DataFolder(scratch.path + "/empty")
    #expect(throws: BackupFault.self) {
      try folder.backUp(to: scratch.path + "/other.tar", program: "test", at: 1) { _ in }
    }
    #expect(try scratch.names() == ["backup.tar", "empty", "garden"])
  }

  @Test(arguments: [BackupProgress.Phase.copying, .checking, .packing, .comparing])
  func `a cancelled backup leaves no file`(phase: BackupProgress.Phase) async throws {
    let garden = try await garden()
    await #expect(throws: BackupFault.cancelled) {
      try await garden.store.backUp(to: backup, program: "test") { progress throws(BackupFault) in
        if progress.phase == phase { throw .cancelled }
      }
    }
    #expect(!garden.store.isBackingUp)
    await garden.store.close()
    #expect(try scratch.names() == ["garden"])
  }

  @Test func `backups run one at a time, and closing the store cancels them`() async throws {
    let garden = try await garden()
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchSemaphore(value: 0)
    let first = Task {
      try await garden.store.backUp(to: scratch.path + "/first.tar", program: "test") { progress in
        guard progress.phase == .checking else { return }
        hasBegun.yield()
        gate.wait()
      }
    }
    for await _ in begun { break }
    #expect(garden.store.isBackingUp)
    let fault = await #expect(throws: BackupFault.self) {
      try await garden.store.backUp(to: backup, program: "test") { _ in }
    }
    #expect(fault?.description.contains("already") == true)
    let closing = Task { await garden.store.close() }
    while !garden.store.backups.isClosed { await Task.yield() }
    gate.signal()
    await closing.value
    await #expect(throws: BackupFault.cancelled) { try await first.value }
    #expect(!garden.store.isBackingUp)
    #expect(try scratch.names() == ["garden"])
  }

  @Test func `progress increases to its total`() async throws {
    let garden = try await garden()
    try await garden.upload([UInt8](repeating: 7, count: 1_000_000))
    let (steps, seen) = AsyncStream.makeStream(of: BackupProgress.self)
    _ = try await garden.store.backUp(to: backup, program: "test") { progress in seen.yield(progress) }
    seen.finish()
    await garden.store.close()
    let all = await steps.reduce(into: []) { $0.append($1) }
    var phases: [BackupProgress.Phase] = []
    for progress in all where phases.last != progress.phase { phases.append(progress.phase) }
    #expect(phases == [.copying, .checking, .packing, .comparing])
    for phase in [BackupProgress.Phase.copying, .packing, .comparing] {
      let steps = all.filter { $0.phase == phase }
      #expect(steps.map(\.done) == steps.map(\.done).sorted())
      #expect(steps.allSatisfy { $0.done <= $0.total })
    }
    #expect(all.last { $0.phase == .packing }.map { $0.done == $0.total } == true)
  }
}
