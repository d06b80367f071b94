import Foundation

/// Message texts that can be found in any response or frame.
enum TaggedText {
  static func text(_ number: Int, _ suffix: String = "") -> String { "word-\(number)-\(suffix)" }

  private static let prefix = Data("word-".utf8)

  /// The numbers of all texts in `bytes`.
  static func numbers(in bytes: [UInt8]) -> Set<Int> {
    let data = Data(bytes)
    var numbers: Set<Int> = []
    var start = data.startIndex
    while let found = data.range(of: prefix, in: start..<data.endIndex) {
      let digits = data[found.upperBound...].prefix { (0x30...0x39).contains($0) }
      if let number = Int(String(decoding: digits, as: UTF8.self)) { numbers.insert(number) }
      start = found.upperBound
    }
    return numbers
  }
}
