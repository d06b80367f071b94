import ParleyWire

/// The encodings of RFC 2045 for text, as lines without their ends.
enum TransferEncoding {
  private static let maxLine = 76

  /// One kind of line break, and no NUL.
  static func normalized(_ text: String) -> String {
    var normalized = ""
    var isAfterReturn = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": break
      case "\r": normalized += "\n"
      case "\n": if !isAfterReturn { normalized += "\n" }
      default: normalized.unicodeScalars.append(scalar)
      }
      isAfterReturn = scalar == "\r"
    }
    return normalized
  }

  static func base64(_ text: String) -> [String] {
    let bytes = Array(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
    let chunk = maxLine / 4 * 3
    return stride(from: 0, to: bytes.count, by: chunk).map { start in
      Base64.encode(Array(bytes[start..<min(start + chunk, bytes.count)]), .standard)
    }
  }

  static func quotedPrintable(_ text: String) -> [String] {
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var (out, bytes) = ("", Array(line.utf8)[...])
      while let byte = bytes.popFirst() {
        // A space at the end of a line would be lost.
        let isLiteral = byte > 32 && byte < 127 && byte != UInt8(ascii: "=") || byte == 32 && !bytes.isEmpty
        let piece = isLiteral ? String(UnicodeScalar(byte)) : "=\(hex(byte >> 4))\(hex(byte & 15))"
        // Room for the `=` of a soft line break.
        if out.utf8.count + piece.utf8.count >= maxLine {
          lines.append(out + "=")
          out = ""
        }
        out += piece
      }
      lines.append(out)
    }
    return lines
  }

  private static func hex(_ value: UInt8) -> Character {
    Character(UnicodeScalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10))
  }
}
