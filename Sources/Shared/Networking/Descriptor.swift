import CParleyLinux
import Glibc

/// A file descriptor that is closed with its last reference.
public final class Descriptor: Sendable {
  public let number: Int32

  public init(owning number: Int32) {
    self.number = number
  }

  convenience init(checking result: Int32, _ call: String) throws(SystemError) {
    guard result >= 0 else { throw SystemError(call) }
    self.init(owning: result)
  }

  /// Both ends of a new pipe, which no other program inherits. The caller closes them.
  public static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
    return (ends[0], ends[1])
  }

  /// Writes without blocking, as much as the socket accepts, for an error response to a rejected connection.
  public func tryWrite(_ bytes: [UInt8]) {
    _ = unsafe send(number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
  }

  /// Writes all bytes and blocks until then: for a log or a terminal, never on a loop.
  /// - Returns: false after an error. The remaining bytes are lost.
  @discardableResult
  public static func writeAll(_ bytes: [UInt8], to number: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }

  /// Polls the descriptor without waiting.
  static func readiness(of number: Int32) -> Readiness {
    var request = pollfd(fd: number, events: Int16(POLLIN | POLLOUT), revents: 0)
    guard unsafe poll(&request, 1, 0) == 1 else { return [] }
    let events = Int32(request.revents)
    // Reading reports the end of input, writing reports an error.
    if events & (POLLHUP | POLLERR) != 0 { return [.readable, .writable] }
    var readiness: Readiness = []
    if events & POLLIN != 0 { readiness.insert(.readable) }
    if events & POLLOUT != 0 { readiness.insert(.writable) }
    return readiness
  }

  /// The user of the process that connected to a Unix socket, at the time of `connect`.
  var peerUser: uid_t? {
    // struct ucred (unix(7)), which the C library declares only under _GNU_SOURCE.
    var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    return credentials.user
  }

  deinit { close(number) }
}

/// The limit of open file descriptors. Each connection uses one.
public enum DescriptorLimit {
  /// Descriptors beside those of connections: files, event loops and the database.
  public static let reserved = 64

  /// Raises the soft limit to the hard limit and returns it. The soft limit of a login shell is usually 1,024.
  public static func raise() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    let allowed = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return Int(clamping: allowed)
    }
    return Int(clamping: limit.rlim_cur)
  }
}
