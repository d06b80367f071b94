import Foundation
import ParleyCrypto
import Testing

@testable import Imports

@Suite struct ZipTests {
  /// An archive of Python's zipfile: a stored entry, a folder and a deflated entry.
  private static let archive =
    Hex.bytes(
      "504b03041400000000000000215029bb4c0d02000000020000000a00000075736572732e6a736f6e5b5d504b030414000000"
        + "0000000021500000000000000000000000000800000067656e6572616c2f504b03041400000008000000215093a90d530f00"
        + "0000240000000e00000067656e6572616c2f612e6a736f6e4b5428ca2f4e55c82c5648c4c90200504b010214031400000000"
        + "000000215029bb4c0d02000000020000000a000000000000000000000080010000000075736572732e6a736f6e504b010214"
        + "031400000000000000215000000000000000000000000008000000000000000000000080012a00000067656e6572616c2f50"
        + "4b010214031400000008000000215093a90d530f000000240000000e000000000000000000000080015000000067656e6572"
        + "616c2f612e6a736f6e504b05060000000003000300aa0000008b0000000000") ?? []

  /// With sizes in the fields of ZIP64, which Python writes in the local header only.
  private static let large =
    Hex.bytes(
      "504b03042d000000000000002150b009dc08ffffffffffffffff01001400610100100006000000000000000600000000000000612072"
        + "6f7365504b01022d032d000000000000002150b009dc08060000000600000001000000000000000000000080010000000061504b0506"
        + "00000000010001002f000000390000000000") ?? []

  /// The entries with their content.
  private static func entries(_ bytes: [UInt8]) throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appending(path: "parley-zip-\(UUID())")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let reader = try ZipReader(try SourceFile(path: file.path))
    return try reader.entries.map { entry in "\(entry.name) \(try text(of: try reader.source(of: entry)))" }
  }

  private static let content = ["users.json []", "general/a.json a rose is a rose is a rose is a rose"]

  @Test func `entries of an archive have their content`() throws {
    #expect(try Self.entries(Self.archive) == Self.content)
    #expect(try Self.entries(Self.large) == ["a a rose"])
    // A comment at the end, which may look like the end of an archive.
    let comment = Array("PK\u{5}\u{6} a comment of an archive".utf8)
    #expect(try Self.entries(Self.archive.dropLast(2) + [UInt8(comment.count), 0] + comment) == Self.content)
  }

  @Test func `a hostile archive is refused`() throws {
    /// The archive with other bytes at an offset in the last directory entry of a name.
    func changed(_ bytes: [UInt8], at offset: Int, of name: String) throws -> [UInt8] {
      var archive = Self.archive
      let header = try #require(
        archive.indices.dropLast(4).last { index in
          archive[index...].starts(with: [0x50, 0x4b, 1, 2])
            && archive.dropFirst(index + 46).starts(with: Array(name.utf8))
        })
      archive.replaceSubrange(header + offset..<header + offset + bytes.count, with: bytes)
      return archive
    }
    let cases: [([UInt8], String)] = [
      (try changed([1, 0], at: 8, of: "users.json"), "is encrypted"),
      (try changed([12, 0], at: 10, of: "users.json"), "a method other than deflate"),
      (try changed(Array("../sers.js".utf8), at: 46, of: "users.json"), "an entry outside of the archive"),
      (try changed([0xff, 0xff, 0xff, 0x7f], at: 24, of: "general/a.json"), "expands to far more"),
      (try changed([0, 1, 0, 0], at: 24, of: "general/a.json"), "its checksum is wrong"),
      (try changed([1, 0, 0, 0], at: 24, of: "general/a.json"), "expands to far more"),
      (try changed([0, 0, 0, 0], at: 16, of: "users.json"), "its checksum is wrong"),
      (try changed([0, 0, 0, 0xa0], at: 38, of: "users.json"), "has a link"),
      (try changed([0xff, 0xff, 0, 0], at: 42, of: "users.json"), "not a complete zip archive"),
    ]
    for (bytes, sentence) in cases {
      let fault = #expect(throws: ImportFault.self, "\(sentence)") { try Self.entries(bytes) }
      #expect(fault?.description.contains(sentence) == true, "\(sentence): \(fault?.description ?? "")")
    }
  }

  @Test func `no cut and no flipped byte of an archive gives other content`() throws {
    for count in Self.archive.indices {
      #expect(throws: ImportFault.self) { try Self.entries(Array(Self.archive.prefix(count))) }
      for flip: UInt8 in [1, 0x80] {
        var archive = Self.archive
        archive[count] ^= flip
        // Names have no checksum, and the local headers repeat the directory.
        guard let found = try? Self.entries(archive) else { continue }
        let texts = found.map { $0.drop { $0 != " " }.dropFirst() }
        #expect(texts.allSatisfy { text in Self.content.contains { $0.hasSuffix(text) } }, "byte \(count)")
      }
    }
  }
}
