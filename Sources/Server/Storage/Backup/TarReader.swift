/// Reads an archive sequentially: headers as in `TarHeader`, zero padding, two zero blocks at the end, and no bytes
/// after them.
struct TarReader: ~Copyable {
  private let file: DiskFile
  /// Nil for a stream.
  private let size: Int?
  private(set) var position = 0
  /// Unread bytes of the current entry, and the padding after it.
  private var remaining = 0
  private var padding = 0

  /// Size of the two zero blocks at the end.
  static let endSize = 2 * TarHeader.blockSize

  init(_ file: DiskFile, size: Int?) {
    self.file = file
    self.size = size
  }

  /// Skips the rest of the current entry and returns the next; nil at the end of the archive.
  mutating func next() throws -> TarHeader? {
    while try chunk() != nil {}
    let offset = position
    guard try readExactly(padding).allSatisfy({ $0 == 0 }) else { throw BackupDamage.badPadding(at: offset) }
    padding = 0
    let start = position
    let block = try readExactly(TarHeader.blockSize)
    guard block.contains(where: { $0 != 0 }) else {
      try end()
      return nil
    }
    let header = try TarHeader(reading: block, at: start)
    // Rejects a false size before reading by it.
    if let size, header.size > size - position - Self.endSize - header.padding { throw BackupDamage.truncated }
    remaining = header.size
    padding = header.padding
    return header
  }

  /// The next bytes of the entry; nil at its end.
  mutating func chunk() throws -> [UInt8]? {
    guard remaining > 0 else { return nil }
    let bytes = try readExactly(min(remaining, DiskFile.pieceSize))
    remaining -= bytes.count
    return bytes
  }

  private mutating func end() throws {
    guard try readExactly(TarHeader.blockSize).allSatisfy({ $0 == 0 }) else {
      throw BackupDamage.badPadding(at: position)
    }
    guard try size.map({ $0 == position }) ?? file.read(1).isEmpty else { throw BackupDamage.trailingBytes }
  }

  private mutating func readExactly(_ count: Int) throws -> [UInt8] {
    let bytes = try file.read(count)
    guard bytes.count == count else { throw BackupDamage.truncated }
    position += count
    return bytes
  }
}
