import ParleyCrypto
public import ParleyModel

/// Received bytes of a resumable upload, on a thread for disk I/O. Each request takes a turn; a later turn ends the
/// earlier one, since its connection was lost without notice.
public actor PartFile {
  private nonisolated let queue: SerialQueue
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }
  private let blobs: Blobs
  private let path: String
  private var file: DiskFile?
  private var turn = 0
  private var isClosed = false
  /// While the file is hashed, or once it is linked as content, appending is refused.
  private var isHashing = false
  private var isComplete = false
  /// Received bytes, not all of them durable.
  public private(set) var size: Int

  /// Large files are hashed in steps, so that other uploads proceed.
  private static let step = 4 << 20

  init(_ blobs: Blobs, _ path: String, received: Int, on queue: SerialQueue) {
    self.blobs = blobs
    self.path = path
    self.queue = queue
    size = received
  }

  /// Starts a turn at `offset`; nil for a wrong offset.
  public func begin(at offset: Int) throws(Refusal) -> Int? {
    guard !isClosed else { throw .notFound }
    guard offset == size, !isHashing else { return nil }
    do throws(DiskError) {
      if file == nil {
        try blobs.makeFolders()
        file = Disk.exists(path) ? try DiskFile.open(path, isWritten: true) : try DiskFile.make(path)
      }
      // Bytes beyond the recorded size are sent again.
      try file?.cut(to: size)
    } catch { throw blobs.storageFailure(error) }
    turn += 1
    return turn
  }

  /// Returns false if another turn has started.
  public func append(_ bytes: [UInt8], in turn: Int) throws(Refusal) -> Bool {
    guard !isClosed, !isComplete, turn == self.turn, let file else { return false }
    do throws(DiskError) { try file.write(bytes) } catch {
      self.file = nil
      throw blobs.storageFailure(error)
    }
    size += bytes.count
    return true
  }

  /// Syncs and returns the size; nil if another turn has started.
  public func suspend(_ turn: Int) throws(Refusal) -> Int? {
    guard !isClosed, turn == self.turn, let file else { return nil }
    do throws(DiskError) { try file.sync() } catch { throw blobs.storageFailure(error) }
    self.file = nil
    return size
  }

  /// Reads `count` bytes; fewer only at the end.
  public func read(from offset: Int, _ count: Int) throws(Refusal) -> [UInt8] {
    guard !isClosed else { throw .notFound }
    do throws(DiskError) {
      let file = try DiskFile.open(path)
      try file.seek(to: offset)
      return try file.read(count)
    } catch { throw blobs.storageFailure(error) }
  }

  /// Turns the received bytes into content. They also stay here until `discard`: if the content gets no row, this can
  /// be called again.
  public func finish() async throws(Refusal) -> StoredContent {
    guard !isClosed else { throw .notFound }
    guard !isHashing else { throw .conflict }
    isHashing = true
    defer { isHashing = false }
    do {
      turn += 1
      file = nil
      let source = try DiskFile.open(path)
      var digest = try Digest(.sha256)
      var size = 0
      while true {
        let bytes = try source.read(Self.step)
        if bytes.isEmpty { break }
        try digest.update(bytes)
        size += bytes.count
        await Task.yield()
      }
      guard size == self.size else { throw Refusal.unavailable }
      try source.sync()
      let content = try blobs.store(path, try digest.finish(), size, keepsSource: true)
      isComplete = true
      return content
    } catch { throw blobs.storageFailure(error) }
  }

  /// Discards the received bytes.
  public func discard() {
    isClosed = true
    file = nil
    do throws(DiskError) { try Disk.remove(path) } catch { _ = blobs.storageFailure(error) }
  }
}
