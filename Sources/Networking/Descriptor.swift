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
  public static func writeAll(_ bytes: [UInt8], to number: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }

  deinit { close(number) }
}
