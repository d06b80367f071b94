import Glibc

/// A system call that failed: which one, and why.
public struct SystemError: Error, Sendable, CustomStringConvertible {
  public let call: String
  public let code: Int32

  public init(_ call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// For the call that has just failed.
  init(_ call: String) {
    self.init(call, code: errno)
  }

  /// The system's own words for the code.
  public var reason: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public var description: String { "\(call): \(reason)" }
}
