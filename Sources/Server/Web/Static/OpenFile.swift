import Glibc

/// A file open for reading, and its stamp. Closed by `deinit`.
public final class OpenFile: Sendable {
  public let descriptor: Int32
  public let stamp: FileStamp

  public var size: Int { stamp.size }

  /// Opens a regular file; nil if there is none. A symbolic link as the last component is not followed.
  public convenience init?(_ path: String) {
    // O_NONBLOCK: opening a FIFO would wait for a writer.
    self.init(owning: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
  }

  /// Takes ownership of a descriptor. Returns nil and closes it if it is not a regular file.
  init?(owning descriptor: Int32) {
    guard descriptor >= 0 else { return nil }
    guard let stamp = FileStamp(descriptor) else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.stamp = stamp
  }

  deinit { close(descriptor) }

  /// Reads a range; the result is shorter at the end of the file, and nil on an I/O error.
  public func read(_ range: Range<Int>) -> [UInt8]? {
    var isFailed = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      count = 0
      while count < range.count {
        let got = unsafe pread(
          descriptor, buffer.baseAddress?.advanced(by: count), range.count - count, off_t(range.lowerBound + count))
        if got < 0, errno == EINTR { continue }
        if got < 0 { isFailed = true }
        if got <= 0 { return }
        count += got
      }
    }
    return isFailed ? nil : bytes
  }
}

/// Metadata of a file. Two equal stamps of a settled file mean equal content.
public struct FileStamp: Sendable, Hashable {
  public let size: Int
  /// mtime in nanoseconds since 1970: last change of the content. Programs can set it.
  public let modified: Int
  /// ctime in nanoseconds since 1970: last change of content or metadata. Only the kernel sets it.
  public let changed: Int
  public let inode: UInt64

  fileprivate init?(_ descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    size = Int(status.st_size)
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
    inode = UInt64(status.st_ino)
  }

  /// Wraps around on overflow: a damaged file system may return any year, and a stamp only has to be distinct.
  private static func nanoseconds(_ time: timespec) -> Int {
    time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
  }

  /// Whether the last change is more than a second old. File timestamps have a granularity of some milliseconds, and a
  /// file may change twice within one step.
  /// - Parameter now: milliseconds since 1970.
  func isSettled(at now: Int64) -> Bool {
    now - Int64(changed / 1_000_000) > 1_000
  }
}
