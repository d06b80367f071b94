import Glibc

/// A file descriptor that is closed when nobody holds it any longer.
public final class Descriptor: Sendable {
  public let number: Int32

  public init(owning number: Int32) {
    self.number = number
  }

  convenience init(checking result: Int32, _ call: String) throws(SystemError) {
    guard result >= 0 else { throw SystemError(call) }
    self.init(owning: result)
  }

  /// Writes what can be written at once, for a last word to somebody who is not served.
  public func tryWrite(_ bytes: [UInt8]) {
    _ = unsafe send(number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
  }

  /// Writes all of the bytes, however long that takes: for a log or a terminal, never on a loop. What can't be written
  /// is lost.
  /// - Returns: whether all was written.
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

  /// What a call on it could do now, without waiting for that.
  static func readiness(of number: Int32) -> Readiness {
    var asked = pollfd(fd: number, events: Int16(POLLIN | POLLOUT), revents: 0)
    guard unsafe poll(&asked, 1, 0) == 1 else { return [] }
    let told = Int32(asked.revents)
    // An end of any kind is met by reading; who waits to write is told of a failure by writing.
    if told & (POLLHUP | POLLERR) != 0 { return [.readable, .writable] }
    var readiness: Readiness = []
    if told & POLLIN != 0 { readiness.insert(.readable) }
    if told & POLLOUT != 0 { readiness.insert(.writable) }
    return readiness
  }

  /// The user of the process that connected over the Unix domain, as the system saw it then.
  var peerUser: uid_t? {
    // struct ucred (unix(7)), which the C library declares only under _GNU_SOURCE.
    var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    return credentials.user
  }

  deinit { close(number) }
}
