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

  deinit { close(number) }
}
