/// The 512-byte header of a file in a tar archive (POSIX.1-2017, pax, "ustar Interchange Format").
///
/// One form is written and read: a regular file with a short name and without an owner. Reading decodes a header,
/// encodes it again and requires the same bytes, so that no two readers can interpret it differently.
struct TarHeader: Hashable {
  let name: String
  let size: Int
  /// In seconds since 1970.
  let modified: Int

  static let blockSize = 512
  /// Size of the name field; the form for longer names is not needed.
  static let maxNameLength = 100

  private enum Field {
    static let name = 0..<100
    static let mode = 100..<108
    static let owner = 108..<116
    static let group = 116..<124
    static let size = 124..<136
    static let modified = 136..<148
    static let sum = 148..<156
    static let type = 156
    static let magic = 257..<265
  }

  private static let regularFile = UInt8(ascii: "0")
  private static let magic = Array("ustar\0".utf8) + Array("00".utf8)
  /// Maximum of eleven octal digits; GNU tar writes larger numbers in base 256 after a byte 0x80.
  private static let maxOctal = 0o777_7777_7777

  init(name: String, size: Int, modified: Int) {
    self.name = name
    self.size = size
    self.modified = modified
  }

  /// Zeros after the contents, up to the next block.
  var padding: Int { -size & (Self.blockSize - 1) }

  var block: [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    block.replaceSubrange(0..<min(name.utf8.count, Self.maxNameLength), with: name.utf8.prefix(Self.maxNameLength))
    Self.write(octal: 0o600, to: &block, Field.mode)
    Self.write(octal: 0, to: &block, Field.owner)
    Self.write(octal: 0, to: &block, Field.group)
    if size > Self.maxOctal {
      Self.write(binary: size, to: &block, Field.size)
    } else {
      Self.write(octal: size, to: &block, Field.size)
    }
    Self.write(octal: modified, to: &block, Field.modified)
    block[Field.type] = Self.regularFile
    block.replaceSubrange(Field.magic, with: Self.magic)
    // Six digits, a NUL and a space.
    Self.write(octal: Self.sum(block), to: &block, Field.sum.dropLast())
    block[Field.sum.upperBound - 1] = UInt8(ascii: " ")
    return block
  }

  /// Decodes a block that is not all zeros.
  init(reading block: [UInt8], at offset: Int) throws(BackupDamage) {
    guard block.count == Self.blockSize else { throw .truncated }
    guard Self.octal(block[Field.sum].prefix(6)) == Self.sum(block), Array(block[Field.magic]) == Self.magic else {
      throw offset == 0 ? .foreign : .badHeader(at: offset)
    }
    let name = String(decoding: block[Field.name].prefix { $0 != 0 }, as: UTF8.self)
    guard block[Field.type] == Self.regularFile else { throw .notRegularFile(name) }
    guard let size = Self.number(block[Field.size]), let modified = Self.octal(block[Field.modified].prefix(11)) else {
      throw .badHeader(at: offset)
    }
    self.init(name: name, size: size, modified: modified)
    guard self.block == block else { throw .badHeader(at: offset) }
  }

  // MARK: Numbers

  /// Sum of all bytes, with the checksum field as spaces.
  private static func sum(_ block: [UInt8]) -> Int {
    block.indices.reduce(0) { $0 + (Field.sum.contains($1) ? 32 : Int(block[$1])) }
  }

  private static func write(octal number: Int, to block: inout [UInt8], _ field: Range<Int>) {
    var rest = number
    for offset in field.dropLast().reversed() {
      block[offset] = UInt8(ascii: "0") + UInt8(rest & 7)
      rest >>= 3
    }
  }

  private static func write(binary number: Int, to block: inout [UInt8], _ field: Range<Int>) {
    var rest = number
    for offset in field.dropFirst().reversed() {
      block[offset] = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
    }
    block[field.lowerBound] = 0x80
  }

  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    guard field.first == 0x80 else { return octal(field.prefix(11)) }
    var value = 0
    for byte in field.dropFirst() {
      guard value < Int.max >> 8 else { return nil }
      value = value << 8 | Int(byte)
    }
    return value
  }

  private static func octal(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard digit & ~7 == UInt8(ascii: "0") else { return nil }
      value = value << 3 | Int(digit & 7)
    }
    return value
  }
}
