import ParleyCrypto
import ParleyJSON

/// Reads a backup of a `BackupFolder` and verifies the hash of every byte that its sums name. It accepts exactly the output of
/// `FolderBackupMaker` and throws a `BackupDamage` for anything else.
struct FolderBackupReader {
  let backup: FolderBackup
  /// Target folder of the database and the journal; nil to verify only.
  let unpacked: String?
  /// Whether uploaded files are unpacked, too.
  let unpacksFiles: Bool
  let phase: BackupProgress.Phase
  let report: (BackupProgress) throws -> Void

  func read() throws -> BackupReader.Contents {
    guard Disk.exists("\(backup.path)/\(BackupName.manifest)") else { throw BackupDamage.foreign }
    let total = try measure()
    var done = 0
    var lines = try sums()
    let manifest = try readManifest(try lines.next())
    let database = try read(try lines.next(), named: BackupName.database, to: BackupName.database, &done, total)
    var line = try lines.next()
    var erasures: [Erasure] = []
    if let found = line, found.name == BackupName.erasures {
      erasures = try readErasures(found)
      line = try lines.next()
    }
    var files: Set<[UInt8]> = []
    var last = ""
    while let found = line {
      let path = String(found.name.trimmingPrefix(BackupFolder.above))
      guard let digest = StoredFile.digest(inPath: path), found.name == BackupFolder.above + path, digest > last else {
        throw BackupDamage.unexpectedEntry(found.name)
      }
      guard digest == found.digest else { throw BackupDamage.altered(BackupName.sums) }
      files.insert(try read(found, named: found.name, to: unpacksFiles ? path : nil, &done, total))
      last = digest
      line = try lines.next()
    }
    return BackupReader.Contents(
      manifest: manifest, database: database, erasures: erasures, files: files.count, size: total, digests: files)
  }

  private func sums() throws -> SumLines {
    let path = "\(backup.path)/\(BackupName.sums)"
    guard Disk.exists(path) else { throw BackupDamage.missingEntry(BackupName.sums) }
    return try SumLines(path)
  }

  /// The size of all entries. A missing one is found before the first is read.
  private func measure() throws -> Int {
    var lines = try sums()
    var total = 0
    while let line = try lines.next() {
      guard let size = Disk.size("\(backup.path)/\(line.name)") else { throw BackupDamage.missingEntry(line.name) }
      total += size
    }
    return total
  }

  private func readManifest(_ line: SumLines.Line?) throws -> BackupManifest {
    let manifest = try BackupManifest(
      reading: try readAll(line, named: BackupName.manifest, maxBytes: BackupManifest.maxBytes) ?? [])
    guard BackupFolder.name(at: manifest.createdAt) == backup.name else {
      throw BackupDamage.altered(BackupName.manifest)
    }
    return manifest
  }

  private func readErasures(_ line: SumLines.Line) throws -> [Erasure] {
    let bytes = try readAll(line, named: BackupName.erasures, maxBytes: BackupReader.maxJournalBytes) ?? []
    return try BackupReader.erasures(of: bytes)
  }

  /// The content of a small entry; nil if it is larger.
  private func readAll(_ line: SumLines.Line?, named name: String, maxBytes: Int) throws -> [UInt8]? {
    guard let line, line.name == name else { throw BackupDamage.unexpectedEntry(line?.name ?? BackupName.sums) }
    let bytes = try DiskFile.open("\(backup.path)/\(name)").read(maxBytes + 1)
    guard bytes.count <= maxBytes, Hex.text(try Digest.sha256(of: bytes)) == line.digest else {
      throw BackupDamage.altered(name)
    }
    return bytes
  }

  /// Reads an entry, unpacks it and returns its digest. The caller syncs all files at once.
  private func read(
    _ line: SumLines.Line?, named name: String, to target: String?, _ done: inout Int, _ total: Int
  ) throws -> [UInt8] {
    guard let line, line.name == name else { throw BackupDamage.unexpectedEntry(line?.name ?? BackupName.sums) }
    let source = try DiskFile.open("\(backup.path)/\(name)")
    var copy: DiskFile?
    if let unpacked, let target {
      try Disk.makeFolders(to: "\(unpacked)/\(target)", below: unpacked)
      copy = try DiskFile.make("\(unpacked)/\(target)")
    }
    var digest = try Digest(.sha256)
    while true {
      let chunk = try source.read(DiskFile.pieceSize)
      guard !chunk.isEmpty else { break }
      try digest.update(chunk)
      try copy?.write(chunk)
      done += chunk.count
      try report(BackupProgress(phase, done: min(done, total), of: total))
    }
    let found = try digest.finish()
    guard Hex.text(found) == line.digest else { throw BackupDamage.altered(name) }
    return found
  }
}
