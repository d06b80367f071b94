// Times of MorMessages: microseconds, `yyyy-MM-dd'T'HH:mm:ss.SSSSSSXX`.

import ParleyJSON
import ParleyModel

struct MorMessagesTime: Hashable, Comparable {
  /// Since 1970.
  let microseconds: Int

  init(microseconds: Int) { self.microseconds = microseconds }

  init(milliseconds: Int64) { microseconds = Int(milliseconds) * 1_000 }

  static func < (one: MorMessagesTime, other: MorMessagesTime) -> Bool { one.microseconds < other.microseconds }

  /// Accepts an offset as `Z`, `+00:00` or `+0000`, and any number of digits in a second. A `+` that a query has turned
  /// into a space counts.
  init?(parsing text: String) {
    guard text.utf8.count <= Self.maxBytes else { return nil }
    var text = text.replacing(" ", with: "+")
    let ends = Array(text.utf8.suffix(5))
    if ends.count == 5, ends[0] == UInt8(ascii: "+") || ends[0] == UInt8(ascii: "-"),
      ends[1...].allSatisfy({ $0 &- 0x30 < 10 })
    {
      text.insert(":", at: text.utf8.index(text.endIndex, offsetBy: -2))
    }
    guard let milliseconds = Timestamp.parse(text) else { return nil }
    let fraction = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix { $0 &- 0x30 < 10 }
    let rest = fraction.dropFirst(3).prefix(3)
    let digits = String(Substring(rest)) + String(repeating: "0", count: 3 - rest.count)
    microseconds = milliseconds * 1_000 + (Int(digits) ?? 0)
  }

  private static let maxBytes = 64

  var text: String {
    let milliseconds = microseconds >= 0 ? microseconds / 1_000 : (microseconds - 999) / 1_000
    let rest = String(microseconds - milliseconds * 1_000)
    let zeros = String(repeating: "0", count: 3 - rest.utf8.count)
    return "\(Timestamp.format(milliseconds).dropLast())\(zeros)\(rest)Z"
  }
}

extension MorMessagesTime: JSONWritable {
  func write(to json: inout JSONWriter) { json.value(text) }
}
