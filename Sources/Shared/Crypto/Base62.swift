/// Numbers in digits and letters, which a double click selects whole.
public enum Base62 {
  private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  /// The last `count` digits of a big-endian number, with leading zeros.
  public static func text(_ bytes: [UInt8], count: Int) -> String {
    var number = bytes
    var text: [UInt8] = []
    for _ in 0..<count {
      var remainder = 0
      for index in number.indices {
        let value = remainder << 8 | Int(number[index])
        number[index] = UInt8(value / digits.count)
        remainder = value % digits.count
      }
      text.append(digits[remainder])
    }
    return String(decoding: text.reversed(), as: UTF8.self)
  }
}
