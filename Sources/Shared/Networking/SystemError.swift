import Glibc

/// A failed system call and its error code.
public struct SystemError: Error, Sendable, CustomStringConvertible {
  public let call: String
  public let code: Int32

  public init(_ call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// Takes the code from `errno`.
  init(_ call: String) {
    self.init(call, code: errno)
  }

  /// The message of `strerror_r`.
  public var reason: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public var description: String { "\(call): \(reason)" }
}
