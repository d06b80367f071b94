/// Names one request in the log and in its answer: a random number of the process and one that counts.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
  public let process: UInt32
  public let number: UInt64

  public init(process: UInt32, number: UInt64) {
    self.process = process
    self.number = number
  }

  public var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Sixteen hexadecimal digits, and more once a process has served 2³² requests.
  public func append(to bytes: inout [UInt8]) {
    Self.append(UInt64(process), digits: 8, to: &bytes)
    Self.append(number, digits: number >> 32 == 0 ? 8 : 16, to: &bytes)
  }

  private static func append(_ value: UInt64, digits: Int, to bytes: inout [UInt8]) {
    var shift = UInt64(digits) * 4
    while shift > 0 {
      shift -= 4
      let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
      bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
  }
}
