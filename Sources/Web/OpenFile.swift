import Glibc

/// A file that is open for reading, and what is known of it. Closed when nobody holds it any longer.
public final class OpenFile: Sendable {
  public let descriptor: Int32
  public let size: Int
  /// Seconds and nanoseconds since 1970.
  public let modified: (seconds: Int, nanoseconds: Int)
  public let inode: UInt64

  /// Opens a regular file; nil when there is none. A symbolic link in the last place is not followed.
  public init?(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    size = Int(status.st_size)
    modified = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
    inode = UInt64(status.st_ino)
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
