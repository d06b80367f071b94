// Uploaded content as files: `files/ab/cd/<sha-256>`, equal content stored once.
//
// New bytes go to `files/tmp`. A complete file is synced, renamed to its digest, and its folders are synced, all
// before the commit of the row that names it. So a row never names missing content.
//
// From the rename until that commit is answered the content is *claimed* in memory and not removed, although no row
// names it yet. All of this runs on a few threads of its own, since any disk may be slow.

import Glibc
import ParleyCrypto
public import ParleyModel
import Synchronization

/// Durable content. It is claimed while this object exists: retain it until the row that names it is committed.
public final class StoredContent: Sendable {
  public let digest: [UInt8]
  public let size: Int
  private let blobs: Blobs

  fileprivate init(_ digest: [UInt8], _ size: Int, _ blobs: Blobs) {
    self.digest = digest
    self.size = size
    self.blobs = blobs
    blobs.claim(digest)
  }

  deinit { blobs.release(digest) }
}

public final class Blobs: Sendable {
  let folder: String
  private let gate: WriteGate
  private let log: @Sendable (String) -> Void
  private let queues: [SerialQueue]
  private let state = Mutex(State())

  private struct State {
    var claims: [[UInt8]: Int] = [:]
    /// Digests without a remaining claim; they may have no row.
    var released: Set<[UInt8]> = []
    var parts: [ID<Upload>: PartFile] = [:]
    var writerCount = 0
  }

  /// Threads for disk I/O. Each upload stays on one.
  private static let queueCount = 4
  private static let newPrefix = "new-"
  static let partPrefix = "upload-"

  init(_ folder: String, gate: WriteGate, log: @escaping @Sendable (String) -> Void) {
    self.folder = folder
    self.gate = gate
    self.log = log
    queues = (0..<Self.queueCount).map { SerialQueue("parley.files.\($0)") }
    removeUnfinished()
  }

  var temporary: String { folder + "/tmp" }

  /// Path of content, existing or not.
  public func path(of digest: [UInt8]) -> String {
    let name = Hex.text(digest)
    return "\(folder)/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
  }

  /// Writer for new content.
  public func writer() -> BlobWriter {
    let number = state.withLock { state in
      state.writerCount += 1
      return state.writerCount
    }
    return BlobWriter(self, "\(temporary)/\(Self.newPrefix)\(number)", on: queues[number % queues.count])
  }

  /// Received bytes of a resumable upload. `received` is the size recorded by the store, used at the first call.
  public func part(of upload: ID<Upload>, received: Int) -> PartFile {
    state.withLock { state in
      if let part = state.parts[upload] { return part }
      let queue = queues[upload.number % queues.count]
      let part = PartFile(self, "\(temporary)/\(Self.partPrefix)\(upload)", received: received, on: queue)
      state.parts[upload] = part
      return part
    }
  }

  /// Discards the received bytes of an upload.
  public func discard(_ upload: ID<Upload>) async {
    await part(of: upload, received: 0).discard()
    forget(upload)
  }

  private func forget(_ upload: ID<Upload>) {
    state.withLock { state in _ = state.parts.removeValue(forKey: upload) }
  }

  // MARK: Claims

  fileprivate func claim(_ digest: [UInt8]) {
    state.withLock { $0.claims[digest, default: 0] += 1 }
  }

  fileprivate func release(_ digest: [UInt8]) {
    state.withLock { state in
      let left = (state.claims[digest] ?? 1) - 1
      state.claims[digest] = left == 0 ? nil : left
      if left == 0 { state.released.insert(digest) }
    }
  }

  /// Content without a remaining claim since the last call: it has a row, or has to be removed.
  func takeReleased() -> Set<[UInt8]> {
    state.withLock { state in
      defer { state.released = [] }
      return state.released
    }
  }

  /// Removes content without a row, unless it is claimed. Returns whether it is gone.
  func remove(_ digest: [UInt8]) throws(DiskError) -> Bool {
    let isClaimed = state.withLock { $0.claims[digest] != nil }
    guard !isClaimed else { return false }
    try Disk.remove(path(of: digest))
    return true
  }

  // MARK: For the writers

  /// Renames or links a synced file of `files/tmp` to its digest.
  func store(
    _ temporary: String, _ digest: [UInt8], _ size: Int, keepsSource: Bool = false
  ) throws(DiskError) -> StoredContent {
    // Claims the content before the file exists, so that it is not removed.
    let content = StoredContent(digest, size, self)
    let path = path(of: digest)
    let inner = Disk.folder(of: path)
    let outer = Disk.folder(of: inner)
    try Disk.makeFolder(outer)
    try Disk.makeFolder(inner)
    if keepsSource { try Disk.name(temporary, also: path) } else { try Disk.move(temporary, to: path) }
    // Outer folders too: their creator may not have synced them yet.
    for folder in [inner, outer, folder] { try Disk.sync(folder) }
    return content
  }

  func makeFolders() throws(DiskError) {
    try Disk.makeFolder(folder)
    try Disk.makeFolder(temporary)
  }

  /// Logs the failure and returns a refusal for the uploader.
  func storageFailure(_ error: any Error) -> Refusal {
    log("An upload failed: \(error)")
    return gate.close(after: error)
  }

  // MARK: Cleanup after a crash

  /// Removes uploads that cannot be resumed.
  private func removeUnfinished() {
    guard Disk.exists(temporary) else { return }
    do {
      for name in try Disk.names(in: temporary) where name.hasPrefix(Self.newPrefix) {
        try Disk.remove("\(temporary)/\(name)")
      }
    } catch { log("Unfinished uploads can't be removed: \(error)") }
  }

  /// Uploads with received bytes.
  func parts() throws(DiskError) -> [ID<Upload>] {
    guard Disk.exists(temporary) else { return [] }
    return try Disk.names(in: temporary).compactMap { name in
      name.hasPrefix(Self.partPrefix) ? ID(String(name.dropFirst(Self.partPrefix.count))) : nil
    }
  }

  /// Digests of all content.
  func contents() throws(DiskError) -> [[UInt8]] {
    guard Disk.exists(folder) else { return [] }
    var found: [[UInt8]] = []
    for outer in try Disk.names(in: folder) where outer.utf8.count == 2 {
      for inner in try Disk.names(in: "\(folder)/\(outer)") where inner.utf8.count == 2 {
        found += try Disk.names(in: "\(folder)/\(outer)/\(inner)").compactMap { Hex.bytes($0) }
      }
    }
    return found
  }
}
