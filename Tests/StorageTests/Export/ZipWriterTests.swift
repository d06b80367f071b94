import Foundation
import Testing

@testable import Storage

@Suite struct ZipWriterTests {
  /// Python's `zipfile` and Info-ZIP's `unzip`, which Debian has, read the archive. Returns names and contents.
  private func read(_ name: String, in scratch: Scratch) throws -> [String: String] {
    let script = """
      import json, zipfile
      with zipfile.ZipFile('\(name)') as archive:
          assert archive.testzip() is None
          assert all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())
          found = {entry.filename: archive.read(entry).decode() for entry in archive.infolist()[:99]}
          found['count'], found['time'] = str(len(archive.infolist())), str(archive.infolist()[0].date_time)
          json.dump(found, open('out.json', 'w'))
      """
    try scratch.write(Array(script.utf8), to: "read.py")
    #expect(try scratch.run("python3 read.py") == 0)
    return try JSONDecoder().decode([String: String].self, from: Data(scratch.bytes(of: "out.json")))
  }

  /// With fields of ZIP64 for small sizes, too.
  @Test(arguments: [0xffff_ffff, 100, 6, 0])
  func `other programs read an archive`(limit: Int) throws {
    let scratch = try Scratch()
    let zip = try ZipWriter(scratch.path + "/a.zip", now: 1_800_000_001_000, limit: limit)
    try zip.add("empty.txt", [])
    try zip.add("häkeln/rose.txt", Array("a rose".utf8))
    try zip.begin("long.txt")
    for _ in 0..<100 { try zip.append(Array("thorn ".utf8)) }
    let size = try zip.finish()
    #expect(try scratch.bytes(of: "a.zip").count == size)
    let found = try read("a.zip", in: scratch)
    #expect(found["empty.txt"] == "" && found["häkeln/rose.txt"] == "a rose")
    #expect(found["long.txt"] == String(repeating: "thorn ", count: 100))
    #expect(found["count"] == "3" && found["time"] == "(2027, 1, 15, 8, 0, 0)")
  }

  @Test func `an archive may have more than 65,535 entries`() throws {
    let scratch = try Scratch()
    let zip = try ZipWriter(scratch.path + "/a.zip", now: 0)
    for number in 0..<65_600 { try zip.add("\(number)", []) }
    _ = try zip.finish()
    #expect(try read("a.zip", in: scratch)["count"] == "65600")
  }
}
