/// Reads a tar archive (POSIX ustar, with the long names of pax and GNU) from its beginning to its end.
struct TarArchive {
  private let pieces: PieceBuffer
  private let name: String
  private var count = 0
  /// Bytes of the last entry and its padding that were not read.
  private var rest: TarEntrySource?

  private static let blockSize = 512

  init(_ source: any ByteSource, _ name: String) {
    pieces = PieceBuffer(source)
    self.name = name
  }

  /// The next file; nil at the end. Its content is read before the next call, or skipped.
  mutating func next() throws(ImportFault) -> (name: String, size: Int, content: any ByteSource)? {
    if let rest { try rest.skip() }
    rest = nil
    var (longName, longSize): (String?, Int?) = (nil, nil)
    while true {
      guard let block = try pieces.take(Self.blockSize) else {
        guard count > 0 else { throw damaged("it is empty") }
        throw damaged("it has no end")
      }
      if block.allSatisfy({ $0 == 0 }) { return nil }
      let header = try Header(block, name)
      count += 1
      guard count <= ImportLimits.entries else { throw damaged("it has more than \(ImportLimits.entries) entries") }
      switch header.kind {
      case UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "L"):
        guard header.size <= 65_536, let content = try pieces.take(header.size) else {
          throw damaged("a header is too long")
        }
        try pieces.skip(Self.padding(header.size))
        if header.kind == UInt8(ascii: "L") {
          longName = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
        } else if header.kind == UInt8(ascii: "x") {
          let fields = Self.records(content)
          longName = fields["path"] ?? longName
          longSize = fields["size"].flatMap { Int($0) } ?? longSize
        }
      case 0, UInt8(ascii: "0"), UInt8(ascii: "7"):
        let size = longSize ?? header.size
        let path = Self.relative(longName ?? header.name)
        guard SafePath.isSafe(path) else {
          throw ImportFault("\(name) has a file outside of the archive. It is no backup: do not unpack it.")
        }
        guard size >= 0, size <= ImportLimits.content else { throw damaged("a size is wrong") }
        let content = TarEntrySource(pieces, size: size, padding: Self.padding(size), name)
        rest = content
        return (path, size, content)
      case UInt8(ascii: "5"):
        (longName, longSize) = (nil, nil)
      default:
        throw ImportFault("\(name) has a link or a device. Unpack it and import the folder.")
      }
    }
  }

  private func damaged(_ reason: String) -> ImportFault {
    ImportFault("\(name) is not a complete tar archive: \(reason). Copy it again.")
  }

  private static func padding(_ size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

  /// `./a/b` is `a/b`.
  private static func relative(_ path: String) -> String {
    var path = Substring(path)
    while path.hasPrefix("./") { path = path.dropFirst(2) }
    return String(path)
  }

  /// `LENGTH name=value` lines of pax.
  private static func records(_ bytes: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    var rest = bytes[...]
    while let space = rest.firstIndex(of: 0x20),
      let length = Int(String(decoding: rest[rest.startIndex..<space], as: UTF8.self)), length > 0,
      length <= rest.count,
      space < rest.startIndex + length
    {
      let line = rest[(space + 1)..<(rest.startIndex + length)]
      if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        let value = line[(equals + 1)...].prefix { $0 != 0x0a }
        fields[String(decoding: line[line.startIndex..<equals], as: UTF8.self)] = String(decoding: value, as: UTF8.self)
      }
      rest = rest.dropFirst(length)
    }
    return fields
  }

  private struct Header {
    let name: String
    let size: Int
    let kind: UInt8

    init(_ block: [UInt8], _ archive: String) throws(ImportFault) {
      func text(_ range: Range<Int>) -> String { String(decoding: block[range].prefix { $0 != 0 }, as: UTF8.self) }
      func octal(_ range: Range<Int>) -> Int? {
        let digits = text(range).filter { $0 != " " }
        return digits.isEmpty ? 0 : Int(digits, radix: 8)
      }
      // The checksum counts itself as spaces.
      let sum = block.enumerated().reduce(0) { $0 + (148..<156 ~= $1.offset ? 0x20 : Int($1.element)) }
      // GNU tar writes sizes from 8 GB on as a binary number.
      let large = block[124] == 0x80 ? block[125..<136].reduce(0) { ($0 & 0xff_ffff_ffff_ffff) << 8 | Int($1) } : nil
      guard octal(148..<156) == sum, let size = large ?? octal(124..<136), size >= 0 else {
        throw ImportFault("\(archive) is not a tar archive, or it is damaged. Copy it again.")
      }
      self.size = size
      kind = block[156]
      let isUstar = block[257..<262].elementsEqual(Array("ustar".utf8))
      let prefix = isUstar ? text(345..<500) : ""
      name = prefix.isEmpty ? text(0..<100) : "\(prefix)/\(text(0..<100))"
    }
  }
}

/// Takes exact numbers of bytes from pieces.
private final class PieceBuffer {
  private let source: any ByteSource
  private var piece: [UInt8] = []
  private var position = 0

  init(_ source: any ByteSource) { self.source = source }

  /// Up to `count` bytes of the current piece; nil at the end.
  func some(_ count: Int) throws(ImportFault) -> [UInt8]? {
    while position == piece.count {
      guard let next = try source.read() else { return nil }
      (piece, position) = (next, 0)
    }
    let end = min(piece.count, position + count)
    defer { position = end }
    return Array(piece[position..<end])
  }

  /// Nil if there are fewer.
  func take(_ count: Int) throws(ImportFault) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard let more = try some(count - bytes.count) else { return nil }
      bytes += more
    }
    return bytes
  }

  func skip(_ count: Int) throws(ImportFault) {
    var left = count
    while left > 0, let some = try some(min(left, SourceFile.pieceSize)) { left -= some.count }
  }
}

private final class TarEntrySource: ByteSource {
  private let pieces: PieceBuffer
  private let name: String
  private var left: Int
  private var padding: Int

  init(_ pieces: PieceBuffer, size: Int, padding: Int, _ name: String) {
    self.pieces = pieces
    self.name = name
    self.padding = padding
    left = size
  }

  func read() throws(ImportFault) -> [UInt8]? {
    guard left > 0 else { return nil }
    guard let some = try pieces.some(min(left, SourceFile.pieceSize)) else {
      throw ImportFault("\(name) is cut. Copy it again.")
    }
    left -= some.count
    return some
  }

  func skip() throws(ImportFault) {
    while try read() != nil {}
    try pieces.skip(padding)
    padding = 0
  }
}
