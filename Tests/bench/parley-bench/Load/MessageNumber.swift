/// The number of a message, in hexadecimal in its first sixteen bytes, to detect loss and reordering.
enum MessageNumber {
  static let length = 16

  static func write(_ number: Int, to message: inout [UInt8]) {
    for index in 0..<length {
      let digit = UInt8(truncatingIfNeeded: number >> ((length - 1 - index) * 4)) & 15
      message[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
    }
  }

  static func message(_ number: Int, size: Int) -> [UInt8] {
    var message = [UInt8](repeating: UInt8(ascii: "x"), count: size)
    write(number, to: &message)
    return message
  }
}
