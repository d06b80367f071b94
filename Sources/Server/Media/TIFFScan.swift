// TIFF (revision 6.0): a header with the offset of a directory; a directory has entries of twelve bytes and the offset of
// the next one. Values of more than four bytes are elsewhere in the file, in any order, so a stream cannot be filtered:
// the scan reads a complete file by offset and lists the bytes to overwrite with zeros.

public struct TIFFScan: Sendable {
  /// Limits for malicious files. Real ones have fewer directories, with a few dozen entries each.
  private static let maxDirectories = 4_096
  private static let maxEntries = 65_536
  /// Pictures inside a picture, per entry.
  private static let maxChildren = 1_024

  /// The bytes to read next; nil at the end.
  public private(set) var wanted: Range<Int>? = 0..<10
  private var locations: [Range<Int>] = []
  private var others: [Range<Int>] = []
  /// The raw data of a camera. Its decoder needs the camera's own tags, so that only locations are overwritten.
  private var isRaw = false

  private enum Step: Sendable {
    case header
    /// The number of entries.
    case count(Directory)
    case entries(Directory)
    /// Offsets of directories.
    case children
  }

  private struct Directory: Sendable {
    let offset: Int
    let kind: Kind
  }

  private enum Kind: Sendable {
    case picture
    /// The camera, its settings, the time and the place of a picture: all of it is removed.
    case camera, location
  }

  private let size: Int
  private var step = Step.header
  private var isLittle = false
  private var directories: [Directory] = []
  private var children: [Range<Int>] = []
  private var seen: Set<Int> = []
  private var entryCount = 0

  /// - Parameter size: the size of the file.
  public init(size: Int) { self.size = size }

  /// The ranges to overwrite, in order and apart.
  public var privateRanges: [Range<Int>] {
    (isRaw ? locations : locations + others).sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) {
      merged, range in
      guard let last = merged.last, range.lowerBound <= last.upperBound else { return merged.append(range) }
      merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }
  }

  /// Takes the bytes of `wanted`.
  public mutating func take(_ bytes: [UInt8]) throws(PictureFilter.Malformed) {
    guard let wanted, bytes.count == wanted.count else { throw PictureFilter.Malformed() }
    let bytes = bytes.span
    switch step {
    case .header:
      isLittle = bytes.has([0x49, 0x49], at: 0)
      isRaw = bytes.has("CR", at: 8)
      try add(number(bytes, 4, at: 4), .picture)
    case .count(let directory):
      let count = try number(bytes, 2, at: 0)
      entryCount += count
      guard entryCount <= Self.maxEntries else { throw PictureFilter.Malformed() }
      let start = directory.offset + 2
      // The offset of the next directory follows the entries.
      self.wanted = try range(start, 12 * count + 4)
      step = .entries(directory)
      blank(directory.offset..<start + 12 * count, in: directory.kind)
      return
    case .entries(let directory):
      let count = bytes.count / 12
      for index in 0..<count { try look(at: bytes, entry: 12 * index, of: directory, at: wanted.lowerBound) }
      let next = try number(bytes, 4, at: 12 * count)
      if next != 0, directory.kind == .picture { try add(next, .picture) }
    case .children:
      for index in 0..<bytes.count / 4 { try add(number(bytes, 4, at: 4 * index), .picture) }
    }
    try advance()
  }

  private mutating func advance() throws(PictureFilter.Malformed) {
    if let range = children.popLast() {
      wanted = range
      step = .children
    } else if let directory = directories.popLast() {
      wanted = try range(directory.offset, 2)
      step = .count(directory)
    } else {
      wanted = nil
    }
  }

  private mutating func look(
    at bytes: Span<UInt8>, entry: Int, of directory: Directory, at start: Int
  ) throws(PictureFilter.Malformed) {
    let tag = try number(bytes, 2, at: entry)
    let type = try number(bytes, 2, at: entry + 2)
    let count = try number(bytes, 4, at: entry + 4)
    let value = try number(bytes, 4, at: entry + 8)
    // A value of an unknown type has no known length.
    let length = Self.bytes(ofType: type) * count
    let isInline = length <= 4
    let content = isInline ? start + entry + 8..<start + entry + 12 : try range(value, length)
    if Self.rawTags.contains(tag) { isRaw = true }
    if let kind = Self.directories[tag] {
      if value != 0 { try add(value, kind) }
    } else if directory.kind != .picture {
      blank(content, in: directory.kind)
    } else if Self.descriptions.contains(tag) {
      locations.append(content)
    } else if !Self.kept.contains(tag) {
      others.append(content)
    } else if tag == Self.subdirectories {
      guard count <= Self.maxChildren else { throw PictureFilter.Malformed() }
      if isInline { try add(value, .picture) } else { children.append(content) }
    }
  }

  private mutating func blank(_ range: Range<Int>, in kind: Kind) {
    switch kind {
    case .picture: break
    case .camera: others.append(range)
    case .location: locations.append(range)
    }
  }

  private mutating func add(_ offset: Int, _ kind: Kind) throws(PictureFilter.Malformed) {
    guard seen.insert(offset).inserted, seen.count <= Self.maxDirectories else { throw PictureFilter.Malformed() }
    directories.append(Directory(offset: offset, kind: kind))
  }

  private func range(_ start: Int, _ count: Int) throws(PictureFilter.Malformed) -> Range<Int> {
    guard start >= 0, count >= 0, start <= size, count <= size - start else { throw PictureFilter.Malformed() }
    return start..<start + count
  }

  private func number(_ bytes: Span<UInt8>, _ length: Int, at start: Int) throws(PictureFilter.Malformed) -> Int {
    guard let value = isLittle ? bytes.littleUInt(length, at: start) : bytes.uint(length, at: start) else {
      throw PictureFilter.Malformed()
    }
    return value
  }

  /// §2, and IFD of technical note 1.
  private static func bytes(ofType type: Int) -> Int {
    switch type {
    case 1, 2, 6, 7: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12: 8
    default: 0
    }
  }

  /// Exif, GPS and interoperability (Exif 3.0 §4.6.3).
  private static let directories: [Int: Kind] = [0x8769: .camera, 0xa005: .camera, 0x8825: .location]
  /// XMP, IPTC and Photoshop blocks, which may name the location.
  private static let descriptions: Set<Int> = [0x02bc, 0x83bb, 0x8649]
  /// The pattern of a sensor's colors (TIFF/EP).
  private static let rawTags: Set<Int> = [0x828d, 0x828e]
  private static let subdirectories = 0x014a

  /// The tags that a decoder needs: sizes, strips and tiles, compression, colors, orientation, color profile. Texts,
  /// times, XMP, IPTC, geographic and unknown tags are not in it.
  private static let kept: Set<Int> = Set(0x00fe...0x0103).union([
    0x0106, 0x0107, 0x0108, 0x0109, 0x010a, 0x0111, 0x0112, 0x0115, 0x0116, 0x0117, 0x0118, 0x0119, 0x011a, 0x011b,
    0x011c, 0x0122, 0x0123, 0x0124, 0x0125, 0x0128, 0x0129, 0x012d, 0x013d, 0x013e, 0x013f, 0x0140, 0x0141, 0x0142,
    0x0143, 0x0144, 0x0145, 0x0146, 0x0147, 0x0148, 0x014a, 0x014c, 0x014e, 0x0150, 0x0152, 0x0153, 0x0154, 0x0155,
    0x0156, 0x015b, 0x0200, 0x0201, 0x0202, 0x0203, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x0211, 0x0212, 0x0213,
    0x0214, 0x8773,
  ])
}
