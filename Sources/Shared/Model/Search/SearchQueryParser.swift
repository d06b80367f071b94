/// Parser of a query. An unclosed quote ends with the query; a lone minus or star is ignored.
struct SearchQueryParser {
  struct Part: Hashable {
    var text: String
    var isExcluded = false
    var isBeginning = false
    var isQuoted = false
  }

  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = text[...].unicodeScalars }

  mutating func next() -> Part? {
    rest = rest.drop { Self.isSpace($0) }
    guard !rest.isEmpty else { return nil }
    var part = Part(text: "")
    while rest.first == "-" {
      part.isExcluded = true
      rest.removeFirst()
    }
    guard let first = rest.first, !Self.isSpace(first) else { return Part(text: "") }
    if Self.isQuote(first) {
      rest.removeFirst()
      part.isQuoted = true
      part.text = take { !Self.isQuote($0) }
      if !rest.isEmpty { rest.removeFirst() }
    } else {
      part.text = take { !Self.isSpace($0) && !Self.isQuote($0) && $0 != "*" }
    }
    while rest.first == "*" {
      part.isBeginning = true
      rest.removeFirst()
    }
    return part
  }

  /// Replaces control characters: FTS5 would end the query at a zero byte.
  private mutating func take(while isPart: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: isPart)
    rest = rest[taken.endIndex...]
    var text = String.UnicodeScalarView()
    for scalar in taken { text.append(Self.isControl(scalar) ? " " : scalar) }
    return String(text)
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || isControl(scalar)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

  /// Includes the typographic quotes of keyboards.
  private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\"", "\u{201c}", "\u{201d}", "\u{201e}", "\u{ff02}": true
    default: false
    }
  }
}
