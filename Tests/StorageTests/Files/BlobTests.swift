import Foundation
import ParleyCrypto
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// Creation and deletion of stored content on disk.
@Suite struct BlobTests {
  private static func content(_ text: String, in garden: Garden) async throws -> StoredContent {
    let writer = garden.store.blobs.writer()
    for byte in text.utf8 { try await writer.append([byte]) }
    return try await writer.finish()
  }

  @discardableResult
  private static func add(_ content: StoredContent, in garden: Garden) async throws -> File {
    try await garden.store.write { tx throws(Refusal) in
      let new = NewFile(
        owner: Garden.ada, FileDraft(name: "x"), content, kind: "text", mimeType: "text/plain", width: nil, height: nil)
      return try tx.add(new, in: FileQuota(user: 1_000, site: 1_000))
    }
  }

  private static func remove(_ file: File, in garden: Garden) async throws {
    try await garden.store.write { tx throws(Refusal) in
      guard let kept = try tx.keptFile(file.id) else { throw .notFound }
      try tx.remove(kept)
    }
  }

  private static func isThere(_ text: String, in garden: Garden) throws -> Bool {
    FileManager.default.fileExists(atPath: garden.store.blobs.path(of: try Digest.sha256(of: Array(text.utf8))))
  }

  private static func temporary(_ garden: Garden) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: garden.folder + "/files/tmp")
  }

  @Test func `content is stored once by its digest, and unfinished uploads are not visible`() async throws {
    let garden = try await Garden()
    let one = try await Self.content("rose", in: garden)
    let two = try await Self.content("rose", in: garden)
    let digest = try Digest.sha256(of: Array("rose".utf8))
    #expect(one.digest == digest && two.digest == digest && one.size == 4)
    #expect(try String(contentsOfFile: garden.store.blobs.path(of: one.digest), encoding: .utf8) == "rose")
    let empty = try await garden.store.blobs.writer().finish()
    #expect(empty.size == 0 && FileManager.default.fileExists(atPath: garden.store.blobs.path(of: empty.digest)))
    do {
      let writer = garden.store.blobs.writer()
      try await writer.append([1])
      #expect(try Self.temporary(garden).count == 1)
      await writer.discard()
      #expect(try Self.temporary(garden) == [])
      let forgotten = garden.store.blobs.writer()
      try await forgotten.append([1])
    }
    #expect(try Self.temporary(garden) == [])
    await garden.store.close()
  }

  @Test func `content is deleted with its last reference`() async throws {
    let garden = try await Garden()
    let first = try await Self.add(try await Self.content("rose", in: garden), in: garden)
    let second = try await Self.add(try await Self.content("rose", in: garden), in: garden)
    try await Self.remove(first, in: garden)
    _ = try await garden.store.removeLooseContent()
    #expect(try Self.isThere("rose", in: garden))
    try await Self.remove(second, in: garden)
    #expect(try Self.isThere("rose", in: garden), "not in the transaction, which might be rolled back")
    _ = try await garden.store.removeLooseContent()
    #expect(try !Self.isThere("rose", in: garden))
    #expect(try await garden.store.readInBackground { tx throws(Refusal) in try tx.fileUse(of: nil) } == 0)
    await garden.store.close()
  }

  @Test func `content with a pending reference is kept and checked again`() async throws {
    let garden = try await Garden()
    let old = try await Self.add(try await Self.content("rose", in: garden), in: garden)
    var coming: StoredContent? = try await Self.content("rose", in: garden)
    try await Self.remove(old, in: garden)
    _ = try await garden.store.removeLooseContent()
    #expect(try Self.isThere("rose", in: garden))
    if let content = coming { try await Self.add(content, in: garden) }
    coming = nil
    _ = try await garden.store.removeLooseContent()
    #expect(try Self.isThere("rose", in: garden))
    await garden.store.close()
  }

  @Test func `a refused row leaves no content`() async throws {
    let garden = try await Garden()
    await #expect(throws: Refusal.noRoom(limit: 1_000)) {
      try await Self.add(try await Self.content(String(repeating: "x", count: 1_001), in: garden), in: garden)
    }
    #expect(try await garden.store.readInBackground { tx throws(Refusal) in try tx.fileUse(of: Garden.ada) } == 0)
    _ = try await garden.store.removeLooseContent()
    #expect(try !Self.isThere(String(repeating: "x", count: 1_001), in: garden))
    await garden.store.close()
  }

  @Test func `leftovers of a crash are deleted at the next start`() async throws {
    let garden = try await Garden()
    let kept = try await Self.add(try await Self.content("kept", in: garden), in: garden)
    _ = try await Self.content("stray", in: garden)
    let folder = garden.folder + "/files/tmp"
    for name in ["new-7", "upload-99", "notes.txt"] { try Data([1]).write(to: URL(filePath: "\(folder)/\(name)")) }
    await garden.store.close()
    let again = try await Garden(in: garden.folder)
    #expect(try Self.temporary(again).sorted() == ["notes.txt", "upload-99"])
    await Housekeeping(again.store).tick()
    #expect(try Self.temporary(again) == ["notes.txt"])
    #expect(try Self.isThere("kept", in: again) && !Self.isThere("stray", in: again))
    #expect(try await again.store.readInBackground { tx throws(Refusal) in try tx.keptFile(kept.id) } != nil)
    await again.store.close()
  }

  @Test func `a later upload of a part invalidates the earlier one`() async throws {
    let garden = try await Garden()
    let part = garden.store.blobs.part(of: ID(50), received: 0)
    let first = try #require(try await part.begin(at: 0))
    #expect(try await part.append([1, 2], in: first))
    #expect(try await part.begin(at: 1) == nil)
    let second = try #require(try await part.begin(at: 2))
    #expect(try await !part.append([9], in: first))
    #expect(try await part.suspend(first) == nil)
    #expect(try await part.append([3], in: second))
    #expect(try await part.suspend(second) == 3)
    #expect(try await part.read(from: 1, 10) == [2, 3])
    let content = try await part.finish()
    #expect(content.digest == (try Digest.sha256(of: [1, 2, 3])))
    #expect(try await part.finish().digest == content.digest, "it can be asked again")
    await garden.store.blobs.discard(ID(50))
    await #expect(throws: Refusal.notFound) { try await part.begin(at: 3) }
    #expect(try Self.temporary(garden) == [])
    await garden.store.close()
  }
}
