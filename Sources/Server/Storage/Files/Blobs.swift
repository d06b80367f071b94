// What people upload, as files on the disk: `files/ab/cd/<sha-256>`, equal content once.
//
// New bytes go to `files/tmp`. When all have come they are brought to the disk, the file is renamed to its digest, and the
// folders are brought to the disk too, all before the row that names it is committed. So a row never names what is not there.
//
// From the rename to the answer of that commit the content is *claimed* in memory, and is not removed meanwhile, although
// no row names it yet. All of it happens on a few threads of its own, since nothing here is quick on every disk.

import Glibc
import ParleyCrypto
public import ParleyModel
import Synchronization

/// Content that is on the disk for certain. Claimed as long as this is held: keep it until a row that names it is
/// committed.
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

  deinit { blobs.letGo(of: digest) }
}

public final class Blobs: Sendable {
  let folder: String
  private let complain: @Sendable (String) -> Void
  private let lanes: [SerialQueue]
  private let state = Mutex(State())

  private struct State {
    var claims: [[UInt8]: Int] = [:]
    /// What was claimed and may have got no row.
    var released: Set<[UInt8]> = []
    var parts: [ID<Upload>: PartFile] = [:]
    var made = 0
  }

  /// Threads for disks. Each upload keeps to one.
  private static let laneCount = 4
  private static let newPrefix = "new-"
  static let partPrefix = "upload-"

  init(_ folder: String, complain: @escaping @Sendable (String) -> Void) {
    self.folder = folder
    self.complain = complain
    lanes = (0..<Self.laneCount).map { SerialQueue("parley.files.\($0)") }
    clear()
  }

  var temporary: String { folder + "/tmp" }

  /// Where content is, whether it is there or not.
  public func path(of digest: [UInt8]) -> String {
    let name = Hex.text(digest)
    return "\(folder)/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
  }

  /// For content that comes in.
  public func writer() -> BlobWriter {
    let number = state.withLock { state in
      state.made += 1
      return state.made
    }
    return BlobWriter(self, "\(temporary)/\(Self.newPrefix)\(number)", on: lanes[number % lanes.count])
  }

  /// What has come of a large upload. `received` is what the store knows of it, for who asks first.
  public func part(of upload: ID<Upload>, received: Int) -> PartFile {
    state.withLock { state in
      if let part = state.parts[upload] { return part }
      let lane = lanes[upload.number % lanes.count]
      let part = PartFile(self, "\(temporary)/\(Self.partPrefix)\(upload)", received: received, on: lane)
      state.parts[upload] = part
      return part
    }
  }

  /// What has come of an upload is not wanted any more.
  public func end(_ upload: ID<Upload>) async {
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

  fileprivate func letGo(of digest: [UInt8]) {
    state.withLock { state in
      let left = (state.claims[digest] ?? 1) - 1
      state.claims[digest] = left == 0 ? nil : left
      if left == 0 { state.released.insert(digest) }
    }
  }

  /// Content that is claimed no longer since this was asked last: it has a row, or is to go.
  func takeReleased() -> Set<[UInt8]> {
    state.withLock { state in
      defer { state.released = [] }
      return state.released
    }
  }

  /// Removes content that no row names, unless somebody is about to; whether it is gone.
  func remove(_ digest: [UInt8]) throws(DiskError) -> Bool {
    let isClaimed = state.withLock { $0.claims[digest] != nil }
    guard !isClaimed else { return false }
    try Disk.remove(path(of: digest))
    return true
  }

  // MARK: For the writers

  /// Gives a file of `files/tmp` that is on the disk its name, in the place of the one that it had or beside it.
  func settle(
    _ temporary: String, _ digest: [UInt8], _ size: Int, isKept: Bool = false
  ) throws(DiskError) -> StoredContent {
    // Before the file is there, so that nobody removes it.
    let content = StoredContent(digest, size, self)
    let path = path(of: digest)
    let inner = Disk.folder(of: path)
    let outer = Disk.folder(of: inner)
    try Disk.makeFolder(outer)
    try Disk.makeFolder(inner)
    if isKept { try Disk.name(temporary, also: path) } else { try Disk.move(temporary, to: path) }
    // The outer ones too: whoever made them may not have come so far.
    for folder in [inner, outer, folder] { try Disk.sync(folder) }
    return content
  }

  func makeFolders() throws(DiskError) {
    try Disk.makeFolder(folder)
    try Disk.makeFolder(temporary)
  }

  /// The log is told; whoever uploads is told that it can't be done now.
  func broken(_ error: any Error) -> Refusal {
    complain("an upload failed: \(error)")
    return .unavailable
  }

  // MARK: What a crash has left

  /// Uploads that can't go on.
  private func clear() {
    guard Disk.exists(temporary) else { return }
    do {
      for name in try Disk.names(in: temporary) where name.hasPrefix(Self.newPrefix) {
        try Disk.remove("\(temporary)/\(name)")
      }
    } catch { complain("what is left of uploads can't be removed: \(error)") }
  }

  /// The uploads of which something is here.
  func parts() throws(DiskError) -> [ID<Upload>] {
    guard Disk.exists(temporary) else { return [] }
    return try Disk.names(in: temporary).compactMap { name in
      name.hasPrefix(Self.partPrefix) ? ID(String(name.dropFirst(Self.partPrefix.count))) : nil
    }
  }

  /// All content that is here.
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
