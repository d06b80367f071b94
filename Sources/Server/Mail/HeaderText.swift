import ParleyJSON
import ParleyWire

/// Text of header fields. No value of it has a line break that is not folding, so no text can add a field.
enum HeaderText {
  static let fold = "\r\n "
  private static let maxLine = 76
  /// Bytes of text in an encoded word: on the line of the field's name, too, it stays within the length of a line.
  private static let wordBytes = 39

  /// An unstructured text, such as a subject.
  ///
  /// - Parameter column: the bytes of the line before it.
  static func value(_ text: String, after column: Int) -> String {
    let text = cleaned(text)
    guard !text.isEmpty else { return "" }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard isPlain(text), words.allSatisfy({ $0.utf8.count < maxLine }), !words.contains("") else {
      return encodedWords(text)
    }
    var (folded, line) = ("", column)
    for word in words {
      if folded.isEmpty {
        folded += word
      } else if line + 1 + word.utf8.count > maxLine {
        folded += fold + word
        line = 0
      } else {
        folded += " " + word
      }
      line += 1 + word.utf8.count
    }
    return folded
  }

  /// A display name, which may be empty.
  static func name(_ text: String) -> String {
    let text = cleaned(text)
    let isAtoms = text.utf8.allSatisfy { $0 == UInt8(ascii: " ") || isAlphanumeric($0) }
    return isAtoms && text.utf8.count < maxLine / 2 ? text : encodedWords(text)
  }

  /// A text of letters, digits, dots and hyphens: others become hyphens.
  static func atom(_ text: String) -> String {
    String(
      decoding: text.utf8.map { isAlphanumeric($0) || $0 == UInt8(ascii: ".") ? $0 : UInt8(ascii: "-") },
      as: UTF8.self)
  }

  /// The characters of a URL; others are left out.
  static func url(_ text: String) -> String {
    String(
      decoding: text.utf8.filter { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") },
      as: UTF8.self)
  }

  /// RFC 2047, without cutting a character.
  private static func encodedWords(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytes { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?utf-8?B?\(Base64.encode($0, .standard))?=" }.joined(separator: fold)
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.contains("=?") && text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
  }

  /// Controls and line separators become spaces.
  private static func cleaned(_ text: String) -> String {
    var cleaned = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: cleaned += " "
      default: cleaned.unicodeScalars.append(scalar)
      }
    }
    return cleaned
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
  }
}
