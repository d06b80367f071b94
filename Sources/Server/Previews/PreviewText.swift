/// Sanitizes text of foreign pages: one line, of bounded length, without control and direction characters.
enum PreviewText {
  /// In Unicode scalars.
  static let maxTitle = 200
  static let maxAbout = 500
  static let maxAddress = 2_048

  static func sanitize(_ text: String, _ limit: Int) -> String {
    var scalars = String.UnicodeScalarView()
    var hasSpace = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        hasSpace = !scalars.isEmpty
        continue
      }
      if isHidden(scalar) { continue }
      if scalars.count + (hasSpace ? 1 : 0) >= limit {
        // Truncated, with an ellipsis.
        return String(scalars) + "…"
      }
      if hasSpace { scalars.append(" ") }
      hasSpace = false
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Control characters, and those that change the text direction (UAX #9).
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffc: true
    default: false
    }
  }
}
