import ParleyCrypto
import ParleyWire
import TestSupport
import Testing

@testable import Imports

/// Content in pieces of one size.
func source(_ text: String, pieces: Int = 65_536) -> MemorySource { MemorySource(Array(text.utf8), pieceSize: pieces) }

func text(of source: any ByteSource) throws -> String {
  var bytes: [UInt8] = []
  while let piece = try source.read() { bytes += piece }
  return String(decoding: bytes, as: UTF8.self)
}

@Suite struct ArchiveTests {
  /// A block of 512 bytes and the content with its padding.
  static func entry(
    _ name: String, _ content: [UInt8] = [], kind: Character = "0", size: String? = nil, prefix: String = ""
  ) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
    }
    put(name, at: 0)
    let digits = size ?? String(content.count, radix: 8)
    put(String(repeating: "0", count: max(0, 11 - digits.count)) + digits, at: 124)
    put(String(kind), at: 156)
    put("ustar\u{0}00", at: 257)
    put(prefix, at: 345)
    for index in 148..<156 { block[index] = 0x20 }
    let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
    put(String(repeating: "0", count: 6 - sum.count) + sum + "\u{0} ", at: 148)
    return block + content + [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
  }

  static let end = [UInt8](repeating: 0, count: 1_024)

  static func names(_ bytes: [UInt8], pieces: Int = 700) throws -> [String] {
    var reader = TarArchive(MemorySource(bytes, pieceSize: pieces), "a.tar")
    var names: [String] = []
    while let (name, size, content) = try reader.next() {
      names.append("\(name) \(size) \(size < 100 ? try text(of: content) : "")")
    }
    return names
  }

  @Test func `files of a tar archive have their names, sizes and content`() throws {
    let long = String(repeating: "long/", count: 30) + "name"
    let record = "path=\(long)\n"
    let pax = "\(record.utf8.count + 4) \(record)"
    let bytes =
      Self.entry("a.txt", Array("a rose".utf8)) + Self.entry("folder/", kind: "5") + Self.entry("b", prefix: "deep")
      + Self.entry("x", Array(pax.utf8), kind: "x") + Self.entry("cut", Array("is".utf8))
      + Self.entry("././@LongLink", Array((long + "\u{0}").utf8), kind: "L") + Self.entry("cut", Array("a".utf8))
      + Self.entry("./large", [UInt8](repeating: 7, count: 1_000)) + Self.end
    for pieces in [1, 511, 512, 65_536] {
      #expect(
        try Self.names(bytes, pieces: pieces) == [
          "a.txt 6 a rose", "deep/b 0 ", "\(long) 2 is", "\(long) 1 a", "large 1000 ",
        ])
    }
  }

  @Test func `a hostile tar archive is refused`() throws {
    let good = Self.entry("a", Array("a".utf8))
    let cases: [([UInt8], String)] = [
      ([], "it is empty"), (good, "it has no end"), (Array(good.dropLast(512)), "is cut"),
      (Self.entry("../a") + Self.end, "outside of the archive"),
      (Self.entry("/a") + Self.end, "outside of the archive"),
      (Self.entry("a", kind: "2") + Self.end, "a link or a device"),
      (Self.entry("a", kind: "1") + Self.end, "a link or a device"),
      (Self.entry("a", kind: "3") + Self.end, "a link or a device"),
      (Self.entry("a", size: "77777777777") + Self.end, "is cut"),
      (Self.entry("a", size: "-1") + Self.end, "not a tar archive"),
      ([UInt8](repeating: 65, count: 1_024), "not a tar archive"),
      (Self.entry("x", size: "7777777") + Self.end, "is cut"),
    ]
    for (bytes, sentence) in cases {
      let fault = #expect(throws: ImportFault.self) { try Self.names(bytes) }
      #expect(fault?.description.contains(sentence) == true, "\(sentence): \(fault?.description ?? "")")
    }
  }

  @Test func `gzip is decompressed in pieces, member by member`() throws {
    let words = String(repeating: "a rose is a rose ", count: 20_000)
    let bytes = try Gzip.compress(Array(words.utf8)) + Gzip.compress(Array("end".utf8)) + [0, 0, 0]
    for pieces in [1, 100, 65_536] where pieces > 1 || bytes.count < 5_000 {
      let inflated = try InflatedSource(MemorySource(bytes, pieceSize: pieces), .gzip, limit: 1 << 20, of: "a.gz")
      #expect(try text(of: inflated) == words + "end")
    }
    for (content, limit, sentence) in [
      (Array(bytes.prefix(50)), 1 << 20, "is cut"), (bytes, 1_000, "expands to far more"),
      (Array(bytes.prefix(20)) + [1, 2, 3] + Array(bytes.dropFirst(23)), 1 << 20, "is damaged"), ([], 10, "is cut"),
    ] {
      let fault = #expect(throws: ImportFault.self) {
        try text(of: try InflatedSource(MemorySource(content), .gzip, limit: limit, of: "a.gz"))
      }
      #expect(fault?.description.contains(sentence) == true, "\(sentence): \(fault?.description ?? "")")
    }
  }

  @Test func `no cut of a tar archive is read as a whole one`() throws {
    let bytes = Self.entry("a.txt", Array("a rose".utf8)) + Self.entry("b.txt", Array("is".utf8))
    for count in 0..<bytes.count { #expect(throws: ImportFault.self) { try Self.names(Array(bytes.prefix(count))) } }
  }
}
