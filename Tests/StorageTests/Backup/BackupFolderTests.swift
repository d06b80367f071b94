import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// Scheduled backups: a folder with every uploaded file once, and a database for each backup.
@Suite struct BackupFolderTests {
  private let scratch: Scratch
  private let garden: Garden
  private var folder: BackupFolder { BackupFolder(scratch.path + "/backups") }
  private static let day: Int64 = 86_400

  init() async throws {
    scratch = try Scratch()
    garden = try await Garden(in: scratch.path + "/garden")
  }

  private func scheduled(_ retention: String = "7d,4w,6m") throws -> ScheduledBackups {
    let plan = ScheduledBackups.Plan(
      folder: folder.path, interval: Self.day * 1_000, retention: try #require(BackupRetention(retention)))
    return ScheduledBackups(garden.store, plan, program: "test")
  }

  /// A backup made now.
  private func backUp(comparing comparesFiles: Bool = false) async throws -> (FolderBackup, BackupReport) {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let report = try await garden.store.backUp(
      into: folder, at: garden.clock.now, program: "test", comparesFiles: comparesFiles)
    return (try #require(try folder.backups().last), report)
  }

  /// The paths of the shared files, with their identity on the disk.
  private func files() throws -> [String: UInt64] {
    var found: [String: UInt64] = [:]
    for case let path as String in FileManager.default.enumerator(atPath: folder.files) ?? .init() {
      let facts = try FileManager.default.attributesOfItem(atPath: "\(folder.files)/\(path)")
      if facts[.type] as? FileAttributeType == .typeRegular {
        found["files/" + path] = (facts[.systemFileNumber] as? NSNumber)?.uint64Value
      }
    }
    return found
  }

  private func test(_ backup: FolderBackup, restores: Bool = true) async -> String? {
    do throws(BackupFault) {
      _ = try await garden.store.testRestore(of: backup, restores: restores)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func `each file is copied once, and sha256sum checks a backup`() async throws {
    let rose = try await garden.upload(Array("a rose".utf8))
    let (first, report) = try await backUp()
    #expect(report.files == 1 && report.newFiles == 1 && report.missing == 0)
    let before = try files()
    #expect(Array(before.keys) == [rose.path])
    garden.clock.pass(seconds: Self.day)
    // A night without new files writes none.
    let (second, again) = try await backUp()
    #expect(again.files == 1 && again.newFiles == 0)
    #expect(try files() == before)
    let thorn = try await garden.upload(Array("a thorn".utf8))
    garden.clock.pass(seconds: Self.day)
    #expect(try await backUp().1.newFiles == 1)
    #expect(try Set(files().keys) == [rose.path, thorn.path])
    for backup in try folder.backups() {
      #expect(try scratch.run("cd \(backup.path) && sha256sum --check --strict SHA256SUMS") == 0)
    }
    #expect(first.name == "2027-01-15T08-00-00Z" && second.name == "2027-01-16T08-00-00Z")
    #expect(try scratch.names(in: "backups") == [first.name, second.name, "2027-01-17T08-00-00Z", "files"])
    await garden.store.close()
  }

  @Test func `a backup of the folder is restored, by its time or the newest`() async throws {
    _ = try await garden.post("seeds", as: "one")
    try await garden.upload(Array("a rose".utf8))
    let (first, _) = try await backUp()
    _ = try await garden.post("weeds", as: "two")
    garden.clock.pass(seconds: Self.day)
    let (second, _) = try await backUp()
    await garden.store.close()
    for (operand, backup, messages) in [
      (folder.path, second, ["one", "two"]), ("\(folder.path)@2027-01-15", first, ["one"]),
      ("\(folder.path)@2027-01-15T08:00", first, ["one"]), (first.path, first, ["one"]),
    ] {
      let source = try BackupSource(operand, at: garden.clock.now)
      #expect(source == .folder(backup))
      let path = "\(scratch.path)/new"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      let data = try DataFolder(path)
      let restored = try data.restore(source, replacing: false, aside: "5", at: 5) { _ in }
      #expect(restored.report.files == 1 && restored.report.missing == 0)
      #expect(try Garden.messages(in: path).keys.sorted() == messages)
      #expect(try scratch.run("diff -r garden/files new/files") == 0)
      #expect(try Garden.faults(in: path) == [])
      data.release()
      try FileManager.default.removeItem(atPath: path)
    }
    let unknown = #expect(throws: BackupFault.self) { try BackupSource("\(folder.path)@2026", at: garden.clock.now) }
    #expect(
      unknown?.description == "\(folder.path) has no backup of that time. It has: \(first.name), \(second.name).")
    let foreign = #expect(throws: BackupFault.self) { try BackupSource(garden.folder, at: garden.clock.now) }
    #expect(foreign?.description == "\(garden.folder) is no folder of backups.")
  }

  @Test func `a backup of a clock that was ahead is not the newest`() async throws {
    garden.clock.pass(seconds: 400 * Self.day)
    let (ahead, _) = try await backUp()
    #expect(try BackupSource(folder.path, at: ahead.time - 1) == .folder(ahead))
    garden.clock.pass(seconds: -400 * Self.day)
    _ = try await garden.store.backUp(into: folder, at: garden.clock.now, program: "test", comparesFiles: false)
    let backups = try folder.backups()
    #expect(backups.map(\.name) == ["2027-01-15T08-00-00Z", ahead.name])
    #expect(try BackupSource(folder.path, at: garden.clock.now) == .folder(backups[0]))
    #expect(try BackupSource("\(folder.path)@2028", at: garden.clock.now) == .folder(ahead))
    await garden.store.close()
  }

  @Test func `rotation removes backups, and then files that no other backup has`() async throws {
    let backups = try scheduled("2d,1w")
    let rose = try await garden.upload(Array("a rose".utf8))
    await backups.makeIfDue()
    let lily = try await garden.upload(Array("a lily".utf8))
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("delete from file where digest = $1", rose.digest)
      }
    }
    #expect(try Set(files().keys) == [rose.path, lily.path])
    for _ in 0..<2 {
      garden.clock.pass(seconds: Self.day)
      await backups.makeIfDue()
    }
    // The last one of the week before, and those of two days: none of them has the rose.
    #expect(try folder.backups().map(\.name) == ["2027-01-17T08-00-00Z", "2027-01-18T08-00-00Z"])
    #expect(try Array(files().keys) == [lily.path])
    #expect(garden.refusals.contains { $0.contains("1 files that no other backup has") })
    await garden.store.close()
  }

  @Test func `damaged backups and foreign folders hold no file back and remove none`() async throws {
    let backups = try scheduled("1")
    try await garden.upload(Array("a rose".utf8))
    await backups.makeIfDue()
    let first = try #require(try folder.backups().last)
    // A folder of the operator, with the name of a time, is neither a backup nor removed.
    #expect(try scratch.run("mkdir backups/2026-01-01T00-00-00Z") == 0)
    #expect(try folder.backups() == [first])
    let orphan = "files/ab/cd/abcd" + String(repeating: "0", count: 60)
    #expect(try scratch.run("mkdir -p backups/files/ab/cd") == 0)
    try scratch.write([1], to: "backups/" + orphan)
    let sums = try Data(contentsOf: URL(filePath: first.path + "/SHA256SUMS"))
    try scratch.write([], to: "backups/\(first.name)/SHA256SUMS")
    #expect(throws: BackupDamage.altered("SHA256SUMS")) { try folder.removeUnnamedFiles() }
    #expect(try files().count == 2)
    try sums.write(to: URL(filePath: first.path + "/SHA256SUMS"))
    // After a failed test the older backups stay until a newer one has passed.
    #expect(try scratch.run("mv \(first.path)/parley.db aside") == 0)
    await backups.testIfDue()
    #expect(try scratch.run("mv aside \(first.path)/parley.db") == 0)
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    #expect(try folder.backups().count == 2 && files().count == 2)
    await backups.testIfDue()
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    #expect(try folder.backups().map(\.name) == ["2027-01-17T08-00-00Z"])
    #expect(try files().count == 1)
    #expect(try scratch.names(in: "backups").contains("2026-01-01T00-00-00Z"))
    await garden.store.close()
  }

  @Test func `files of removed backups are named and go with the next backup`() async throws {
    let plan = ScheduledBackups.Plan(
      folder: nil, interval: Self.day * 1_000, retention: try #require(BackupRetention("7")))
    let backups = ScheduledBackups(garden.store, plan, program: "test")
    let rose = try await garden.upload(Array("a rose".utf8))
    await backups.makeIfDue()
    #expect(garden.store.folder.copies == ["backups/2027-01-15T08-00-00Z", "backups/files"])
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("delete from file where digest = $1", rose.digest)
      }
    }
    try FileManager.default.removeItem(atPath: garden.folder + "/backups/2027-01-15T08-00-00Z")
    #expect(garden.store.folder.copies == ["backups/files"])
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    #expect(garden.store.folder.copies == ["backups/2027-01-16T08-00-00Z"])
    await garden.store.close()
  }

  @Test func `a backup needs its own folder`() async throws {
    try await garden.upload(Array("a rose".utf8))
    let message = { (path: String) in BackupFolder(path).obstacle(data: garden.folder) }
    #expect(message(scratch.path + "/backups") == nil)
    #expect(message(garden.folder + "/backups") == nil)
    #expect(message(garden.folder)?.contains("is a data folder") == true)
    #expect(message(garden.folder + "/files/backups")?.contains("is inside of the folder of uploaded files") == true)
    #expect(try scratch.run("ln -s garden/files linked && mkdir other && touch other/parley.db") == 0)
    #expect(message(scratch.path + "/linked/ab")?.contains("is inside of the folder of uploaded files") == true)
    #expect(message(scratch.path + "/other")?.contains("is a data folder") == true)
    await garden.store.close()
  }

  @Test func `a folder of backups belongs to one data folder`() async throws {
    try await garden.upload(Array("a rose".utf8))
    let backups = try scheduled("1")
    await backups.makeIfDue()
    await backups.testIfDue()
    let newest = try #require(await backups.newestTested())
    // A copy of the site on another machine, with the same settings.
    let copy = scratch.path + "/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    let data = try DataFolder(copy)
    _ = try data.restore(.folder(newest), replacing: false, aside: "5", at: 5) { _ in }
    data.release()
    let other = try await Garden(in: copy, at: garden.clock.now + 2 * Self.day * 1_000)
    let plan = ScheduledBackups.Plan(
      folder: folder.path, interval: Self.day * 1_000, retention: try #require(BackupRetention("1")))
    let foreign = ScheduledBackups(other.store, plan, program: "test")
    let before = try scratch.names(in: "backups")
    await foreign.makeIfDue()
    await foreign.testIfDue()
    #expect(await foreign.newestTested() == nil)
    #expect(try scratch.names(in: "backups") == before)
    let refusal = "has the backups of another data folder; remove \(folder.path)/owner to take it over"
    #expect(folder.obstacle(data: copy)?.hasSuffix(refusal) == true)
    #expect(other.refusals.contains { $0.contains("event=backup result=failed") && $0.contains(refusal) })
    #expect(folder.obstacle(data: garden.folder) == nil)
    try FileManager.default.removeItem(atPath: folder.path + "/owner")
    await ScheduledBackups(other.store, plan, program: "test").makeIfDue()
    #expect(try folder.backups().map(\.name) == ["2027-01-17T08-00-00Z"])
    #expect(folder.obstacle(data: garden.folder)?.hasSuffix(refusal) == true)
    #expect(!FileManager.default.fileExists(atPath: garden.folder + "/backups/owner"))
    await other.store.close()
    await garden.store.close()
  }

  @Test(arguments: [BackupProgress.Phase.copying, .checking, .packing])
  func `a cancelled backup leaves nothing half, and the next one is complete`(phase: BackupProgress.Phase) async throws
  {
    try await garden.upload([UInt8](repeating: 7, count: 700_000))
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    await #expect(throws: BackupFault.cancelled) {
      try await garden.store.backUp(into: folder, at: garden.clock.now, program: "test", comparesFiles: false) {
        progress throws(BackupFault) in
        if progress.phase == phase { throw .cancelled }
      }
    }
    #expect(try scratch.names(in: "backups") == [])
    let (backup, report) = try await backUp()
    #expect(report.newFiles == 1)
    #expect(await test(backup) == nil)
    await garden.store.close()
  }

  @Test func `leftovers of a killed backup go with the next one`() async throws {
    let rose = try await garden.upload(Array("a rose".utf8))
    let killed = folder.path + "/2027-01-14T08-00-00Z.part"
    #expect(try scratch.run("mkdir -p \(killed)/files/ab/cd backups/files/ab/cd backups/mine.part") == 0)
    try scratch.write([1], to: "backups/2027-01-14T08-00-00Z.part/parley.db")
    // The kill came after its move.
    let orphan = "files/ab/cd/abcd" + String(repeating: "0", count: 60)
    try scratch.write([1], to: "backups/" + orphan)
    try scratch.write([1], to: "backups/files/ab/cd/notes.txt")
    await (try scheduled()).makeIfDue()
    #expect(try scratch.names(in: "backups") == ["2027-01-15T08-00-00Z", "files", "mine.part", "owner"])
    #expect(try Set(files().keys) == [rose.path, "files/ab/cd/notes.txt"])
    await garden.store.close()
  }

  @Test func `a backup has files that the data folder has lost, if an earlier one has them`() async throws {
    let rose = try await garden.upload(Array("a rose".utf8))
    let lily = try await garden.upload(Array("a lily".utf8))
    _ = try await backUp()
    let lost = try await garden.upload(Array("a weed".utf8))
    try FileManager.default.removeItem(atPath: "\(garden.folder)/\(rose.path)")
    try scratch.write(Array("a seed".utf8), to: "garden/\(lost.path)")
    garden.clock.pass(seconds: Self.day)
    let (backup, report) = try await backUp()
    #expect(report.files == 2 && report.missing == 1 && report.firstMissing == [lost.path])
    #expect(await test(backup) == nil)
    #expect(try Set(files().keys) == [rose.path, lily.path])
    // Rotation and copies on other machines go on.
    let backups = try scheduled("1")
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    await backups.testIfDue()
    #expect(try folder.backups().map(\.name) == ["2027-01-17T08-00-00Z"])
    let newest = try #require(await backups.newestTested())
    let noted = try #require(try await garden.store.lastRestoreTest())
    #expect(noted.result == .passed && noted.reason == "it lacks 1 uploaded files that the data folder lacks, too")
    // A file that the data folder has must be in the backup.
    try scratch.write(Array("a weed".utf8), to: "garden/\(lost.path)")
    #expect(await test(newest) == "it lacks \(lost.path), which the data folder has")
    await garden.store.close()
  }

  // MARK: Restore test

  @Test func `a test restores the newest backup, notes its result and leaves nothing`() async throws {
    _ = try await garden.post("seeds")
    try await garden.upload(Array("a rose".utf8))
    let backups = try scheduled()
    await backups.makeIfDue()
    #expect(await backups.newestTested() == nil)
    await backups.testIfDue()
    #expect(await backups.newestTested() == (try folder.backups().last))
    let test = try #require(try await garden.store.lastRestoreTest())
    #expect(test == .init(at: garden.clock.now, backup: garden.clock.now, result: .passed, reason: ""))
    #expect(
      garden.refusals.contains { $0.contains("event=restore_test result=passed") && $0.contains("1 messages, 1 files") }
    )
    #expect(try !scratch.names(in: "garden").contains(PendingRestore.testing))
    // Once for each backup, also after a restart.
    garden.clock.pass(seconds: 60)
    await (try scheduled()).testIfDue()
    #expect(try await garden.store.lastRestoreTest() == test)
    await garden.store.close()
  }

  @Test func `a flipped bit in each kind of file is found, and the next backup repairs files`() async throws {
    _ = try await garden.post("seeds")
    let rose = try await garden.upload(Array("a rose".utf8))
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.grace, as: .erased, by: Garden.ada)
    }
    let (backup, _) = try await backUp()
    #expect(await test(backup) == nil)
    for (name, offsets) in [
      ("parley-backup.json", [0, 30]), ("parley.db", [5_000, 100]), ("erasures", [3]), ("SHA256SUMS", [0, 70, 200]),
      ("../" + rose.path, [4]),
    ] {
      let path = "\(backup.path)/\(name)"
      for offset in offsets {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let good = try #require(try file.byte(at: offset))
        try file.put(good ^ 1, at: offset)
        for restores in [true, false] {
          #expect(await test(backup, restores: restores) != nil, "byte \(offset) of \(name)")
        }
        try file.put(good, at: offset)
      }
    }
    #expect(await test(backup) == nil)
    let file = try #require(FileHandle(forUpdatingAtPath: "\(folder.path)/\(rose.path)"))
    try file.put(0, at: 0)
    #expect(await test(backup) == "its entry ../\(rose.path) has been altered")
    // A failed test makes the next backup compare all files.
    let backups = try scheduled()
    await backups.testIfDue()
    #expect(try await garden.store.lastRestoreTest()?.result == .failed)
    #expect(await backups.newestTested() == nil)
    garden.clock.pass(seconds: Self.day)
    await backups.makeIfDue()
    await backups.testIfDue()
    #expect(try await garden.store.lastRestoreTest()?.result == .passed)
    #expect(await test(backup) == nil)
    await garden.store.close()
  }

  @Test func `an entry that is missing is named`() async throws {
    let rose = try await garden.upload(Array("a rose".utf8))
    let (backup, _) = try await backUp()
    for name in ["SHA256SUMS", "parley.db", "../" + rose.path] {
      #expect(try scratch.run("mv \(backup.path)/\(name) aside") == 0)
      #expect(await test(backup) == "its entry \(name) is missing")
      #expect(try scratch.run("mv aside \(backup.path)/\(name)") == 0)
    }
    #expect(try scratch.run("rm \(backup.path)/parley-backup.json") == 0)
    #expect(await test(backup) == "it is not a Parley backup")
    await garden.store.close()
  }
}
