import CFaultyVFS
import Foundation
import ParleyCrypto
import ParleySQLite
import TestSupport
import Testing

@Suite struct MigratorTests {
  let folder: TemporaryFolder
  let files: String

  private static let texts = [
    "create table forum (id integer primary key, name text not null) strict;\n",
    "create table message (id integer primary key, forum integer not null references forum (id)) strict;\n",
    "alter table forum add column about text not null default '';\ninsert into forum (name) values ('garden');\n",
  ]

  init() throws { try self.init(in: TemporaryFolder()) }

  private init(in folder: TemporaryFolder) throws {
    self.folder = folder
    files = folder.path + "/migrations"
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
  }

  /// Writes the files and returns the migrations of a program built with them.
  private func known(_ texts: [String]) throws -> [Migration] {
    try texts.enumerated().map { index, text in
      let hash = Hex.text(try Digest.sha256(of: Array(text.utf8)))
      let migration = Migration(number: index + 1, name: "step_\(index + 1)", hash: hash)
      try folder.write(text, to: "migrations/" + migration.file)
      return migration
    }
  }

  private func migrator(_ texts: [String]) throws -> Migrator { Migrator(folder: files, known: try known(texts)) }

  private func error(_ body: () throws -> Void) -> MigrationError? {
    do {
      try body()
      Issue.record("nothing failed")
      return nil
    } catch {
      return error as? MigrationError
    }
  }

  private var snapshots: [String] {
    get throws { try folder.names.filter { $0.contains("before-migration") || $0.contains("migrating") } }
  }

  @Test func `an empty database gets all migrations, and the second start none`() throws {
    let writer = try folder.writer()
    let migrator = try migrator(Self.texts)
    #expect(try migrator.migrate(writer, at: 1_700_000_000_000).map(\.number) == [1, 2, 3])
    #expect(try migrator.migrate(writer, at: 1_800_000_000_000) == [])
    #expect(try migrator.status(of: writer).map(\.appliedAt) == [Int?](repeating: 1_700_000_000_000, count: 3))
    #expect(try writer.int("select count(*) from forum") == 1)
    #expect(try writer.int("pragma foreign_keys") == 1)
    #expect(try snapshots == [])
  }

  @Test func `the status lists pending migrations and changes nothing`() throws {
    let writer = try folder.writer()
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 5)
    let later = try migrator(Self.texts)
    let reader = try Connection.reader(folder.database)
    let status = try later.status(of: reader)
    #expect(status.map(\.appliedAt) == [5, 5, nil])
    #expect(status.map(\.migration.file) == ["0001_step_1.sql", "0002_step_2.sql", "0003_step_3.sql"])
  }

  @Test func `a missing, a changed and an unknown file are refused by name`() throws {
    let writer = try folder.writer()
    let migrator = try migrator(Self.texts)
    try folder.write(Self.texts[1] + " ", to: "migrations/0002_step_2.sql")
    #expect(error { try migrator.migrate(writer, at: 0) } == .changedFile("0002_step_2.sql", folder: files))
    try FileManager.default.removeItem(atPath: files + "/0002_step_2.sql")
    #expect(error { try migrator.migrate(writer, at: 0) } == .missingFile("0002_step_2.sql", folder: files))
    try folder.write(Self.texts[1], to: "migrations/0002_step_2.sql")
    try folder.write("", to: "migrations/0004_later.sql")
    #expect(error { try migrator.migrate(writer, at: 0) } == .unknownFile("0004_later.sql", folder: files))
    #expect(error { _ = try migrator.status(of: writer) } == .unknownFile("0004_later.sql", folder: files))
    #expect(try writer.int("select count(*) from sqlite_schema") == 0)
    try FileManager.default.removeItem(atPath: files)
    #expect(error { try migrator.migrate(writer, at: 0) }?.description.contains("folder of the migrations") == true)
  }

  @Test func `a newer, diverged or foreign database is refused`() throws {
    let writer = try folder.writer()
    try migrator(Self.texts).migrate(writer, at: 0)
    try FileManager.default.removeItem(atPath: files + "/0003_step_3.sql")
    let older = try migrator(Array(Self.texts[..<2]))
    #expect(
      error { try older.migrate(writer, at: 0) } == .newerDatabase(path: folder.database, level: 3, known: 2))
    let other = try migrator([Self.texts[0], Self.texts[1] + "-- other\n", Self.texts[2]])
    guard case .otherHistory(_, let migration) = error({ try other.migrate(writer, at: 0) }) else {
      Issue.record("not refused")
      return
    }
    #expect(migration.number == 2)
    let foreign = try Connection.writer(folder.path + "/foreign.db")
    try foreign.execute("create table bookmark (id integer primary key)")
    #expect(error { try other.migrate(foreign, at: 0) } == .foreignDatabase(path: folder.path + "/foreign.db"))
    #expect(try foreign.int("select count(*) from sqlite_schema") == 1)
  }

  @Test func `a failed migration restores the state before the first one`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    try writer.execute("insert into forum (name) values ($1)", "kitchen")
    let broken = try migrator(Self.texts + ["create table tag (id integer primary key) strict; select nonsense;"])
    let failed = error { try broken.migrate(writer, at: 2) }
    guard case .failed("0004_step_4.sql", let reason, .unchanged) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    #expect(reason.contains("no such column: nonsense"))
    #expect(try writer.all("select name from forum") { row in try row.text(0) } == ["kitchen"])
    #expect(try writer.int("select max(number) from migration") == 1)
    #expect(try writer.int("select count(*) from sqlite_schema where name in ('message', 'tag')") == 0)
    #expect(try writer.int("pragma foreign_keys") == 1)
    #expect(try snapshots == [])
    // Without the faulty file all migrations succeed.
    try FileManager.default.removeItem(atPath: files + "/0004_step_4.sql")
    #expect(try migrator(Self.texts).migrate(writer, at: 3).map(\.number) == [2, 3])
  }

  @Test func `the snapshot before the last migrations is kept and leads back`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    #expect(try snapshots == [])
    try writer.execute("insert into forum (name) values ($1)", "kitchen")
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 2)
    try writer.execute("insert into forum (name) values ($1)", "cellar")
    try migrator(Self.texts).migrate(writer, at: 3)
    #expect(try snapshots == ["test.db.before-migration"])
    let kept = Migrator.snapshotPath(of: folder.database)
    let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let before = try Connection.reader(kept)
    #expect(try before.int("select max(number) from migration") == 2)
    #expect(try before.all("select name from forum") { row in try row.text(0) } == ["kitchen", "cellar"])
    // A start without migrations changes nothing.
    try migrator(Self.texts).migrate(writer, at: 4)
    #expect(try before.int("select max(number) from migration") == 2)
    #expect(try snapshots == ["test.db.before-migration"])
  }

  @Test func `a failed migration keeps the earlier snapshot`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 2)
    #expect(error { try migrator(Array(Self.texts[..<2]) + ["nonsense"]).migrate(writer, at: 3) } != nil)
    #expect(try snapshots == ["test.db.before-migration"])
    let before = try Connection.reader(Migrator.snapshotPath(of: folder.database))
    #expect(try before.int("select max(number) from migration") == 1)
  }

  @Test func `in a new database the migrations before a failed one are kept`() throws {
    let writer = try folder.writer()
    let failed = error { try migrator([Self.texts[0], "insert into nowhere values (1);"]).migrate(writer, at: 1) }
    guard case .failed("0002_step_2.sql", _, .partlyApplied) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    #expect(try writer.int("select max(number) from migration") == 1)
  }

  @Test func `a migration that leaves a dangling reference fails`() throws {
    let writer = try folder.writer()
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 1)
    let failed = error {
      try migrator(Array(Self.texts[..<2]) + ["insert into message values (1, 999);"]).migrate(writer, at: 2)
    }
    #expect(failed?.description.contains("violate a foreign key, the first in table message") == true)
    #expect(try writer.int("select count(*) from message") == 0)
  }

  @Test func `a referenced table can be rebuilt`() throws {
    let writer = try folder.writer()
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 1)
    try writer.executeScript("insert into forum values (1, 'garden'); insert into message values (10, 1)")
    let anew = """
      create table new_forum (id integer primary key, name text not null, color text) strict;
      insert into new_forum (id, name) select id, name from forum;
      drop table forum;
      alter table new_forum rename to forum;
      """
    try migrator(Array(Self.texts[..<2]) + [anew]).migrate(writer, at: 2)
    #expect(try writer.int("select count(*) from message join forum on forum.id = message.forum") == 1)
    #expect(throws: SQLiteError.self) { try writer.execute("insert into message values (11, 2)") }
  }

  @Test func `a migration may not end its transaction`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    let failed = error {
      try migrator([Self.texts[0], "insert into forum (name) values ('x'); commit; begin;"]).migrate(writer, at: 2)
    }
    #expect(failed != nil)
    #expect(try writer.int("select count(*) from forum") == 0)
  }

  @Test func `after a power cut the next start resumes, and can still restore the snapshot`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    try writer.execute("insert into forum (name) values ($1)", "kitchen")
    try writer.backUp(to: Migrator.unfinishedSnapshotPath(of: folder.database))
    try migrator(Array(Self.texts[..<2])).migrate(writer, at: 2)
    #expect(try snapshots == ["test.db.before-migration"])
    // The same with a failing third migration.
    try writer.replaceContents(with: try freshCopy())
    let failed = error { try migrator(Array(Self.texts[..<2]) + ["nonsense"]).migrate(writer, at: 3) }
    #expect(failed?.description.contains("The database is as it was before") == true)
    #expect(try writer.int("select max(number) from migration") == 1)
    #expect(try writer.int("select count(*) from forum") == 1)
  }

  /// A database at migration 2. The database under test gets the snapshot of migration 1.
  private func freshCopy() throws -> String {
    let path = folder.path + "/other.db"
    let other = try Connection.writer(path)
    try migrator([Self.texts[0]], at: "one").migrate(other, at: 1)
    try other.execute("insert into forum (name) values ($1)", "kitchen")
    try other.backUp(to: Migrator.unfinishedSnapshotPath(of: folder.database))
    try migrator(Array(Self.texts[..<2])).migrate(other, at: 2)
    try other.backUp(to: folder.path + "/level-2.db")
    return folder.path + "/level-2.db"
  }

  private func migrator(_ texts: [String], at name: String) throws -> Migrator {
    let folderPath = folder.path + "/" + name
    try FileManager.default.createDirectory(atPath: folderPath, withIntermediateDirectories: false)
    for migration in try known(texts) {
      try FileManager.default.copyItem(atPath: files + "/" + migration.file, toPath: folderPath + "/" + migration.file)
    }
    return Migrator(folder: folderPath, known: try known(texts))
  }

  @Test func `without space for a snapshot no migration runs`() throws {
    let writer = try folder.writer()
    try migrator([Self.texts[0]]).migrate(writer, at: 1)
    // A folder has the name of the snapshot.
    let snapshot = Migrator.unfinishedSnapshotPath(of: folder.database)
    try FileManager.default.createDirectory(atPath: snapshot + ".part/x", withIntermediateDirectories: true)
    guard case .noSnapshot(let path, _) = error({ try migrator(Self.texts).migrate(writer, at: 2) }) else {
      Issue.record("not refused")
      return
    }
    #expect(path == snapshot)
    #expect(try writer.int("select max(number) from migration") == 1)
  }

  @Test func `a full disk during a migration keeps the old state`() throws {
    for nth in 1...40 {
      let folder = try TemporaryFolder()
      let disk = try FaultyDisk(seed: UInt64(nth))
      let writer = try disk.writer(folder.database)
      defer { writer.close() }
      let files = try MigratorTests(in: folder)
      try files.migrator([Self.texts[0]]).migrate(writer, at: 1)
      try writer.execute("insert into forum (name) values ($1)", "kitchen")
      disk.fail(FAULTY_WRITE, nth: nth, times: 1, code: Code.full)
      do {
        try files.migrator(Self.texts).migrate(writer, at: 2)
      } catch let refusal as MigrationError {
        #expect(refusal.description.contains("full"))
      }
      disk.heal()
      let level = try writer.int("select max(number) from migration")
      #expect(level == 1 || level == 3)
      #expect(try writer.int("select count(*) from forum") == (level == 1 ? 1 : 2))
      #expect(try files.snapshots == (level == 1 ? [] : ["test.db.before-migration"]))
      #expect(try writer.integrityFaults() == [])
    }
  }

  @Test func `every refusal has a readable message`() {
    let migration = Migration(number: 7, name: "people", hash: "")
    let rows: [MigrationError] = [
      .unreadable("The folder", reason: "no such file"), .missingFile("0007_people.sql", folder: "/m"),
      .changedFile("0007_people.sql", folder: "/m"), .unknownFile("0008_x.sql", folder: "/m"),
      .newerDatabase(path: "/d", level: 8, known: 7), .otherHistory(path: "/d", migration),
      .foreignDatabase(path: "/d"),
      .noSnapshot(path: "/d", reason: "disk full"), .failed("0007_people.sql", reason: "syntax", .partlyApplied),
      .failed("0007_people.sql", reason: "syntax", .unchanged),
      .failed("0007_people.sql", reason: "syntax", .notRestored(snapshot: "/s", reason: "disk full")),
    ]
    for row in rows {
      #expect(row.description.first?.isUppercase == true)
      #expect(row.description.last == ".")
    }
    #expect(migration.file == "0007_people.sql")
  }
}
