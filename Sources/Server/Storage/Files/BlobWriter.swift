import ParleyCrypto
public import ParleyModel

/// Content that comes in piece by piece, on a thread where the disk may take its time. What is not finished is removed.
public actor BlobWriter {
  private nonisolated let lane: SerialQueue
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe lane.asUnownedSerialExecutor() }
  private let blobs: Blobs
  private let scrap: Scrap
  private var file: DiskFile?
  private var digest: Digest?
  private var size = 0

  /// A file that goes with this object, unless it has become something.
  private final class Scrap {
    let path: String
    var isKept = true

    init(_ path: String) { self.path = path }

    func remove() throws(DiskError) {
      if isKept { return }
      try Disk.remove(path)
      isKept = true
    }

    deinit {
      // Nobody is left to be told; the next start removes it.
      do throws(DiskError) { try remove() } catch { return }
    }
  }

  init(_ blobs: Blobs, _ path: String, on lane: SerialQueue) {
    self.blobs = blobs
    self.lane = lane
    scrap = Scrap(path)
  }

  public func append(_ bytes: [UInt8]) throws(Refusal) {
    do {
      try open()
      try file?.write(bytes)
      try digest?.update(bytes)
      size += bytes.count
    } catch { throw blobs.broken(error) }
  }

  /// All has come. It is on the disk when this returns.
  public func finish() throws(Refusal) -> StoredContent {
    do {
      try open()
      guard let file, let digest = digest.take() else { throw Refusal.unavailable }
      try file.sync()
      self.file = nil
      let content = try blobs.settle(scrap.path, try digest.finish(), size)
      scrap.isKept = true
      return content
    } catch { throw blobs.broken(error) }
  }

  /// It will not be finished.
  public func discard() {
    file = nil
    do throws(DiskError) { try scrap.remove() } catch { _ = blobs.broken(error) }
  }

  private func open() throws {
    guard file == nil else { return }
    try blobs.makeFolders()
    file = try DiskFile.make(scrap.path)
    scrap.isKept = false
    digest = try Digest(.sha256)
  }
}
