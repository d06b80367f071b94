import Foundation
import Testing

@testable import Storage

@Suite struct TarTests {
  @Test(arguments: [0, 1, 511, 512, 513, 0o777_7777_7777, 0o777_7777_7777 + 1, 1 << 40, Int.max >> 10])
  func `a header describes its entry`(size: Int) throws {
    let header = TarHeader(name: "files/ab/cd/abcd", size: size, modified: 1_800_000_000)
    #expect(header.block.count == 512)
    #expect(try TarHeader(reading: header.block, at: 512) == header)
  }

  @Test func `a header with a name of 100 bytes is complete`() throws {
    let header = TarHeader(name: String(repeating: "n", count: 100), size: 1, modified: 0)
    #expect(try TarHeader(reading: header.block, at: 512) == header)
  }

  @Test func `a header with any byte changed is refused`() throws {
    let block = TarHeader(name: "parley.db", size: 4_096, modified: 1_800_000_000).block
    for index in block.indices {
      for change: UInt8 in [1, 0x80, 0xff] {
        var changed = block
        changed[index] ^= change
        #expect(throws: BackupDamage.self, "byte \(index)") { try TarHeader(reading: changed, at: 512) }
      }
    }
  }

  @Test(arguments: ["1", "2", "3", "4", "5", "6", "7", "L", "K", "x", "g", "\0", "S"] as [Character])
  func `an entry that is not a plain file is refused by name`(type: Character) throws {
    let block = try TarHeader.block("parley.db", size: 0, type: type, link: "/etc/passwd")
    #expect(throws: BackupDamage.notRegularFile("parley.db")) { try TarHeader(reading: block, at: 512) }
  }

  @Test func `a header variant of other programs is refused despite a right checksum`() throws {
    let named = try TarHeader.block("parley.db", size: 0, owner: "root")
    #expect(throws: BackupDamage.badHeader(at: 512)) { try TarHeader(reading: named, at: 512) }
    #expect(throws: BackupDamage.foreign) { try TarHeader(reading: [UInt8](repeating: 1, count: 512), at: 0) }
  }

  /// Sizes beyond eleven octal digits use the base-256 form, which tar must read. The file is one large hole.
  @Test func `the system's tar reads the size of a large file`() throws {
    let scratch = try Scratch()
    let header = TarHeader(name: "large", size: 0o777_7777_7777 + 512, modified: 1_800_000_000)
    try scratch.write(header.block, to: "large.tar")
    #expect(truncate(scratch.path + "/large.tar", off_t(512 + header.size + 1_024)) == 0)
    #expect(try scratch.run("tar tvf large.tar | grep -q ' 8589935103 '") == 0)
  }
}
