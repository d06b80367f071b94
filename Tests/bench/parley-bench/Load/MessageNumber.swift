/// A message's number stands in its first sixteen bytes, in hexadecimal digits, so that order and loss can be told.
enum MessageNumber {
  static let length = 16

  static func write(_ number: Int, to message: inout [UInt8]) {
    for place in 0..<length {
      let digit = UInt8(truncatingIfNeeded: number >> ((length - 1 - place) * 4)) & 15
      message[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
    }
  }

  static func message(_ number: Int, size: Int) -> [UInt8] {
    var message = [UInt8](repeating: UInt8(ascii: "x"), count: size)
    write(number, to: &message)
    return message
  }
}
