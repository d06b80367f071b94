import Foundation
import ParleyCrypto
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// Files that are not complete Parley backups. Restoring them has no effect.
@Suite struct BackupDamageTests {
  private static func damage(of name: String, in scratch: Scratch) throws -> BackupDamage? {
    do {
      _ = try BackupReader.read("\(scratch.path)/\(name)", .verifying) { _ in }
      return nil
    } catch let damage as BackupDamage {
      return damage
    }
  }

  /// Restores an invalid archive. The restore must fail before any change.
  private static func refusal(_ bytes: [UInt8], in scratch: Scratch) throws -> BackupDamage? {
    try scratch.write(bytes, to: "bad.tar")
    try? FileManager.default.createDirectory(atPath: scratch.path + "/target", withIntermediateDirectories: false)
    let folder = try DataFolder(scratch.path + "/target")
    do {
      _ = try folder.restore(scratch.path + "/bad.tar", replacing: false, aside: "5", at: 5) { _ in }
      return nil
    } catch {
      #expect(try scratch.names(in: "target") == ["lock"])
      guard case .refused(_, let damage) = error else { throw error }
      return damage
    }
  }

  @Test func `an archive truncated at any length is refused`() async throws {
    let scratch = try await Scratch.withBackup()
    let good = try scratch.bytes(of: "good.tar")
    #expect(try Self.damage(of: "good.tar", in: scratch) == nil)
    #expect(try Self.refusal(Array(good.prefix(good.count / 2)), in: scratch) == .truncated)
    let lengths = Set(stride(from: 0, to: good.count, by: 512)).union(stride(from: 1, to: good.count, by: 7_919))
      .union((1...20).map { good.count - $0 })
    for length in lengths.sorted(by: >) {
      #expect(truncate(scratch.path + "/good.tar", off_t(length)) == 0)
      #expect(try Self.damage(of: "good.tar", in: scratch) == .truncated, "\(length) bytes")
    }
  }

  @Test func `an archive with any byte changed is refused`() async throws {
    let scratch = try await Scratch.withBackup()
    var good = try scratch.bytes(of: "good.tar")
    let file = try FileHandle(forUpdating: URL(filePath: scratch.path + "/good.tar"))
    // Dense in the first and last blocks (TarTests changes every byte of a header), sparse in between.
    let offsets =
      Array(stride(from: 0, to: 1_536, by: 5)) + Array(stride(from: 1_536, to: good.count - 3_072, by: 1_999))
      + Array(stride(from: good.count - 3_072, to: good.count, by: 5))
    for offset in offsets {
      try file.put(good[offset] ^ 1, at: offset)
      #expect(try Self.damage(of: "good.tar", in: scratch) != nil, "byte \(offset)")
      try file.put(good[offset], at: offset)
    }
    #expect(try Self.damage(of: "good.tar", in: scratch) == nil)
    good[good.count / 2] ^= 0x40
    #expect(try Self.refusal(good, in: scratch) != nil)
  }

  @Test func `an archive written by another program is refused`() async throws {
    let scratch = try await Scratch.withBackup()
    let good = try scratch.bytes(of: "good.tar")
    #expect(try scratch.run("mkdir other && cd other && tar xf ../good.tar") == 0)
    #expect(try scratch.run("cd other && tar cf ../other.tar parley-backup.json parley.db files SHA256SUMS") == 0)
    #expect(try scratch.run("gzip -k good.tar") == 0)
    #expect(try Self.refusal(scratch.bytes(of: "other.tar"), in: scratch) == .foreign)
    #expect(try Self.refusal(scratch.bytes(of: "good.tar.gz"), in: scratch) == .foreign)
    #expect(try Self.refusal(scratch.bytes(of: "garden/parley.db"), in: scratch) == .foreign)
    #expect(try Self.refusal([], in: scratch) == .truncated)
    #expect(try Self.refusal([UInt8](repeating: 0, count: 1_024), in: scratch) == .truncated)
    #expect(try Self.refusal(good + good, in: scratch) == .trailingBytes)
    #expect(try Self.refusal(good + [0], in: scratch) == .trailingBytes)
    try FileManager.default.createDirectory(atPath: scratch.path + "/folder.tar", withIntermediateDirectories: false)
    let folder = try DataFolder(scratch.path + "/target")
    for path in ["/folder.tar", "/nothing.tar", "/dev/null"] {
      #expect(throws: BackupFault.self) {
        try folder.restore(scratch.path + path, replacing: false, aside: "5", at: 5) { _ in }
      }
    }
  }

  @Test(arguments: [
    "../escaped", "/tmp/escaped", "files/../../escaped", "files/ab/cd/../../../escaped", "files/ab/cd/short", "files",
    "files/aa/bb/" + String(repeating: "c", count: 64), "files/CC/CC/" + String(repeating: "C", count: 64),
    "parley.db", "parley-backup.json", "parley.db-wal", "lock", "./parley.db", "",
    "files/cc/cc//" + String(repeating: "c", count: 64),
  ])
  func `an unexpected entry name is refused and reported`(name: String) async throws {
    let scratch = try await Scratch.withBackup()
    var parts = try Parts(reading: scratch.path + "/good.tar")
    parts.entries.append(.init(name: name, bytes: Array("evil".utf8)))
    #expect(try Self.refusal(parts.bytes, in: scratch) == .unexpectedEntry(name))
  }

  @Test func `entries out of order, duplicated or missing are refused`() async throws {
    let scratch = try await Scratch.withBackup()
    let parts = try Parts(reading: scratch.path + "/good.tar")
    #expect(parts.entries.count == 4)
    try scratch.write(parts.bytes, to: "same.tar")
    #expect(try Self.damage(of: "same.tar", in: scratch) == nil)

    var changed = parts
    changed.entries.swapAt(2, 3)
    #expect(try Self.refusal(changed.bytes, in: scratch) == .unexpectedEntry(parts.entries[2].name))
    changed = parts
    changed.entries.append(parts.entries[3])
    #expect(try Self.refusal(changed.bytes, in: scratch) == .unexpectedEntry(parts.entries[3].name))
    changed = parts
    changed.entries.swapAt(0, 1)
    #expect(try Self.refusal(changed.bytes, in: scratch) == .foreign)
    changed = parts
    changed.entries.remove(at: 1)
    #expect(try Self.refusal(changed.bytes, in: scratch) == .unexpectedEntry(parts.entries[2].name))
    changed = parts
    changed.entries.remove(at: 0)
    #expect(try Self.refusal(changed.bytes, in: scratch) == .foreign)
    changed = parts
    changed.entries[3].bytes[0] ^= 1
    #expect(try Self.refusal(changed.bytes, in: scratch) == .altered(parts.entries[3].name))
    changed = parts
    changed.sums = []
    #expect(try Self.refusal(changed.bytes, in: scratch) == .altered("SHA256SUMS"))
    changed = parts
    changed.tail = Array("after".utf8) + [UInt8](repeating: 0, count: 1_019)
    #expect(try Self.refusal(changed.bytes, in: scratch) != nil)
    changed = parts
    changed.tail = TarHeader(name: "after", size: 0, modified: Parts.modified).block + parts.tail
    #expect(try Self.refusal(changed.bytes, in: scratch) == .unexpectedEntry("after"))
  }

  @Test(arguments: ["1", "2", "5", "6", "x", "L"] as [Character])
  func `links, folders and tar extensions are refused`(type: Character) async throws {
    let scratch = try await Scratch.withBackup()
    var parts = try Parts(reading: scratch.path + "/good.tar")
    let entry = parts.entries[2]
    parts.entries[2].header = try TarHeader.block(entry.name, size: entry.bytes.count, type: type, link: "../../lock")
    #expect(try Self.refusal(parts.bytes, in: scratch) == .notRegularFile(entry.name))
  }

  @Test(arguments: [-1_024, -1, 1, 512, 1 << 20, 1 << 45, Int.max >> 1])
  func `a wrong entry size is refused`(difference: Int) async throws {
    let scratch = try await Scratch.withBackup()
    var parts = try Parts(reading: scratch.path + "/good.tar")
    let entry = parts.entries[3]
    parts.entries[3].header =
      TarHeader(
        name: entry.name, size: entry.bytes.count + difference, modified: Parts.modified
      ).block
    #expect(try Self.refusal(parts.bytes, in: scratch) != nil)
  }

  @Test func `a manifest with additional, missing or wrong members is refused`() async throws {
    let scratch = try await Scratch.withBackup()
    let parts = try Parts(reading: scratch.path + "/good.tar")
    let text = String(decoding: parts.entries[0].bytes, as: UTF8.self)
    let rows: [(String, BackupDamage)] = [
      (text.replacing("\"format\":1", with: "\"format\":2"), .newerFormat(2)),
      (text.replacing("\"format\":1", with: "\"format\":\"1\""), .badManifest),
      (text.replacing("{\"format\"", with: "{ \"format\""), .badManifest),
      (text.replacing("\"format\":1", with: "\"format\":1,\"more\":1"), .badManifest),
      (text.replacing("1800000000000", with: "1800000001000"), .altered("parley-backup.json")),
      (text.replacing("1800000000000", with: "-1"), .badManifest),
      (String(text.dropLast()), .badManifest), ("", .badManifest), ("[]\n", .badManifest),
      (text + String(repeating: " ", count: 70_000), .badManifest),
      (
        text.replacing("\"message\":20", with: "\"message\":21"),
        .badDatabase("its row counts differ from parley-backup.json")
      ),
      (
        text.replacing(/"schema":\d+/, with: "\"schema\":7"),
        .badDatabase("The database parley.db holds tables of another program. Choose another file.")
      ),
    ]
    for (changed, damage) in rows {
      var parts = parts
      parts.entries[0].bytes = Array(changed.utf8)
      #expect(try Self.refusal(parts.bytes, in: scratch) == damage, "\(changed)")
    }
  }

  /// Changes to the database of an otherwise valid backup.
  private static let changes: [(sql: String, word: String)] = [
    ("pragma application_id = 0", "another program"),
    (
      "insert into migration (number, name, hash, applied_at) select max(number) + 1, 'later', 'x', 1 from migration",
      "newer"
    ),
    ("update migration set hash = 'x' where number = 3", "another migration"),
    ("create trigger evil after update on setting begin delete from message; end", "triggers"),
    ("create view evil as select 1", "triggers or views"),
    (
      "drop trigger audit_refuses_update; create trigger audit_refuses_update after update on audit begin delete from message; end",
      "triggers"
    ),
    ("update message set previous_message = 1 where seq = 3", "but names 1"),
    ("update conversation set last_seq = 21", "but ends with"),
    ("update message set author_id = 99 where seq = 3", "account"),
    ("delete from event where id = 7", "event 8 comes after 6"),
    ("update setting set value = 'other' where name = 'epoch'", "epoch"),
    ("insert into setting (name, value) values ('more', '1')", "row counts"),
    ("delete from file where size = 6", "files"),
    ("drop table hyperlink", "row counts"),
  ]

  @Test(arguments: changes.indices)
  func `a corrupt or foreign database is refused`(index: Int) async throws {
    let (sql, word) = Self.changes[index]
    let scratch = try await Scratch.withBackup()
    var parts = try Parts(reading: scratch.path + "/good.tar")
    try scratch.write(parts.entries[1].bytes, to: "changed.db")
    let connection = try Connection.writer(scratch.path + "/changed.db")
    try connection.execute("pragma foreign_keys = off")
    try connection.executeScript(sql)
    // The manifest counts the rows again, so that the check under test must find the change.
    let isCounted = word == "files"
    let counts = try connection.counts()
    connection.close()
    parts.entries[1].bytes = try scratch.bytes(of: "changed.db")
    if isCounted {
      let manifest = try BackupManifest(reading: parts.entries[0].bytes)
      parts.entries[0].bytes =
        BackupManifest(
          program: manifest.program, schema: manifest.schema, epoch: manifest.epoch, createdAt: manifest.createdAt,
          counts: counts
        ).bytes
    }
    let damage = try Self.refusal(parts.bytes, in: scratch)
    guard case .badDatabase(let reason) = damage else {
      Issue.record("\(sql): \(String(describing: damage))")
      return
    }
    #expect(reason.contains(word), "\(sql): \(reason)")
  }

  @Test func `a database file that is not SQLite is refused`() async throws {
    let scratch = try await Scratch.withBackup()
    let parts = try Parts(reading: scratch.path + "/good.tar")
    let database = parts.entries[1].bytes
    let rows: [[UInt8]] = [
      [], Array("seeds".utf8), Array(database.prefix(4_096)), Array(database.prefix(100)),
      database.enumerated().map { $0.offset > 8_192 ? 0xff : $0.element },
    ]
    for bytes in rows {
      var parts = parts
      parts.entries[1].bytes = bytes
      guard case .badDatabase = try Self.refusal(parts.bytes, in: scratch) else {
        Issue.record("\(bytes.count) bytes were not refused")
        continue
      }
    }
  }
}

extension FileHandle {
  func put(_ byte: UInt8, at offset: Int) throws {
    try seek(toOffset: UInt64(offset))
    try write(contentsOf: [byte])
  }

  func byte(at offset: Int) throws -> UInt8? {
    try seek(toOffset: UInt64(offset))
    return try read(upToCount: 1)?.first
  }
}
