/// Reads an archive from its beginning to its end: headers as `TarHeader` takes them, zeros where there should be zeros,
/// two blocks of zeros at the end, and nothing behind them.
struct TarReader: ~Copyable {
  private let file: DiskFile
  private let size: Int
  private(set) var position = 0
  /// What is left of the entry, and the zeros after it.
  private var remaining = 0
  private var padding = 0

  /// The two blocks at the end.
  static let endSize = 2 * TarHeader.blockSize

  init(_ file: DiskFile, size: Int) {
    self.file = file
    self.size = size
  }

  /// The next entry; nil at the end of the archive. What is left of the one before is passed over.
  mutating func next() throws -> TarHeader? {
    while try piece() != nil {}
    let place = position
    guard try take(padding).allSatisfy({ $0 == 0 }) else { throw BackupDamage.badPadding(at: place) }
    padding = 0
    let start = position
    let block = try take(TarHeader.blockSize)
    guard block.contains(where: { $0 != 0 }) else {
      try end()
      return nil
    }
    let header = try TarHeader(reading: block, at: start)
    // A size that lies is found before anything is read by it.
    guard header.size <= size - position - Self.endSize - header.padding else { throw BackupDamage.cutOff }
    remaining = header.size
    padding = header.padding
    return header
  }

  /// The next bytes of the entry; nil at its end.
  mutating func piece() throws -> [UInt8]? {
    guard remaining > 0 else { return nil }
    let bytes = try take(min(remaining, DiskFile.pieceSize))
    remaining -= bytes.count
    return bytes
  }

  private mutating func end() throws {
    guard try take(TarHeader.blockSize).allSatisfy({ $0 == 0 }) else { throw BackupDamage.badPadding(at: position) }
    guard position == size else { throw BackupDamage.tooLong }
  }

  private mutating func take(_ count: Int) throws -> [UInt8] {
    let bytes = try file.read(count)
    guard bytes.count == count else { throw BackupDamage.cutOff }
    position += count
    return bytes
  }
}
