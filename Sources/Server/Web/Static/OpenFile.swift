import Glibc

/// A file that is open for reading, and what is known of it. Closed when nobody holds it any longer.
public final class OpenFile: Sendable {
  public let descriptor: Int32
  public let stamp: FileStamp

  public var size: Int { stamp.size }

  /// Opens a regular file; nil when there is none. A symbolic link in the last place is not followed.
  public convenience init?(_ path: String) {
    // Not to wait for who might write to a FIFO.
    self.init(owning: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
  }

  /// Takes over a descriptor; nil, and closed, when it is of no regular file.
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

  /// Reads a place of the file; shorter when the file ends there, nil when it can't be read.
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

/// What the file system says of a file: when two stamps are equal, and the file had come to rest, so is the content.
public struct FileStamp: Sendable, Hashable {
  public let size: Int
  /// Nanoseconds since 1970: when the content changed, which programs may set as they like …
  public let modified: Int
  /// … and when the content or anything else about the file did, which the system alone sets.
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

  /// A damaged file system may claim any year; what does not fit wraps around, which names it as well.
  private static func nanoseconds(_ time: timespec) -> Int {
    time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
  }

  /// The clock of files moves in steps of some milliseconds, and a file may change twice in one. What was looked at a
  /// second after its last change is known for good. `now` in milliseconds.
  func isSettled(at now: Int64) -> Bool {
    now - Int64(changed / 1_000_000) > 1_000
  }
}
