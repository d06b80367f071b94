import ParleyCrypto

/// Writes the entries of a backup and their sums.
struct BackupWriter: ~Copyable {
  private let file: DiskFile
  private let modified: Int
  private var sums: [UInt8] = []
  private(set) var size = 0

  /// `createdAt` is in milliseconds.
  init(_ path: String, createdAt: Int) throws {
    file = try DiskFile.make(path)
    modified = createdAt / 1_000
  }

  mutating func add(_ name: String, _ bytes: [UInt8]) throws {
    let header = TarHeader(name: name, size: bytes.count, modified: modified)
    try file.write(header.block + bytes + [UInt8](repeating: 0, count: header.padding))
    addSum(name, try Digest.sha256(of: bytes), header)
  }

  /// Adds a file and returns its digest. Adds nothing and returns nil if its size or digest differs; `wrote` is called
  /// with the size of each chunk.
  mutating func add(
    _ name: String, from source: DiskFile, size: Int, digest expected: [UInt8]?, wrote: (Int) throws -> Void
  ) throws -> [UInt8]? {
    let header = TarHeader(name: name, size: size, modified: modified)
    try file.write(header.block)
    var digest = try Digest(.sha256)
    var rest = size
    while rest > 0 {
      let chunk = try source.read(min(rest, DiskFile.pieceSize))
      guard !chunk.isEmpty else { break }
      try digest.update(chunk)
      try file.write(chunk)
      rest -= chunk.count
      try wrote(chunk.count)
    }
    let found = try digest.finish()
    guard rest == 0, try source.read(1).isEmpty, expected == nil || found == expected else {
      try file.cut(to: self.size)
      return nil
    }
    try file.write([UInt8](repeating: 0, count: header.padding))
    addSum(name, found, header)
    return found
  }

  private mutating func addSum(_ name: String, _ digest: [UInt8], _ header: TarHeader) {
    sums += BackupReader.sumLine(digest, name)
    size += TarHeader.blockSize + header.size + header.padding
  }

  /// Ends and syncs the archive.
  mutating func finish() throws {
    try add(BackupName.sums, sums)
    try file.write([UInt8](repeating: 0, count: TarReader.endSize))
    size += TarReader.endSize
    try file.sync()
  }
}
