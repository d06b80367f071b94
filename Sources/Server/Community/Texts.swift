import ParleyMarkup
import ParleyModel

/// Validation of text fields.
enum Texts {
  /// A hashtag in the stored form. Its sign may be missing.
  static func hashtag(_ text: String, _ field: String) throws(Refusal) -> String {
    let tag = text.hasPrefix("#") ? String(text.dropFirst()) : text
    guard !tag.isEmpty else { throw .invalid(field, .tooShort(min: 1)) }
    return tag.lowercased()
  }

  /// Trims white space at both ends. Refuses control characters, including line ends. A text without a visible character
  /// is too short.
  static func line(_ text: String, _ field: String, scalars limit: Int, atLeast minimum: Int = 1) throws(Refusal)
    -> String
  {
    let trimmed = text.trimmingWhitespace()
    let count = try length(of: trimmed, field, limit)
    guard count >= minimum, count == 0 || trimmed.isVisible else {
      throw .invalid(field, .tooShort(min: max(minimum, 1)))
    }
    guard !trimmed.unicodeScalars.contains(where: \.isLineBreakOrControl) else { throw .invalid(field, .invalid) }
    return trimmed
  }

  /// Leaves the text unchanged. Refuses only NUL: it is not displayable and terminates strings in C.
  static func block(_ text: String, _ field: String, scalars limit: Int, atLeast minimum: Int = 0) throws(Refusal)
    -> String
  {
    let count = try length(of: text, field, limit)
    guard count >= minimum else { throw .invalid(field, .tooShort(min: minimum)) }
    guard !text.utf8.contains(0) else { throw .invalid(field, .invalid) }
    return text
  }

  /// Trims white space at both ends. A text without a visible character becomes empty.
  static func trimmedBlock(_ text: String, _ field: String, scalars limit: Int) throws(Refusal) -> String {
    let trimmed = try block(text.trimmingWhitespace(), field, scalars: limit)
    return trimmed.isVisible ? trimmed : ""
  }

  /// Markdown without markup on one line.
  static func excerpt(_ markdown: String, scalars limit: Int) -> String {
    MarkupDocument(markdown).plainText(limit: limit).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func length(of text: String, _ field: String, _ limit: Int) throws(Refusal) -> Int {
    let count = text.unicodeScalars.count
    guard count <= limit else { throw .invalid(field, .tooLong(limit: limit)) }
    return count
  }
}

extension Unicode.Scalar {
  var isLineBreakOrControl: Bool {
    [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}

extension String {
  /// Whether a character leaves a mark: zero-width and other ignorable ones don't.
  var isVisible: Bool {
    unicodeScalars.contains { scalar in
      !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
        && scalar.properties.generalCategory != .format
    }
  }

  fileprivate func trimmingWhitespace() -> String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}
