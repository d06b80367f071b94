/// The displayed text of a code span: line ends become spaces, and in a table cell `\|` becomes `|`.
enum CodeSpan {
  static func shown(_ code: ArraySlice<UInt8>, isCell: Bool) -> ArraySlice<UInt8> {
    guard code.contains(where: { $0 == 0x0a || isCell && $0 == UInt8(ascii: "\\") }) else { return code }
    var shown: [UInt8] = []
    for (index, byte) in zip(code.indices, code) {
      let isEscape = isCell && byte == UInt8(ascii: "\\") && code[index...].dropFirst().first == UInt8(ascii: "|")
      if !isEscape { shown.append(byte == 0x0a ? 0x20 : byte) }
    }
    return shown[...]
  }
}
