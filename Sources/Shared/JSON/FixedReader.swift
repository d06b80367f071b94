/// Walks over a text of fixed shape: each step takes what it names or fails.
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

  /// The place of the name that stands here among `names`, longest first where one starts with another.
  package mutating func name(of names: [String]) -> Int? {
    for (place, name) in names.enumerated() where take(name) { return place }
    return nil
  }
}
