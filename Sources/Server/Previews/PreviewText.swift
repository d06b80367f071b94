/// A stranger's words in our pages: one line, of a bounded length, without what would change how its neighbours look.
enum PreviewText {
  /// In Unicode scalars.
  static let mostTitle = 200
  static let mostAbout = 500
  static let mostAddress = 2_048

  static func tidy(_ text: String, _ most: Int) -> String {
    var scalars = String.UnicodeScalarView()
    var isSpaced = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        isSpaced = !scalars.isEmpty
        continue
      }
      if isHidden(scalar) { continue }
      if scalars.count + (isSpaced ? 1 : 0) >= most {
        // Cut where it is full, and said so.
        return String(scalars) + "…"
      }
      if isSpaced { scalars.append(" ") }
      isSpaced = false
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Controls, and those that turn the direction of what follows (UAX #9).
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffc: true
    default: false
    }
  }
}
