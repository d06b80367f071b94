import CFaultyVFS
import Foundation
import ParleySQLite
import TestSupport
import Testing

/// SQLite keeps acknowledged commits on a disk that loses all unsynced writes or any part of them. The simulated disk
/// is good enough to detect lost commits.
@Suite struct PowerLossTests {
  struct Outcome {
    var schedules = 0
    var acknowledged = 0
    var faults: [String] = []
  }

  /// Runs the workload until the power cut, once per seed, and checks the remaining data with the ordinary VFS.
  private func run(
    seeds: Range<UInt64>, losing loss: faulty_loss, settings: String = "", isLying: Bool = false
  ) throws -> Outcome {
    var outcome = Outcome()
    for seed in seeds {
      let folder = try TemporaryFolder()
      var workload = Workload(path: folder.database, seed: seed)
      do {
        let disk = try FaultyDisk(seed: seed, losing: loss)
        if isLying { disk.ignoreSyncs() }
        disk.cutPower(at: workload.draw(1...400))
        let pages = [0, 5, 20, 1_000][workload.draw(0...3)]
        do {
          func open() throws -> Connection {
            let connection = try disk.writer(folder.database, checkpointPages: pages)
            try connection.executeScript(settings)
            return connection
          }
          var connection = try open()
          defer { connection.close() }
          try workload.prepare(connection)
          while workload.turn(connection) { try workload.interlude(&connection, reopen: open) }
        } catch is SQLiteError {}
        #expect(!disk.hasPower, "seed \(seed)")
      }
      outcome.schedules += 1
      outcome.acknowledged += workload.acknowledgements
      do {
        let connection = try folder.writer()
        if let fault = try workload.fault(in: connection) { outcome.faults.append("seed \(seed): \(fault)") }
        connection.close()
      } catch {
        outcome.faults.append("seed \(seed): \(error)")
      }
    }
    return outcome
  }

  @Test(arguments: [FAULTY_LOSE_ALL, FAULTY_LOSE_WRITES, FAULTY_LOSE_SECTORS])
  func `every acknowledged transaction survives a power cut`(loss: faulty_loss) throws {
    let outcome = try run(seeds: 1..<121, losing: loss)
    #expect(outcome.faults == [])
    #expect(outcome.schedules == 120)
    #expect(outcome.acknowledged > 1_000)
  }

  /// sqlite.org/pragma.html#pragma_synchronous: after deleting the journal only "extra" syncs the folder.
  @Test(arguments: [("extra", 0...0), ("full", 1...60)])
  func `a rollback journal needs the folder to be synced as well`(level: String, losses: ClosedRange<Int>) throws {
    let settings = "pragma journal_mode = delete; pragma synchronous = \(level)"
    let outcome = try run(seeds: 1..<61, losing: FAULTY_LOSE_SECTORS, settings: settings)
    #expect(losses.contains(outcome.faults.count), "\(outcome.faults)")
    #expect(!outcome.faults.contains { $0.contains("integrity") || $0.contains("torn") })
  }

  @Test func `without syncs the same test finds losses`() throws {
    let outcome = try run(seeds: 1..<31, losing: FAULTY_LOSE_SECTORS, settings: "pragma synchronous = off")
    #expect(outcome.faults.count > 10)
  }

  @Test func `with fewer syncs than a commit needs the same test finds losses`() throws {
    let outcome = try run(seeds: 1..<31, losing: FAULTY_LOSE_ALL, settings: "pragma synchronous = normal")
    #expect(outcome.faults.count > 10)
    // Normal loses commits without corruption.
    #expect(!outcome.faults.contains { $0.contains("integrity") || $0.contains("torn") })
  }

  @Test func `on a disk that ignores syncs the same test finds losses`() throws {
    let outcome = try run(seeds: 1..<31, losing: FAULTY_LOSE_SECTORS, isLying: true)
    #expect(outcome.faults.count > 10)
  }

  @Test func `contents being replaced are the old or the new ones after a power cut`() throws {
    var found: Set<Int> = []
    for seed: UInt64 in 1..<61 {
      let folder = try TemporaryFolder()
      var random = Seeded(seed: seed)
      try fill(folder.path + "/new.db", rows: 200)
      try fill(folder.database, rows: 100)
      do {
        let disk = try FaultyDisk(seed: seed)
        let writer = try disk.writer(folder.database)
        defer { writer.close() }
        disk.cutPower(at: Int.random(in: 1...250, using: &random))
        try writer.replaceContents(with: folder.path + "/new.db")
        try writer.checkpoint(.truncate)
        disk.cutPower()
      } catch is SQLiteError {}
      let writer = try folder.writer()
      #expect(try writer.integrityFaults() == [])
      found.insert(try #require(try writer.int("select count(*) from entry")))
    }
    #expect(found == [100, 200])
  }

  private func fill(_ path: String, rows: Int) throws {
    let writer = try Connection.writer(path)
    try writer.execute("create table entry (id integer primary key, bytes blob not null) strict")
    try writer.transaction {
      for _ in 0..<rows {
        try writer.execute("insert into entry (bytes) values ($1)", [UInt8](repeating: UInt8(rows), count: 2_000))
      }
    }
    writer.close()
  }

  @Test func `the same seed gives the same schedule`() throws {
    let first = try run(seeds: 7..<12, losing: FAULTY_LOSE_SECTORS, settings: "pragma synchronous = off")
    let second = try run(seeds: 7..<12, losing: FAULTY_LOSE_SECTORS, settings: "pragma synchronous = off")
    #expect(first.acknowledged == second.acknowledged)
    #expect(first.faults == second.faults)
  }
}

/// A disk that is full or fails, and recovers.
@Suite struct DiskFaultTests {
  @Test func `after random faults and a power cut every acknowledged transaction is present`() throws {
    var hits = 0
    var refusals = 0
    for seed: UInt64 in 1..<101 {
      let folder = try TemporaryFolder()
      var workload = Workload(path: folder.database, seed: seed)
      do {
        let disk = try FaultyDisk(seed: seed)
        let connection = try disk.writer(folder.database, checkpointPages: 10)
        defer { connection.close() }
        try workload.prepare(connection)
        for round in 1...30 {
          if round % 4 == 0 {
            let faults: [(faulty_kind, Int32)] = [
              (FAULTY_WRITE, Code.full), (FAULTY_WRITE, Code.writeFailed), (FAULTY_SYNC, Code.syncFailed),
              (FAULTY_TRUNCATE, Code.truncateFailed),
            ]
            let (kind, code) = faults[workload.draw(0...3)]
            disk.fail(kind, nth: workload.draw(1...6), times: workload.draw(1...3), code: code)
          }
          if !workload.turn(connection) {
            refusals += 1
            #expect(!connection.isInTransaction)
          }
          if round % 4 == 0 {
            _ = try? connection.checkpoint(.truncate)
            disk.heal()
          }
          if round % 8 == 0 { #expect(try workload.fault(in: connection) == nil, "seed \(seed), round \(round)") }
        }
        hits += disk.hits
        disk.cutPower()
      }
      let connection = try folder.writer()
      #expect(try workload.fault(in: connection) == nil, "seed \(seed)")
    }
    #expect(hits > 100)
    #expect(refusals > 50)
  }

  @Test func `a full disk refuses writes until space is freed, and reads continue`() throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(seed: 1)
    let writer = try disk.writer(folder.database)
    let reader = try disk.reader(folder.database)
    defer {
      reader.close()
      writer.close()
    }
    try writer.executeScript("create table forum (id integer primary key) strict; insert into forum values (1)")
    disk.fail(FAULTY_WRITE, times: -1, code: Code.full)
    for _ in 1...3 {
      let error = failure { _ = try writer.transaction { try writer.execute("insert into forum values (2)") } }
      #expect(error?.code == .full)
      #expect(error?.endedTransaction == true)
      #expect(try reader.int("select count(*) from forum") == 1)
      #expect(try writer.int("select count(*) from forum") == 1)
    }
    disk.heal()
    try writer.transaction { try writer.execute("insert into forum values (2)") }
    #expect(try reader.int("select count(*) from forum") == 2)
  }

  @Test func `a commit whose sync fails is not acknowledged`() throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(seed: 1)
    let writer = try disk.writer(folder.database)
    defer { writer.close() }
    try writer.execute("create table forum (id integer primary key) strict")
    disk.fail(FAULTY_SYNC, code: Code.syncFailed)
    let error = failure { _ = try writer.transaction { try writer.execute("insert into forum values (1)") } }
    #expect(error?.code == .io)
    #expect(error?.extendedCode == Code.syncFailed)
    #expect(try writer.int("select count(*) from forum") == 0)
    try writer.execute("insert into forum values (2)")
    #expect(try writer.all("select id from forum") { row in try row.int(0) } == [2])
  }

  @Test func `a failed read is an error with its code`() throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(seed: 1)
    let writer = try disk.writer(folder.database)
    defer { writer.close() }
    try writer.executeScript("create table forum (id integer primary key) strict; insert into forum values (1)")
    for code in [Code.readFailed, Code.shortRead] {
      let reader = try disk.reader(folder.database)
      defer { reader.close() }
      disk.fail(FAULTY_READ, times: -1, code: code)
      let error = failure { _ = try reader.int("select count(*) from forum") }
      disk.heal()
      #expect(error?.code == (code == Code.readFailed ? .io : error?.code))
      #expect(error != nil)
      #expect(try reader.int("select count(*) from forum") == 1)
    }
  }

  @Test func `the disk counts its operations`() throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(seed: 1)
    let writer = try disk.writer(folder.database)
    defer { writer.close() }
    try writer.execute("create table forum (id integer primary key) strict")
    let before = (disk.count(FAULTY_WRITE), disk.count(FAULTY_SYNC))
    try writer.execute("insert into forum values (1)")
    #expect(disk.count(FAULTY_WRITE) > before.0)
    #expect(disk.count(FAULTY_SYNC) == before.1 + 1)
  }
}
