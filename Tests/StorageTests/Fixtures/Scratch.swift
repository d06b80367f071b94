import Foundation
import ParleyCrypto
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A temporary folder, deleted with this object.
final class Scratch: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "parley-backup-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func bytes(of name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: "\(path)/\(name)"))) }

  func write(_ bytes: [UInt8], to name: String) throws {
    let file = URL(filePath: "\(path)/\(name)")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  func names(in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
  }

  /// Runs a shell command in this folder and returns its exit status.
  func run(_ command: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = URL(filePath: path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// A closed garden with some messages and two uploaded files, and its backup: `garden/`, `good.tar`.
  static func withBackup() async throws -> Scratch {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/garden")
    for number in 0..<20 { _ = try await garden.post("seeds \(number)", as: "client-\(number)") }
    try await garden.upload(Array("a rose".utf8))
    try await garden.upload([UInt8](repeating: 7, count: 70_000))
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    await garden.store.close()
    return scratch
  }
}

extension DataFolder {
  /// Restores an archive.
  func restore(
    _ path: String, replacing: Bool, aside: String, keepsSessions: Bool = false, at now: Int64,
    report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> Restored {
    try restore(
      BackupSource.archive(path), replacing: replacing, aside: aside, keepsSessions: keepsSessions, at: now,
      report: report)
  }
}

extension Garden {
  /// Stores a file as an upload, with its row.
  @discardableResult func upload(_ bytes: [UInt8]) async throws -> StoredFile {
    let file = StoredFile(digest: try Digest.sha256(of: bytes), size: bytes.count)
    let path = URL(filePath: "\(folder)/\(file.path)")
    try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: path)
    try await store.write { tx throws(Refusal) in
      let id = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
          values ($1, 1, $2, $3, 'rose.txt', 'file', 'text/plain', 1)
          """, id, file.digest, file.size)
        try connection.countFileUse()
      }
    }
    return file
  }
}

/// The parts of an archive, to assemble invalid ones.
struct Parts {
  struct Entry {
    var name: String
    var bytes: [UInt8]
    /// Replaces the right header.
    var header: [UInt8]?
  }

  var entries: [Entry]
  /// Nil for the right checksums.
  var sums: [UInt8]?
  var tail: [UInt8] = [UInt8](repeating: 0, count: 1_024)
  static let modified = 1_800_000_000

  init(reading path: String) throws {
    let file = try DiskFile.open(path)
    var tar = TarReader(file, size: try file.size)
    entries = []
    while let header = try tar.next() {
      var bytes: [UInt8] = []
      while let chunk = try tar.chunk() { bytes += chunk }
      entries.append(Entry(name: header.name, bytes: bytes))
    }
    entries.removeLast()
  }

  var bytes: [UInt8] {
    get throws {
      var sums: [UInt8] = []
      var all: [UInt8] = []
      for entry in entries {
        let header = TarHeader(name: entry.name, size: entry.bytes.count, modified: Self.modified)
        all += (entry.header ?? header.block) + entry.bytes + [UInt8](repeating: 0, count: header.padding)
        sums += BackupReader.sumLine(try Digest.sha256(of: entry.bytes), entry.name)
      }
      sums = self.sums ?? sums
      let header = TarHeader(name: BackupName.sums, size: sums.count, modified: Self.modified)
      return all + header.block + sums + [UInt8](repeating: 0, count: header.padding) + tail
    }
  }
}

extension TarHeader {
  /// A changed header block with a matching checksum.
  static func block(
    _ name: String, size: Int, type: Character = "0", link: String = "", owner: String? = nil
  ) throws -> [UInt8] {
    var block = TarHeader(name: name, size: size, modified: Parts.modified).block
    block[156] = try #require(type.asciiValue)
    for (index, byte) in link.utf8.enumerated() { block[157 + index] = byte }
    for (index, byte) in (owner ?? "").utf8.enumerated() { block[265 + index] = byte }
    block.replaceSubrange(148..<156, with: Array(repeating: 32, count: 8))
    let digits = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
    let sum = String(repeating: "0", count: 6 - digits.count) + digits
    block.replaceSubrange(148..<156, with: Array(sum.utf8) + [0, 32])
    return block
  }
}

extension Connection {
  /// Updates the file usage counts for rows that a test inserted.
  func countFileUse() throws(SQLiteError) {
    try execute(
      """
      insert into file_use (owner_id, bytes)
      select 0, sum(size) from file
      union all
      select owner_id, sum(size) from file where true group by owner_id
      on conflict (owner_id) do update
      set bytes = excluded.bytes
      """)
  }
}
