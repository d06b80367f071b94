import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct RestoreTests {
  @Test func `restored data is complete and has a new epoch`() async throws {
    let scratch = try await Scratch.withBackup()
    let before = try await Garden(in: scratch.path + "/garden")
    await before.store.close()
    try FileManager.default.createDirectory(atPath: scratch.path + "/new", withIntermediateDirectories: false)
    let folder = try DataFolder(scratch.path + "/new")
    let restored = try folder.restore(scratch.path + "/good.tar", replacing: false, aside: "5", at: 5) { _ in }
    #expect(restored.report.messages == 20 && restored.report.files == 2 && restored.report.missing == 0)
    #expect(restored.replaced == nil)
    folder.release()
    #expect(try scratch.names(in: "new") == ["files", "lock", "parley.db"])

    let after = try await Garden(in: scratch.path + "/new")
    #expect(after.store.epoch != before.store.epoch && after.store.epoch.utf8.count == 24)
    #expect(try Garden.messages(in: after.folder) == Garden.messages(in: before.folder))
    #expect(try scratch.run("diff -r garden/files new/files") == 0)
    let next = try await after.post("after the flood")
    #expect(next.seq == 21)
    #expect(next.id.number > Restoration.idGap)
    // Event ids continue; the epoch separates the two histories.
    #expect(after.delivered.all.map(\.id) == [21])
    #expect(try Garden.faults(in: after.folder) == [])
    await after.store.close()
    // Restored data can be backed up.
    let again = try DataFolder(after.folder)
    #expect(try again.backUp(to: scratch.path + "/again.tar", program: "test", at: 6) { _ in }.messages == 21)
  }

  @Test func `existing data is replaced only on request, and kept aside`() async throws {
    let scratch = try await Scratch.withBackup()
    let old = try await Garden(in: scratch.path + "/old")
    _ = try await old.post("from before", as: "before")
    try await old.upload(Array("a weed".utf8))
    await old.store.close()
    let folder = try DataFolder(old.folder)
    let fault = #expect(throws: BackupFault.self) {
      try folder.restore(scratch.path + "/good.tar", replacing: false, aside: "5", at: 5) { _ in }
    }
    #expect(fault?.description.contains("--replace") == true)
    #expect(try Garden.messages(in: old.folder).keys.sorted() == ["before"])

    let restored = try folder.restore(scratch.path + "/good.tar", replacing: true, aside: "5", at: 5) { _ in }
    #expect(restored.replaced == old.folder + "/replaced-5")
    #expect(try scratch.names(in: "old") == ["files", "lock", "parley.db", "replaced-5", "secrets.key", "site.key"])
    #expect(try Garden.messages(in: old.folder).count == 20)
    #expect(try Garden.messages(in: old.folder + "/replaced-5").keys.sorted() == ["before"])
    #expect(try scratch.run("diff -r garden/files old/files") == 0)
    #expect(try scratch.run("find old/replaced-5/files -type f | grep -q .") == 0)
  }

  @Test func `a second restore at the same time keeps another folder aside`() async throws {
    let scratch = try await Scratch.withBackup()
    let garden = try await Garden(in: scratch.path + "/old")
    await garden.store.close()
    let folder = try DataFolder(garden.folder)
    for name in ["replaced-5", "replaced-5-2", "replaced-5-3"] {
      let restored = try folder.restore(scratch.path + "/good.tar", replacing: true, aside: "5", at: 5) { _ in }
      #expect(restored.replaced == "\(garden.folder)/\(name)")
    }
    #expect(try Garden.messages(in: garden.folder + "/replaced-5-2").count == 20)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  /// The disk after a kill, before and at each step of the switch.
  @Test func `a restore killed at any moment leaves the old data or the new data`() async throws {
    let scratch = try await Scratch.withBackup()
    let old = try await Garden(in: scratch.path + "/old")
    _ = try await old.post("from before", as: "before")
    try await old.upload(Array("a weed".utf8))
    // With a log that the database needs, and a leftover of a migration.
    #expect(try scratch.run("cp -r old killed && touch killed/parley.db.before-migration") == 0)
    await old.store.close()
    // Everything that a restore prepares.
    #expect(try scratch.run("mkdir ready ready/replaced-5 && tar xf good.tar -C ready parley.db files") == 0)
    #expect(try scratch.run("echo old >killed/erasures && echo new >ready/erasures") == 0)
    #expect(try scratch.run("cp -r killed undecided && cp -r ready undecided/restore.part") == 0)
    let undecided = try DataFolder(scratch.path + "/undecided")
    #expect(!undecided.hasEndedRestore)
    #expect(try Garden.messages(in: undecided.path).keys.sorted() == ["before"])
    #expect(try scratch.run("test ! -e undecided/restore.part") == 0)

    var steps = 0
    var isOver = false
    while !isOver {
      let path = scratch.path + "/at-\(steps)"
      #expect(try scratch.run("cp -r killed at-\(steps) && cp -r ready at-\(steps)/restore.ready") == 0)
      for _ in 0..<steps where try !PendingRestore(folder: path).step() { isOver = true }
      let folder = try DataFolder(path)
      #expect(folder.hasEndedRestore != isOver)
      #expect(try Garden.messages(in: path).count == 20, "after \(steps) steps")
      #expect(try Garden.messages(in: path + "/replaced-5").keys.sorted() == ["before"])
      #expect(try scratch.run("diff -r garden/files at-\(steps)/files") == 0)
      #expect(try scratch.run("diff -r killed/files at-\(steps)/replaced-5/files") == 0)
      #expect(
        try scratch.names(in: "at-\(steps)") == [
          "erasures", "files", "lock", "parley.db", "replaced-5", "secrets.key", "site.key",
        ])
      #expect(try scratch.run("diff ready/erasures at-\(steps)/erasures") == 0)
      #expect(try Garden.faults(in: path) == [])
      for leftover in ["-wal", "-shm"] { unlink(path + "/parley.db" + leftover) }
      folder.release()
      steps += 1
    }
    #expect(steps > 8)
  }

  @Test(arguments: [
    "ln -s ../elsewhere restore.ready", "mkdir restore.ready && ln -s ../../elsewhere restore.ready/files",
    "mkdir restore.ready && ln -s ../../elsewhere restore.ready/replaced-5",
    "mkdir restore.ready && ln -s ../../elsewhere/parley.db restore.ready/parley.db",
    "mkdir -p restore.ready/parley.db", "mkdir restore.ready && touch restore.ready/files",
    "touch restore.ready",
  ])
  func `a link or an entry of another type ends no restore`(_ command: String) throws {
    let scratch = try Scratch()
    #expect(try scratch.run("mkdir site elsewhere && touch elsewhere/parley.db && cd site && \(command)") == 0)
    let fault = #expect(throws: DataFolder.Fault.self) { _ = try DataFolder(scratch.path + "/site") }
    #expect(fault?.description.contains("a restore was begun there and can't be ended") == true)
    #expect(try scratch.names(in: "elsewhere") == ["parley.db"])
    #expect(try scratch.names(in: "site") == ["lock", "restore.ready"])
  }

  @Test func `a file missing from the backup is reported again`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/garden")
    let lost = try await garden.upload(Array("a rose".utf8))
    try FileManager.default.removeItem(atPath: "\(garden.folder)/\(lost.path)")
    _ = try await garden.store.backUp(to: scratch.path + "/backup.tar", program: "test") { _ in }
    await garden.store.close()
    try FileManager.default.createDirectory(atPath: scratch.path + "/new", withIntermediateDirectories: false)
    let folder = try DataFolder(scratch.path + "/new")
    let restored = try folder.restore(scratch.path + "/backup.tar", replacing: false, aside: "5", at: 5) { _ in }
    #expect(restored.report.missing == 1 && restored.report.firstMissing == [lost.path])
  }

  @Test(arguments: [BackupProgress.Phase.verifying, .unpacking, .checking])
  func `a cancelled restore changes nothing`(phase: BackupProgress.Phase) async throws {
    let scratch = try await Scratch.withBackup()
    let folder = try DataFolder(scratch.path + "/garden")
    #expect(throws: BackupFault.cancelled) {
      try folder.restore(scratch.path + "/good.tar", replacing: true, aside: "5", at: 5) {
        progress throws(BackupFault) in
        if progress.phase == phase { throw .cancelled }
      }
    }
    #expect(try scratch.names(in: "garden") == ["files", "lock", "parley.db", "secrets.key", "site.key"])
  }

  @Test func `a store keeps its epoch across restarts`() async throws {
    let scratch = try Scratch()
    let first = try await Garden(in: scratch.path + "/garden")
    await first.store.close()
    let again = try await Garden(in: scratch.path + "/garden")
    #expect(again.store.epoch == first.store.epoch)
    await again.store.close()
    let other = try await Garden(in: scratch.path + "/other")
    #expect(other.store.epoch != first.store.epoch)
    await other.store.close()
  }
}
