import ParleyCrypto

/// Reads a zip archive (PKWARE APPNOTE 6.3.10) by its directory: stored and deflated entries, ZIP64. Everything that two
/// programs could read differently is refused: names twice, entries over each other, names outside of the archive.
final class ZipReader: Sendable {
  struct Entry: Sendable {
    let name: String
    let size: Int
    let compressedSize: Int
    let checksum: UInt32
    let isDeflated: Bool
    /// Offset of its local header.
    let offset: Int
  }

  let file: SourceFile
  let entries: [Entry]
  private let positions: [String: Int]

  private static let endSize = 22
  private static let maxComment = 65_535
  private static let headerSize = 46
  private static let localHeaderSize = 30

  init(_ file: SourceFile) throws(ImportFault) {
    self.file = file
    let directory = try Directory(file)
    var entries: [Entry] = []
    var positions: [String: Int] = [:]
    let bytes = LittleEndian(try file.read(at: directory.offset, directory.size))
    var position = 0
    var (compressed, expanded) = (0, 0)
    for _ in 0..<directory.count {
      guard let (entry, next) = try Self.entry(bytes, at: position, of: file) else { throw Self.damaged(file) }
      position = next
      compressed += entry.compressedSize
      expanded += entry.size
      if entry.name.hasSuffix("/") { continue }
      guard positions.updateValue(entries.count, forKey: entry.name) == nil else {
        throw ImportFault("\(file.name) has \(entry.name) twice. Unpack it and import the folder.")
      }
      entries.append(entry)
    }
    // Overlapping entries share compressed bytes, as in a zip bomb without recursion.
    guard compressed <= file.size, expanded <= ImportLimits.content,
      expanded <= max(ImportLimits.smallContent, file.size &* ImportLimits.expansion)
    else { throw ArchiveFault.bomb(file.name) }
    self.entries = entries
    self.positions = positions
  }

  func entry(_ name: String) -> Entry? { positions[name].map { entries[$0] } }

  /// The content of an entry. The end of the content is where its checksum is compared.
  func source(of entry: Entry) throws(ImportFault) -> any ByteSource {
    let start = try dataOffset(of: entry)
    let raw = file.source(start..<start + entry.compressedSize)
    let name = "\(entry.name) in \(file.name)"
    let content: any ByteSource = entry.isDeflated ? try InflatedSource(raw, .raw, limit: entry.size, of: name) : raw
    return CheckedSource(content, entry, name)
  }

  /// The offset of the first byte of a stored entry, which can be read anywhere.
  func dataOffset(of entry: Entry) throws(ImportFault) -> Int {
    let header = LittleEndian(try file.read(at: entry.offset, Self.localHeaderSize))
    guard header.number(0, 4) == 0x0403_4b50, let nameSize = header.number(26, 2), let extra = header.number(28, 2)
    else { throw Self.damaged(file) }
    let start = entry.offset + Self.localHeaderSize + nameSize + extra
    guard start + entry.compressedSize <= file.size else { throw Self.damaged(file) }
    return start
  }

  private static func damaged(_ file: SourceFile) -> ImportFault {
    ImportFault("\(file.name) is not a complete zip archive. Copy it again.")
  }

  // MARK: Directory

  private struct Directory {
    let offset: Int
    let size: Int
    let count: Int

    init(_ file: SourceFile) throws(ImportFault) {
      let start = max(0, file.size - ZipReader.endSize - ZipReader.maxComment)
      let tail = LittleEndian(try file.read(at: start, file.size - start))
      var found: Int?
      var position = tail.count - ZipReader.endSize
      while position >= 0, found == nil {
        if tail.number(position, 4) == 0x0605_4b50,
          tail.number(position + 20, 2) == tail.count - position - ZipReader.endSize
        {
          found = position
        }
        position -= 1
      }
      guard let end = found, var count = tail.number(end + 10, 2), var size = tail.number(end + 12, 4),
        var offset = tail.number(end + 16, 4)
      else { throw ZipReader.damaged(file) }
      if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff {
        guard let large = try Self.large(file, before: start + end) else { throw ZipReader.damaged(file) }
        (count, size, offset) = large
      }
      guard count <= ImportLimits.entries, size <= ImportLimits.directoryBytes, offset >= 0, size >= 0,
        offset <= file.size, size <= file.size - offset
      else { throw ZipReader.damaged(file) }
      (self.offset, self.size, self.count) = (offset, size, count)
    }

    /// The record of ZIP64.
    private static func large(
      _ file: SourceFile, before end: Int
    ) throws(ImportFault) -> (count: Int, size: Int, offset: Int)? {
      guard end >= 20 else { return nil }
      let locator = LittleEndian(try file.read(at: end - 20, 20))
      guard locator.number(0, 4) == 0x0706_4b50, let position = locator.number(8, 8), position >= 0,
        position <= file.size
      else { return nil }
      let record = LittleEndian(try file.read(at: position, 56))
      guard record.number(0, 4) == 0x0606_4b50, let count = record.number(32, 8), let size = record.number(40, 8),
        let offset = record.number(48, 8)
      else { return nil }
      return (count, size, offset)
    }
  }

  private static func entry(
    _ bytes: LittleEndian, at position: Int, of file: SourceFile
  ) throws(ImportFault) -> (Entry, next: Int)? {
    guard bytes.number(position, 4) == 0x0201_4b50, let flags = bytes.number(position + 8, 2),
      let method = bytes.number(position + 10, 2), let checksum = bytes.number(position + 16, 4),
      var compressed = bytes.number(position + 20, 4), var size = bytes.number(position + 24, 4),
      let nameSize = bytes.number(position + 28, 2), let extraSize = bytes.number(position + 30, 2),
      let commentSize = bytes.number(position + 32, 2), let attributes = bytes.number(position + 38, 4),
      var offset = bytes.number(position + 42, 4), let nameBytes = bytes.slice(position + headerSize, nameSize),
      let extra = bytes.slice(position + headerSize + nameSize, extraSize)
    else { return nil }
    let name = String(decoding: nameBytes, as: UTF8.self)
    extend(LittleEndian(Array(extra)), &size, &compressed, &offset)
    guard SafePath.isSafe(name) else {
      throw ImportFault(
        "\(file.name) has an entry outside of the archive. It is no export: do not unpack it, and make a new one.")
    }
    guard flags & 0x2041 == 0 else {
      throw ImportFault("\(file.name) is encrypted. Unpack it with its password and import the folder.")
    }
    guard method == 0 || method == 8 else {
      throw ImportFault("\(file.name) is compressed by a method other than deflate. Unpack it and import the folder.")
    }
    guard attributes >> 28 != 0o12 else {
      throw ImportFault("\(file.name) has a link. Unpack it and import the folder.")
    }
    guard size >= 0, compressed >= 0, offset >= 0, offset <= file.size, compressed <= file.size,
      size <= ImportLimits.content, method == 8 || size == compressed
    else { return nil }
    let entry = Entry(
      name: name, size: size, compressedSize: compressed, checksum: UInt32(checksum), isDeflated: method == 8,
      offset: offset)
    return (entry, position + headerSize + nameSize + extraSize + commentSize)
  }

  /// Takes the sizes and the offset of ZIP64, which are in this order.
  private static func extend(_ extra: LittleEndian, _ size: inout Int, _ compressed: inout Int, _ offset: inout Int) {
    var position = 0
    while let id = extra.number(position, 2), let length = extra.number(position + 2, 2) {
      position += 4
      defer { position += length }
      guard id == 1 else { continue }
      var field = position
      func take(_ value: inout Int) {
        guard value == 0xffff_ffff, field + 8 <= position + length, let number = extra.number(field, 8) else { return }
        value = number
        field += 8
      }
      take(&size)
      take(&compressed)
      take(&offset)
    }
  }
}

/// Compares size and checksum of an entry at its end.
private final class CheckedSource: ByteSource {
  private let content: any ByteSource
  private let entry: ZipReader.Entry
  private let name: String
  private var size = 0
  private var checksum = CRC32()

  init(_ content: any ByteSource, _ entry: ZipReader.Entry, _ name: String) {
    self.content = content
    self.entry = entry
    self.name = name
  }

  func read() throws(ImportFault) -> [UInt8]? {
    guard let piece = try content.read() else {
      guard size == entry.size, checksum.value == entry.checksum else {
        throw ImportFault("\(name) is damaged: its checksum is wrong. Copy the archive again.")
      }
      return nil
    }
    size += piece.count
    checksum.update(piece.span)
    return piece
  }
}

/// Little-endian numbers in bytes.
private struct LittleEndian {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var count: Int { bytes.count }

  /// Nil beyond the end, and for a number of 8 bytes that is no `Int`.
  func number(_ offset: Int, _ size: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - size else { return nil }
    var value: UInt64 = 0
    for index in 0..<size { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    return Int(exactly: value)
  }

  func slice(_ offset: Int, _ size: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, size >= 0, offset <= bytes.count - size else { return nil }
    return bytes[offset..<offset + size]
  }
}
