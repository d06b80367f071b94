import ParleyMarkup
import ParleyWire

/// Markdown for texts of other products.
enum MarkdownText {
  /// A text in which no character is markup, a mention or a hashtag.
  static func escaped(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + bytes.count / 8)
    var isLineStart = true
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if isLineStart {
        let digits = bytes[index...].prefix(9).prefix(while: ASCII.isDigit)
        let next = index + digits.count
        if !digits.isEmpty, next < bytes.count, bytes[next] == UInt8(ascii: ".") || bytes[next] == UInt8(ascii: ")") {
          output += digits + [backslash, bytes[next]]
          index = next + 1
          isLineStart = false
          continue
        }
      }
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "["),
        UInt8(ascii: "]"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "|"), UInt8(ascii: "&"):
        output.append(backslash)
      // Within a word they are text, and a backslash would end an address.
      case UInt8(ascii: "@"), UInt8(ascii: "#"):
        if MarkupDocument.startsWord(bytes.span, at: index) { output.append(backslash) }
      case UInt8(ascii: "_"):
        if !MarkupDocument.isWithinWord(bytes.span, at: index) { output.append(backslash) }
      case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "="): if isLineStart { output.append(backslash) }
      default: break
      }
      output.append(byte)
      if byte == newline { isLineStart = true } else if byte != UInt8(ascii: " ") { isLineStart = false }
      index += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// A link, or its text alone if the address is none of the web.
  ///
  /// - Parameter label: plain text; nil for the address.
  static func link(_ label: String?, to address: String) -> String {
    guard isWebAddress(address) else { return escaped(label ?? address) }
    let label = line(label ?? "", limit: maxLabelScalars)
    guard !label.isEmpty, label != address else { return "<\(encoded(address, also: []))>" }
    return "[\(escaped(label))]\(destination(address))"
  }

  /// The part of a link after its text.
  static func destination(_ address: String) -> String { "(\(encoded(address, also: Array("()".utf8))))" }

  static func isWebAddress(_ text: String) -> Bool {
    let start = text.prefix(8).lowercased()
    return start.hasPrefix("https://") || start.hasPrefix("http://") || start.hasPrefix("mailto:")
  }

  /// Each line as a line of a quote.
  static func quoted(_ markdown: String) -> String {
    markdown.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? ">" : "> \($0)" }
      .joined(separator: "\n")
  }

  /// The text on one line, without control characters, trimmed and cut.
  static func line(_ text: String, limit: Int) -> String {
    var line = String.UnicodeScalarView()
    // A view counts its scalars anew each time.
    var count = 0
    for scalar in text.unicodeScalars {
      if count >= limit { break }
      let category = scalar.properties.generalCategory
      if scalar.properties.isWhitespace {
        if line.last.map({ $0 != " " }) == true {
          line.append(" ")
          count += 1
        }
      } else if category != .control, category != .format || scalar.properties.isEmoji || scalar.value == 0x200d {
        line.append(scalar)
        count += 1
      }
    }
    if line.last == " " { line.removeLast() }
    return String(line)
  }

  /// Stands for the `@` of a mention that the sender means, until the whole text is known. A NUL, which no text
  /// of a sender has: `LooseJSON.text` drops it.
  static let mention: Unicode.Scalar = "\0"

  /// The text with the `@` of its meant mentions. Others are escaped.
  static func settlingMentions(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0 == "@" || $0 == mention }) else { return text }
    var meant: Set<Int> = []
    var scalars = String.UnicodeScalarView()
    for (position, scalar) in text.unicodeScalars.enumerated() {
      if scalar == mention { meant.insert(position) }
      scalars.append(scalar == mention ? "@" : scalar)
    }
    let entities = MarkupDocument(String(scalars)).entities
    var others = entities.filter { $0.kind == .mention && !meant.contains($0.position) }.map(\.position)[...]
    guard !others.isEmpty else { return String(scalars) }
    var settled = String.UnicodeScalarView()
    for (position, scalar) in scalars.enumerated() {
      if position == others.first {
        settled.append("\\")
        others.removeFirst()
      }
      settled.append(scalar)
    }
    return String(settled)
  }

  /// Percent-encodes characters that would end an address in Markdown.
  private static func encoded(_ address: String, also more: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var output: [UInt8] = []
    for byte in address.utf8 {
      let endsAddress = byte <= 0x20 || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == backslash
      guard endsAddress || more.contains(byte) else {
        output.append(byte)
        continue
      }
      output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// The text of a link is cut there.
  private static let maxLabelScalars = 1_000

  static let backslash = UInt8(ascii: "\\")
  static let newline = UInt8(ascii: "\n")
}
