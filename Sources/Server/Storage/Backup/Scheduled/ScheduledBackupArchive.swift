// A scheduled backup as one tar archive, in the form that `parley backup` writes. It is made while it is sent, so it needs no space.

import ParleyCrypto
import ParleyJSON

public struct ScheduledBackupArchive: Sendable {
  fileprivate struct Entry: Sendable {
    let path: String
    let header: TarHeader
  }

  fileprivate let entries: [Entry]
  /// The last entry and the end of the archive.
  fileprivate let end: [UInt8]
  /// In bytes.
  public let size: Int

  /// Fails for a backup that is removed meanwhile.
  init(_ backup: FolderBackup) throws {
    let modified = Int(backup.time / 1_000)
    var entries: [Entry] = []
    var sums: [UInt8] = []
    var lines = try SumLines("\(backup.path)/\(BackupName.sums)")
    while let line = try lines.next() {
      let path = "\(backup.path)/\(line.name)"
      let name = String(line.name.trimmingPrefix(BackupFolder.above))
      guard let size = Disk.size(path), let digest = Hex.bytes(line.digest) else {
        throw BackupDamage.missingEntry(line.name)
      }
      entries.append(Entry(path: path, header: TarHeader(name: name, size: size, modified: modified)))
      sums += BackupReader.sumLine(digest, name)
    }
    let last = TarHeader(name: BackupName.sums, size: sums.count, modified: modified)
    end = last.block + sums + [UInt8](repeating: 0, count: last.padding + TarReader.endSize)
    size = entries.reduce(end.count) { $0 + TarHeader.blockSize + $1.header.size + $1.header.padding }
    self.entries = entries
  }

  public func chunks() -> Chunks { Chunks(archive: self) }

  /// The bytes of the archive, read from the disk as they are asked for.
  public struct Chunks: Sendable {
    fileprivate let archive: ScheduledBackupArchive
    private let queue = SerialQueue("parley.download")
    private var index = 0
    /// Nil before the header of the entry.
    private var offset: Int?

    fileprivate init(archive: ScheduledBackupArchive) { self.archive = archive }

    /// Nil at the end.
    public mutating func next() async throws -> [UInt8]? {
      guard index < archive.entries.count else {
        defer { index += 1 }
        return index == archive.entries.count ? archive.end : nil
      }
      let entry = archive.entries[index]
      guard let start = offset else {
        if entry.header.size == 0 { index += 1 } else { offset = 0 }
        return entry.header.block
      }
      let count = min(DiskFile.pieceSize, entry.header.size - start)
      let chunk = try await queue.run { () throws in
        let file = try DiskFile.open(entry.path)
        try file.seek(to: start)
        return try file.read(count)
      }
      guard !chunk.isEmpty else { throw BackupDamage.altered(entry.header.name) }
      guard start + chunk.count >= entry.header.size else {
        offset = start + chunk.count
        return chunk
      }
      (index, offset) = (index + 1, nil)
      return chunk + [UInt8](repeating: 0, count: entry.header.padding)
    }
  }
}
