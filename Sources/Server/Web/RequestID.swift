/// Identifies a request in the log and in its response: `5fd4f806-1c3`, a random number per process and a counter.
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

  public func append(to bytes: inout [UInt8]) {
    Self.append(UInt64(process), digits: 8, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(number, digits: max(1, 16 - number.leadingZeroBitCount / 4), to: &bytes)
  }

  private static func append(_ value: UInt64, digits: Int, to bytes: inout [UInt8]) {
    var shift = UInt64(digits) * 4
    while shift > 0 {
      shift -= 4
      let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
      bytes.append(digit < 10 ? 0x30 &+ digit : 0x57 &+ digit)
    }
  }
}
