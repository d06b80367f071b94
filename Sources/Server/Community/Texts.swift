import ParleyModel

/// What people type into fields: within bounds, and without what no text has.
enum Texts {
  /// Spaces at both ends go. Control characters, line ends among them, are refused.
  static func line(_ text: String, _ field: String, scalars limit: Int, least: Int = 1) throws(Refusal) -> String {
    let trimmed = text.trimmingWhitespace()
    let count = try length(of: trimmed, field, limit)
    guard count >= least else { throw .invalid(field, .tooShort(least: least)) }
    guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw .invalid(field, .invalid)
    }
    return trimmed
  }

  /// Kept as it was sent; only NUL is refused, since nothing shows it and C ends at it.
  static func block(_ text: String, _ field: String, scalars limit: Int, least: Int = 0) throws(Refusal) -> String {
    let count = try length(of: text, field, limit)
    guard count >= least else { throw .invalid(field, .tooShort(least: least)) }
    guard !text.utf8.contains(0) else { throw .invalid(field, .invalid) }
    return text
  }

  private static func length(of text: String, _ field: String, _ limit: Int) throws(Refusal) -> Int {
    let count = text.unicodeScalars.count
    guard count <= limit else { throw .invalid(field, .tooLong(limit: limit)) }
    return count
  }
}

extension String {
  fileprivate func trimmingWhitespace() -> String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}
