import ParleyCrypto
import ParleyJSON

/// Writes a zip archive (PKWARE APPNOTE 6.3.10) whose entries are stored without compression: pictures and films have their own, and
/// every program reads it. Sizes and offsets from 4 GiB on are in the fields of ZIP64.
public final class ZipWriter {
  private struct Entry {
    let name: [UInt8]
    let offset: Int
    var size = 0
    var checksum = CRC32()
  }

  private let file: DiskFile
  /// Date and time of MS-DOS, shared by all entries.
  private let modified: (date: UInt16, time: UInt16)
  /// Sizes and offsets from this one on are in fields of ZIP64. Tests choose a smaller one.
  private let limit: Int
  private var position = 0
  private var entries: [Entry] = []
  private var isOpen = false

  private static let version: UInt16 = 45
  /// Names are UTF-8.
  private static let flags: UInt16 = 0x800
  /// Stands for a number in a field of ZIP64.
  private static let elsewhere = 0xffff_ffff
  private static let maxEntries = 0xffff
  /// ZIP64, and a field without a meaning that keeps its place in a local header.
  private static let (extendedID, reservedID): (UInt16, UInt16) = (0x0001, 0xa220)
  private static let extraSize = 20

  /// `now` is in milliseconds since 1970.
  public convenience init(_ path: String, now: Int64) throws { try self.init(path, now: now, limit: Self.elsewhere) }

  init(_ path: String, now: Int64, limit: Int) throws {
    file = try DiskFile.make(path)
    self.limit = limit
    modified = Self.time(now)
  }

  /// Begins an entry; `append` writes its content.
  public func begin(_ name: String) throws {
    try end()
    entries.append(Entry(name: Array(name.utf8), offset: position))
    isOpen = true
    try write(header(of: entries[entries.count - 1]))
  }

  public func append(_ bytes: [UInt8]) throws {
    entries[entries.count - 1].size += bytes.count
    entries[entries.count - 1].checksum.update(bytes.span)
    try write(bytes)
  }

  public func add(_ name: String, _ bytes: [UInt8]) throws {
    try begin(name)
    try append(bytes)
  }

  /// Writes the directory and syncs the archive. Returns its size.
  public func finish() throws -> Int {
    try end()
    let start = position
    for entry in entries { try write(directoryEntry(of: entry)) }
    let size = position - start
    let isExtended = entries.count >= Self.maxEntries || start + size >= limit
    var bytes = ZipBytes()
    if isExtended {
      let record = position
      bytes.add(0x0606_4b50 as UInt32)
      bytes.add(44 as UInt64)
      bytes.add(Self.version)
      bytes.add(Self.version)
      bytes.add(0 as UInt32)
      bytes.add(0 as UInt32)
      bytes.add(UInt64(entries.count))
      bytes.add(UInt64(entries.count))
      bytes.add(UInt64(size))
      bytes.add(UInt64(start))
      bytes.add(0x0706_4b50 as UInt32)
      bytes.add(0 as UInt32)
      bytes.add(UInt64(record))
      bytes.add(1 as UInt32)
    }
    bytes.add(0x0605_4b50 as UInt32)
    bytes.add(0 as UInt16)
    bytes.add(0 as UInt16)
    for _ in 0..<2 { bytes.add(UInt16(isExtended ? Self.maxEntries : entries.count)) }
    bytes.add(UInt32(isExtended ? Self.elsewhere : size))
    bytes.add(UInt32(isExtended ? Self.elsewhere : start))
    bytes.add(0 as UInt16)
    try write(bytes.bytes)
    try file.sync()
    return position
  }

  // MARK: Parts

  /// Completes the header of the open entry, which is written before its size is known.
  private func end() throws {
    guard isOpen, let entry = entries.last else { return }
    isOpen = false
    try file.seek(to: entry.offset)
    try file.write(header(of: entry))
    try file.seek(to: position)
  }

  private func write(_ bytes: [UInt8]) throws {
    try file.write(bytes)
    position += bytes.count
  }

  private func header(of entry: Entry) -> [UInt8] {
    let isExtended = entry.size >= limit
    var bytes = ZipBytes()
    bytes.add(0x0403_4b50 as UInt32)
    addFacts(of: entry, isExtended: isExtended, to: &bytes)
    bytes.add(UInt16(entry.name.count))
    bytes.add(UInt16(Self.extraSize))
    bytes.add(entry.name)
    bytes.add(isExtended ? Self.extendedID : Self.reservedID)
    bytes.add(UInt16(Self.extraSize - 4))
    for _ in 0..<2 { bytes.add(UInt64(isExtended ? entry.size : 0)) }
    return bytes.bytes
  }

  private func directoryEntry(of entry: Entry) -> [UInt8] {
    let (isLarge, isFar) = (entry.size >= limit, entry.offset >= limit)
    var extra = ZipBytes()
    if isLarge || isFar {
      extra.add(Self.extendedID)
      extra.add(UInt16((isLarge ? 16 : 0) + (isFar ? 8 : 0)))
      if isLarge { for _ in 0..<2 { extra.add(UInt64(entry.size)) } }
      if isFar { extra.add(UInt64(entry.offset)) }
    }
    var bytes = ZipBytes()
    bytes.add(0x0201_4b50 as UInt32)
    // Made on Unix.
    bytes.add(0x0300 | Self.version)
    addFacts(of: entry, isExtended: isLarge, to: &bytes)
    bytes.add(UInt16(entry.name.count))
    bytes.add(UInt16(extra.bytes.count))
    bytes.add(0 as UInt16)
    bytes.add(0 as UInt16)
    bytes.add(0 as UInt16)
    // A regular file that its owner may read and write.
    bytes.add(0o100_600 << 16 as UInt32)
    bytes.add(UInt32(isFar ? Self.elsewhere : entry.offset))
    bytes.add(entry.name)
    bytes.add(extra.bytes)
    return bytes.bytes
  }

  private func addFacts(of entry: Entry, isExtended: Bool, to bytes: inout ZipBytes) {
    bytes.add(Self.version)
    bytes.add(Self.flags)
    bytes.add(0 as UInt16)
    bytes.add(modified.time)
    bytes.add(modified.date)
    bytes.add(entry.checksum.value)
    for _ in 0..<2 { bytes.add(UInt32(isExtended ? Self.elsewhere : entry.size)) }
  }

  /// The years of MS-DOS begin with 1980, its seconds are even.
  private static func time(_ now: Int64) -> (date: UInt16, time: UInt16) {
    let text = Array(Timestamp.format(Int(now)).utf8)
    func number(_ range: Range<Int>) -> Int { text[range].reduce(0) { $0 * 10 + Int($1 & 15) } }
    let year = min(max(number(0..<4) - 1980, 0), 127)
    return (
      UInt16(year << 9 | number(5..<7) << 5 | number(8..<10)),
      UInt16(number(11..<13) << 11 | number(14..<16) << 5 | number(17..<19) / 2)
    )
  }
}

/// Little-endian numbers.
private struct ZipBytes {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ number: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  mutating func add(_ more: [UInt8]) { bytes += more }
}
