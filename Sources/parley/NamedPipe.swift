import Glibc
import ParleyNetworking
import Synchronization

/// A named pipe in the data folder, through which the daemon streams to this process. Removed with this object.
final class NamedPipe: Sendable {
  let path: String
  private let reader: Mutex<Descriptor?>

  private static let chunkSize = 65_536

  init(in data: String) throws(Settings.UsageError) {
    path = try FileSystem.absolute("\(data)/stream-\(getpid())")
    _ = unsafe unlink(path)
    guard unsafe mkfifo(path, 0o600) == 0 else { throw Self.failure(path) }
    var status = stat()
    // Root creates it for the user of the daemon.
    if geteuid() == 0, unsafe stat(data, &status) == 0 { _ = unsafe lchown(path, status.st_uid, status.st_gid) }
    // The daemon can open it as soon as there is a reader.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path) }
    reader = Mutex(Descriptor(owning: descriptor))
  }

  deinit { _ = unsafe unlink(path) }

  private static func failure(_ path: String) -> Settings.UsageError {
    Settings.UsageError(message: "Can't create the pipe \(path): \(SystemError("", code: errno).reason).")
  }

  /// Copies everything to standard output until the daemon closes the pipe, once. Blocks. Returns whether all was written;
  /// if not, the pipe has no reader any more, so that the daemon stops.
  func copyToOutput() -> Bool {
    guard let reader = reader.withLock({ $0.take() }) else { return false }
    while true {
      var entry = pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
      // Without a writer so far, poll(2) waits for the first one.
      guard unsafe poll(&entry, 1, -1) > 0 || errno == EINTR else { return false }
      var isFailed = false
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
        let read = unsafe Glibc.read(reader.number, buffer.baseAddress, buffer.count)
        isFailed = read < 0 && errno != EAGAIN && errno != EINTR
        count = max(0, read)
      }
      if isFailed { return false }
      if chunk.isEmpty, Int32(entry.revents) & POLLHUP != 0 { return true }
      guard chunk.isEmpty || Descriptor.writeAll(chunk, to: STDOUT_FILENO) else { return false }
    }
  }
}
