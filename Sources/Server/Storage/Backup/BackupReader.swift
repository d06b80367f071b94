import ParleyCrypto

/// Reads a whole backup and verifies the position of every entry and the hash of every byte. It accepts exactly the
/// output of `BackupWriter` and throws a `BackupDamage` for anything else.
struct BackupReader: ~Copyable {
  struct Contents {
    let manifest: BackupManifest
    /// SHA-256 of the database.
    let database: [UInt8]
    /// The journal of erasures.
    let erasures: [Erasure]
    /// Number of uploaded files.
    let files: Int
    let size: Int
    /// The digests of the uploaded files; nil if all are unpacked.
    var digests: Set<[UInt8]>?
  }

  private var tar: TarReader
  /// Nil if it is read from a stream.
  private let size: Int?
  /// Target folder; nil to verify only.
  private let folder: String?
  private let phase: BackupProgress.Phase
  private let report: (BackupProgress) throws -> Void
  /// Time shared by all entries.
  private var modified: Int?
  /// Digest of the expected sums entry. Only the digest is stored, because a hostile archive may have any number of
  /// entries.
  private var sums: Digest
  private var sumsSize = 0

  /// The largest journal of erasures in bytes: half a million lines.
  static let maxJournalBytes = 1 << 26

  /// - Parameter path: nil for standard input.
  static func read(
    _ path: String?, unpackingTo folder: String? = nil, _ phase: BackupProgress.Phase,
    _ report: @escaping (BackupProgress) throws -> Void
  ) throws -> Contents {
    let file =
      try path.map { path throws(DiskError) in try DiskFile.open(path, followingLinks: true) } ?? DiskFile.input()
    var reader = try BackupReader(file, size: path == nil ? nil : file.size, folder, phase, report)
    return try reader.contents()
  }

  static func sumLine(_ digest: [UInt8], _ name: String) -> [UInt8] { Array("\(Hex.text(digest))  \(name)\n".utf8) }

  private init(
    _ file: DiskFile, size: Int?, _ folder: String?, _ phase: BackupProgress.Phase,
    _ report: @escaping (BackupProgress) throws -> Void
  ) throws {
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
    guard database.name == BackupName.database else { throw BackupDamage.unexpectedEntry(database.name) }
    let digest = try unpack(database)
    var header = try next()
    let erasures = header.name == BackupName.erasures ? try readErasures(header) : []
    if header.name == BackupName.erasures { header = try next() }
    let (files, last) = try readFiles(from: header)
    guard last.size == sumsSize else { throw BackupDamage.altered(last.name) }
    let storedDigest = try digestOfEntry()
    if let extra = try tar.next() { throw BackupDamage.unexpectedEntry(extra.name) }
    guard try finishSums() == storedDigest else { throw BackupDamage.altered(last.name) }
    return Contents(manifest: manifest, database: digest, erasures: erasures, files: files, size: tar.position)
  }

  private mutating func readManifest() throws -> BackupManifest {
    let header = try next()
    guard header.name == BackupName.manifest else { throw BackupDamage.foreign }
    guard header.size <= BackupManifest.maxBytes else { throw BackupDamage.badManifest }
    let bytes = try readAll()
    let manifest = try BackupManifest(reading: bytes)
    guard header.modified == manifest.createdAt / 1_000 else { throw BackupDamage.altered(header.name) }
    try addSum(try Digest.sha256(of: bytes), header)
    return manifest
  }

  private mutating func readErasures(_ header: TarHeader) throws -> [Erasure] {
    guard header.size <= Self.maxJournalBytes else { throw BackupDamage.altered(header.name) }
    let bytes = try readAll()
    try addSum(try Digest.sha256(of: bytes), header)
    return try Self.erasures(of: bytes)
  }

  static func erasures(of bytes: [UInt8]) throws -> [Erasure] {
    let contents = try ErasureJournal.contents(of: bytes)
    guard contents.damagedLines.isEmpty, !contents.isCut, !contents.erasures.isEmpty else {
      throw BackupDamage.altered(BackupName.erasures)
    }
    return contents.erasures
  }

  /// Reads the uploaded files, strictly ascending by name, so that none occurs twice. Returns the entry after them
  /// too.
  private mutating func readFiles(from first: TarHeader) throws -> (count: Int, sums: TarHeader) {
    var count = 0
    var last = ""
    var header = first
    while true {
      if header.name == BackupName.sums { return (count, header) }
      guard let digest = StoredFile.digest(inPath: header.name), digest > last else {
        throw BackupDamage.unexpectedEntry(header.name)
      }
      guard Hex.text(try unpack(header)) == digest else { throw BackupDamage.altered(header.name) }
      last = digest
      count += 1
      header = try next()
    }
  }

  // MARK: Entries

  private mutating func next() throws -> TarHeader {
    guard let header = try tar.next() else { throw BackupDamage.truncated }
    guard header.modified == modified ?? header.modified else { throw BackupDamage.altered(header.name) }
    modified = header.modified
    return header
  }

  private mutating func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let chunk = try tar.chunk() { bytes += chunk }
    return bytes
  }

  private mutating func digestOfEntry() throws -> [UInt8] {
    var digest = try Digest(.sha256)
    while let chunk = try tar.chunk() { try digest.update(chunk) }
    return try digest.finish()
  }

  /// Reads an entry, unpacks it into the folder and returns its digest. The caller syncs all files at once.
  private mutating func unpack(_ header: TarHeader) throws -> [UInt8] {
    let file = try folder.map { folder in
      let path = "\(folder)/\(header.name)"
      try Disk.makeFolders(to: path, below: folder)
      return try DiskFile.make(path)
    }
    var digest = try Digest(.sha256)
    while let chunk = try tar.chunk() {
      try digest.update(chunk)
      try file?.write(chunk)
      try report(BackupProgress(phase, done: tar.position, of: size ?? 0))
    }
    let found = try digest.finish()
    try addSum(found, header)
    return found
  }

  private mutating func finishSums() throws -> [UInt8] {
    var taken = try Digest(.sha256)
    swap(&taken, &sums)
    return try taken.finish()
  }

  private mutating func addSum(_ digest: [UInt8], _ header: TarHeader) throws {
    let line = Self.sumLine(digest, header.name)
    try sums.update(line)
    sumsSize += line.count
  }
}
