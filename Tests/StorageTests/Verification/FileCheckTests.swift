import Foundation
import ParleyModel
import Testing

@testable import Storage

/// The nightly check of uploaded files.
struct FileCheckTests {
  private static let fileCount = 60

  private static func add(_ text: String, in garden: Garden) async throws -> String {
    let writer = garden.store.blobs.writer()
    try await writer.append(Array(text.utf8))
    let content = try await writer.finish()
    let new = NewFile(
      owner: Garden.ada, FileDraft(name: "x"), content, kind: "file", mimeType: "text/plain", width: nil, height: nil,
      preview: nil)
    try await garden.write { tx throws(Refusal) in
      _ = try tx.add(new, in: FileQuota(user: 1_000_000, site: 1_000_000))
    }
    return StoredFile(digest: content.digest, size: content.size).path
  }

  private static func damaged(_ garden: Garden) async throws -> [String] {
    try await garden.store.measure().damagedFiles
  }

  /// The check of one night.
  private static func check(_ night: Int64, _ garden: Garden) async {
    garden.store.startIntegrityCheck(filesOf: FilePart(night: night))
    await garden.store.finishIntegrityCheck()
  }

  @Test func `damaged and missing files are found within 30 nights, and noted until they are sound`() async throws {
    let garden = try await Garden()
    var paths: [String] = []
    for number in 0..<Self.fileCount { paths.append(try await Self.add("wool \(number)", in: garden)) }
    let whole = "\(garden.folder)/\(paths[7])"
    try Data("moth".utf8).write(to: URL(filePath: whole))
    try FileManager.default.removeItem(atPath: "\(garden.folder)/\(paths[42])")
    var counts: Set<Int> = [0]
    for night in 0..<Int64(FilePart.count) {
      await Self.check(night, garden)
      counts.insert(try await Self.damaged(garden).count)
    }
    #expect(try await Self.damaged(garden) == [paths[7], paths[42]].sorted())
    // Not all at once, since each night reads a part.
    #expect(counts == [0, 1, 2] || counts == [0, 2])
    #expect(garden.store.isReady)

    // Checks of other parts compare these, too.
    try Data("wool 7".utf8).write(to: URL(filePath: whole))
    for night in [100, 101] as [Int64] { await Self.check(night, garden) }
    #expect(try await Self.damaged(garden) == [paths[42]])
    await garden.store.close()
  }

  @Test func `each file is in one part`() {
    let digests = (0..<2_000).map { [UInt8($0 % 251), UInt8($0 / 251), 1] }
    for digest in digests {
      #expect((0..<60).filter { FilePart(night: $0).contains(digest) }.count == 2)
    }
    let sizes = (0..<30).map { night in digests.filter { FilePart(night: night).contains($0) }.count }
    #expect(sizes.allSatisfy { $0 > 0 })
  }
}
