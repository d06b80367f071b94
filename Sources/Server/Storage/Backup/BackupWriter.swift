import ParleyCrypto

/// Writes the entries of a backup and their sums.
struct BackupWriter: ~Copyable {
  private let file: DiskFile
  /// A stream can't be cut, read back or synced.
  private let isStream: Bool
  private let modified: Int
  private var sums: [UInt8] = []
  private(set) var size = 0

  /// `createdAt` is in milliseconds.
  init(_ path: String, isStream: Bool = false, createdAt: Int) throws {
    file = isStream ? try DiskFile.openStream(path) : try DiskFile.make(path)
    self.isStream = isStream
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
    if isStream {
      // Found before the header is written, since a stream can't be cut.
      let found = try Self.digest(of: source)
      guard try source.size == size, expected == nil || found == expected else { return nil }
      try source.seek(to: 0)
    }
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
      guard !isStream else { throw BackupFault.impossible("\(source.path) changed while it was read.") }
      try file.cut(to: self.size)
      return nil
    }
    try file.write([UInt8](repeating: 0, count: header.padding))
    addSum(name, found, header)
    return found
  }

  private static func digest(of source: DiskFile) throws -> [UInt8] {
    var digest = try Digest(.sha256)
    while true {
      let chunk = try source.read(DiskFile.pieceSize)
      guard !chunk.isEmpty else { return try digest.finish() }
      try digest.update(chunk)
    }
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
    if !isStream { try file.sync() }
  }
}
