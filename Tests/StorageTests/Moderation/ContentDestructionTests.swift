import ParleyModel
import Testing

@testable import Storage

/// Destruction of files and of their previews.
@Suite struct ContentDestructionTests {
  private static func content(_ text: String, in garden: Garden) async throws -> StoredContent {
    let writer = garden.store.blobs.writer()
    try await writer.append(Array(text.utf8))
    return try await writer.finish()
  }

  private static func add(
    _ text: String, preview: String? = nil, by owner: ID<User> = Garden.ada, in garden: Garden
  ) async throws -> File {
    let content = try await content(text, in: garden)
    var small: NewPreview?
    if let preview {
      small = NewPreview(try await Self.content(preview, in: garden), mimeType: "image/png", width: 1, height: 1)
    }
    let new = NewFile(
      owner: owner, FileDraft(name: "x"), content, kind: "image", mimeType: "image/png", width: 1, height: 1,
      preview: small)
    return try await garden.write { tx throws(Refusal) in try tx.add(new, in: FileQuota(user: 1_000, site: 1_000)) }
  }

  private static func destroy(_ file: File, in garden: Garden) async throws {
    let job = try await garden.write { tx throws(Refusal) in try tx.destroyFile(file.id, by: Garden.ada) }
    #expect(job == nil)
  }

  private static func kept(_ file: File, in garden: Garden) async throws -> KeptFile? {
    try await garden.store.readInBackground { tx throws(Refusal) in try tx.keptFile(file.id) }
  }

  private static func isDestroyed(_ digest: [UInt8], in garden: Garden) async throws -> Bool {
    try await garden.write { tx throws(Refusal) in try tx.isDestroyed(digest) }
  }

  @Test func `a preview that is also the content of a file remains`() async throws {
    let garden = try await Garden()
    let avatar = try await Self.add("avatar", by: Garden.grace, in: garden)
    let weed = try await Self.add("weed", preview: "avatar", in: garden)
    let rose = try await Self.add("rose", preview: "avatar", by: Garden.grace, in: garden)
    try await Self.destroy(weed, in: garden)
    #expect(try await garden.store.purgeDestroyed(after: nil))
    #expect(try await Self.kept(weed, in: garden) == nil)
    #expect(!Disk.exists(garden.store.blobs.path(of: weed.digest)))
    #expect(try await Self.isDestroyed(weed.digest, in: garden))
    #expect(try await Self.kept(avatar, in: garden) != nil)
    #expect(try await Self.kept(rose, in: garden)?.previewDigest == avatar.digest)
    #expect(Disk.exists(garden.store.blobs.path(of: avatar.digest)))
    #expect(try await !Self.isDestroyed(avatar.digest, in: garden))
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `other files lose the preview of a destroyed file`() async throws {
    let garden = try await Garden()
    let weed = try await Self.add("weed", preview: "small weed", in: garden)
    let rose = try await Self.add("rose", preview: "small weed", by: Garden.grace, in: garden)
    let preview = try #require(try await Self.kept(weed, in: garden)?.previewDigest)
    #expect(Disk.exists(garden.store.blobs.path(of: preview)))
    try await Self.destroy(weed, in: garden)
    #expect(try await garden.store.purgeDestroyed(after: nil))
    let rest = try #require(try await Self.kept(rose, in: garden))
    #expect(rest.previewDigest == nil && rest.file.preview == nil)
    #expect(Disk.exists(garden.store.blobs.path(of: rose.digest)))
    #expect(!Disk.exists(garden.store.blobs.path(of: preview)))
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `destroyed content is refused as a preview`() async throws {
    let garden = try await Garden()
    let weed = try await Self.add("weed", in: garden)
    try await Self.destroy(weed, in: garden)
    await #expect(throws: Refusal.contentRefused) { try await Self.add("rose", preview: "weed", in: garden) }
    await #expect(throws: Refusal.contentRefused) { try await Self.add("weed", preview: "rose", in: garden) }
    #expect(try await garden.store.purgeDestroyed(after: nil))
    #expect(!Disk.exists(garden.store.blobs.path(of: weed.digest)))
  }

  @Test func `content that an upload has is not purged before the upload ends`() async throws {
    let garden = try await Garden()
    let weed = try await Self.add("weed", in: garden)
    let path = garden.store.blobs.path(of: weed.digest)
    var coming: [StoredContent] = [try await Self.content("weed", in: garden)]
    try await Self.destroy(weed, in: garden)
    #expect(try await !garden.store.purgeDestroyed(after: nil))
    #expect(Disk.exists(path))
    #expect(coming.map(\.digest) == [weed.digest])
    coming = []
    #expect(try await garden.store.purgeDestroyed(after: nil))
    #expect(!Disk.exists(path))
  }
}
