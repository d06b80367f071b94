import ParleyCrypto
public import ParleyModel

/// What has come of a large upload, on a thread where the disk may take its time. Whoever sends takes a turn; a turn that
/// begins later ends the one before, whose sender has gone without our knowing it yet.
public actor PartFile {
  private nonisolated let lane: SerialQueue
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe lane.asUnownedSerialExecutor() }
  private let blobs: Blobs
  private let path: String
  private var file: DiskFile?
  private var turn = 0
  private var isClosed = false
  /// While all of it is read nothing is added, nor when the content has a second name.
  private var isBeingRead = false
  private var isComplete = false
  /// How much has come; not all of it need be on the disk yet.
  public private(set) var size: Int

  /// Digests of large files are made in steps, so that others have their turn.
  private static let step = 4 << 20

  init(_ blobs: Blobs, _ path: String, received: Int, on lane: SerialQueue) {
    self.blobs = blobs
    self.path = path
    self.lane = lane
    size = received
  }

  /// Begins to go on at `offset`; nil when it is elsewhere that it goes on.
  public func begin(at offset: Int) throws(Refusal) -> Int? {
    guard !isClosed else { throw .notFound }
    guard offset == size, !isBeingRead else { return nil }
    do throws(DiskError) {
      if file == nil {
        try blobs.makeFolders()
        file = Disk.exists(path) ? try DiskFile.open(path, isWritten: true) : try DiskFile.make(path)
      }
      // What had come and was not known to have is sent again.
      try file?.cut(to: size)
    } catch { throw blobs.broken(error) }
    turn += 1
    return turn
  }

  /// False when somebody else goes on with it.
  public func append(_ bytes: [UInt8], in turn: Int) throws(Refusal) -> Bool {
    guard !isClosed, !isComplete, turn == self.turn, let file else { return false }
    do throws(DiskError) { try file.write(bytes) } catch {
      self.file = nil
      throw blobs.broken(error)
    }
    size += bytes.count
    return true
  }

  /// Brings to the disk what has come, and returns how much that is; nil when somebody else goes on with it.
  public func rest(_ turn: Int) throws(Refusal) -> Int? {
    guard !isClosed, turn == self.turn, let file else { return nil }
    do throws(DiskError) { try file.sync() } catch { throw blobs.broken(error) }
    self.file = nil
    return size
  }

  /// Bytes from a place on; fewer only at the end.
  public func read(from offset: Int, _ count: Int) throws(Refusal) -> [UInt8] {
    guard !isClosed else { throw .notFound }
    do throws(DiskError) {
      let file = try DiskFile.open(path)
      try file.seek(to: offset)
      return try file.read(count)
    } catch { throw blobs.broken(error) }
  }

  /// Makes content of all that has come. It stays here too, until `discard`: if the content gets no row, this can be asked
  /// again.
  public func finish() async throws(Refusal) -> StoredContent {
    guard !isClosed else { throw .notFound }
    guard !isBeingRead else { throw .conflict }
    isBeingRead = true
    defer { isBeingRead = false }
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
      let content = try blobs.settle(path, try digest.finish(), size, isKept: true)
      isComplete = true
      return content
    } catch { throw blobs.broken(error) }
  }

  /// It is not wanted any more.
  public func discard() {
    isClosed = true
    file = nil
    do throws(DiskError) { try Disk.remove(path) } catch { _ = blobs.broken(error) }
  }
}
