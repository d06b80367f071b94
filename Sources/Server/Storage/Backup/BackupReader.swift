import ParleyCrypto

/// Reads a backup as a whole: every entry in its place, every byte by its sum. It takes exactly what `BackupWriter`
/// writes, and throws a `BackupDamage` for all else.
struct BackupReader: ~Copyable {
  struct Contents {
    let manifest: BackupManifest
    /// The SHA-256 of the database.
    let database: [UInt8]
    /// How many uploaded files there are.
    let files: Int
    let size: Int
  }

  private var tar: TarReader
  private let size: Int
  /// Where to put what is in it; nil when it is only looked at.
  private let folder: String?
  private let phase: BackupProgress.Phase
  private let report: (BackupProgress) throws -> Void
  /// The time that all entries have in common.
  private var modified: Int?
  /// What the sums at the end should say. Only their own sum is kept: a hostile archive has as many entries as it likes.
  private var sums: Digest
  private var sumsSize = 0

  static func read(
    _ path: String, unpackingTo folder: String? = nil, _ phase: BackupProgress.Phase,
    _ report: @escaping (BackupProgress) throws -> Void
  ) throws -> Contents {
    let file = try DiskFile.open(path, followingLinks: true)
    var reader = try BackupReader(file, folder, phase, report)
    return try reader.contents()
  }

  static func sumLine(_ digest: [UInt8], _ name: String) -> [UInt8] { Array("\(Hex.text(digest))  \(name)\n".utf8) }

  private init(
    _ file: DiskFile, _ folder: String?, _ phase: BackupProgress.Phase,
    _ report: @escaping (BackupProgress) throws -> Void
  ) throws {
    let size = try file.size
    let sums = try Digest(.sha256)
    tar = TarReader(file, size: size)
    self.size = size
    self.sums = sums
    self.folder = folder
    self.phase = phase
    self.report = report
  }

  private mutating func contents() throws -> Contents {
    let manifest = try readManifest()
    let database = try next()
    guard database.name == BackupName.database else { throw BackupDamage.misplaced(database.name) }
    let digest = try take(database)
    let (files, last) = try takeFiles()
    guard last.size == sumsSize else { throw BackupDamage.altered(last.name) }
    let said = try digestOfEntry()
    if let extra = try tar.next() { throw BackupDamage.misplaced(extra.name) }
    guard try takeSums() == said else { throw BackupDamage.altered(last.name) }
    return Contents(manifest: manifest, database: digest, files: files, size: size)
  }

  private mutating func readManifest() throws -> BackupManifest {
    let header = try next()
    guard header.name == BackupName.manifest else { throw BackupDamage.foreign }
    guard header.size <= BackupManifest.largest else { throw BackupDamage.badManifest }
    let bytes = try whole()
    let manifest = try BackupManifest(reading: bytes)
    guard header.modified == manifest.createdAt / 1_000 else { throw BackupDamage.altered(header.name) }
    try note(try Digest.sha256(of: bytes), header)
    return manifest
  }

  /// The uploaded files, in the order of their names, so that none can be there twice; and the entry behind them.
  private mutating func takeFiles() throws -> (count: Int, sums: TarHeader) {
    var count = 0
    var last = ""
    while true {
      let header = try next()
      if header.name == BackupName.sums { return (count, header) }
      guard let digest = StoredFile.digest(inPath: header.name), digest > last else {
        throw BackupDamage.misplaced(header.name)
      }
      guard Hex.text(try take(header)) == digest else { throw BackupDamage.altered(header.name) }
      last = digest
      count += 1
    }
  }

  // MARK: Entries

  private mutating func next() throws -> TarHeader {
    guard let header = try tar.next() else { throw BackupDamage.cutOff }
    guard header.modified == modified ?? header.modified else { throw BackupDamage.altered(header.name) }
    modified = header.modified
    return header
  }

  private mutating func whole() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try tar.piece() { bytes += piece }
    return bytes
  }

  private mutating func digestOfEntry() throws -> [UInt8] {
    var digest = try Digest(.sha256)
    while let piece = try tar.piece() { try digest.update(piece) }
    return try digest.finish()
  }

  /// Reads an entry, and puts it into the folder; what its digest is.
  private mutating func take(_ header: TarHeader) throws -> [UInt8] {
    let file = try folder.map { folder in
      let path = "\(folder)/\(header.name)"
      try Disk.makeFolders(to: path, below: folder)
      return try DiskFile.make(path)
    }
    var digest = try Digest(.sha256)
    while let piece = try tar.piece() {
      try digest.update(piece)
      try file?.write(piece)
      try report(BackupProgress(phase, done: tar.position, of: size))
    }
    try file?.sync()
    let found = try digest.finish()
    try note(found, header)
    return found
  }

  private mutating func takeSums() throws -> [UInt8] {
    var taken = try Digest(.sha256)
    swap(&taken, &sums)
    return try taken.finish()
  }

  private mutating func note(_ digest: [UInt8], _ header: TarHeader) throws {
    let line = Self.sumLine(digest, header.name)
    try sums.update(line)
    sumsSize += line.count
  }
}
