import Glibc
import ParleyCrypto

/// Contents of a file, as hash and size.
enum FileContents {
  case missing
  case unreadable(String)
  case read(digest: [UInt8], size: Int)

  private static let pieceSize = 262_144

  /// Reads the whole file; `chunk` is called with the size of each chunk.
  init(of path: String, chunk: (Int) throws -> Void) throws {
    // Non-blocking, in case it is not a regular file.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = errno == ENOENT ? .missing : .unreadable(DiskError.reason(errno))
      return
    }
    defer { close(descriptor) }
    var digest = try Digest(.sha256)
    var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
    var size = 0
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        self = .unreadable(DiskError.reason(errno))
        return
      }
      if count == 0 { break }
      try digest.update(buffer.span.extracting(first: count))
      size += count
      try chunk(count)
    }
    self = .read(digest: try digest.finish(), size: size)
  }
}
