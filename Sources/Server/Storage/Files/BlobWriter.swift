import ParleyCrypto
public import ParleyModel

/// Writes content in chunks, on a thread for disk I/O. Unfinished content is removed.
public actor BlobWriter {
  private nonisolated let queue: SerialQueue
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }
  private let blobs: Blobs
  private let temporaryFile: TemporaryFile
  private var file: DiskFile?
  private var digest: Digest?
  private var size = 0

  /// A temporary file, removed with this object unless it was stored.
  private final class TemporaryFile {
    let path: String
    var isStored = true

    init(_ path: String) { self.path = path }

    func remove() throws(DiskError) {
      if isStored { return }
      try Disk.remove(path)
      isStored = true
    }

    deinit {
      // An error has no recipient; the next start removes the file.
      do throws(DiskError) { try remove() } catch { return }
    }
  }

  init(_ blobs: Blobs, _ path: String, on queue: SerialQueue) {
    self.blobs = blobs
    self.queue = queue
    temporaryFile = TemporaryFile(path)
  }

  public func append(_ bytes: [UInt8]) throws(Refusal) {
    do {
      try open()
      try file?.write(bytes)
      try digest?.update(bytes)
      size += bytes.count
    } catch { throw blobs.storageFailure(error) }
  }

  /// Reads content, after the last `append`.
  public func read(_ range: Range<Int>) throws(Refusal) -> [UInt8] {
    do {
      guard let file else { return [] }
      try file.seek(to: range.lowerBound)
      return try file.read(range.count)
    } catch { throw blobs.storageFailure(error) }
  }

  /// Overwrites content with zeros, after the last `append`.
  public func blank(_ ranges: [Range<Int>]) throws(Refusal) {
    do {
      guard let file else { return }
      for range in ranges {
        try file.seek(to: range.lowerBound)
        for start in stride(from: range.lowerBound, to: range.upperBound, by: DiskFile.pieceSize) {
          try file.write([UInt8](repeating: 0, count: min(DiskFile.pieceSize, range.upperBound - start)))
        }
      }
      var digest = try Digest(.sha256)
      try file.seek(to: 0)
      for start in stride(from: 0, to: size, by: DiskFile.pieceSize) {
        try digest.update(try file.read(min(DiskFile.pieceSize, size - start)))
      }
      self.digest = consume digest
    } catch { throw blobs.storageFailure(error) }
  }

  /// Completes the content. It is durable when this returns.
  public func finish() throws(Refusal) -> StoredContent {
    do {
      try open()
      guard let file, let digest = digest.take() else { throw Refusal.unavailable }
      try file.sync()
      self.file = nil
      let content = try blobs.store(temporaryFile.path, try digest.finish(), size)
      temporaryFile.isStored = true
      return content
    } catch { throw blobs.storageFailure(error) }
  }

  /// Discards unfinished content.
  public func discard() {
    file = nil
    do throws(DiskError) { try temporaryFile.remove() } catch { _ = blobs.storageFailure(error) }
  }

  private func open() throws {
    guard file == nil else { return }
    try blobs.makeFolders()
    file = try DiskFile.make(temporaryFile.path)
    temporaryFile.isStored = false
    digest = try Digest(.sha256)
  }
}
