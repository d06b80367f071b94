/// Reads a text of fixed format: each step consumes its argument or fails.
package struct FixedReader {
  private let bytes: [UInt8]
  private var index = 0

  package init(_ text: String) { bytes = Array(text.utf8) }

  package var isAtEnd: Bool { index == bytes.count }

  package mutating func take(_ text: String) -> Bool {
    let wanted = text.utf8
    guard bytes.count - index >= wanted.count, bytes[index...].starts(with: wanted) else { return false }
    index += wanted.count
    return true
  }

  /// Exactly `count` digits.
  package mutating func number(_ count: Int) -> Int? {
    guard bytes.count - index >= count else { return nil }
    var number = 0
    for digit in bytes[index..<index + count] {
      guard digit &- 0x30 < 10 else { return nil }
      number = number * 10 + Int(digit &- 0x30)
    }
    index += count
    return number
  }

  /// Consumes one of `names` and returns its position. A name that starts with another precedes it.
  package mutating func name(of names: [String]) -> Int? {
    for (position, name) in names.enumerated() where take(name) { return position }
    return nil
  }
}
