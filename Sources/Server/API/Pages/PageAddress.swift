import ParleyJSON
import ParleyModel
import ParleyWire

/// The addresses of the web app and of the visitor pages. `Public/js/app/core/router.js` has the same.
enum PageAddress {
  static func forum(_ forum: Forum) -> String { "/f/\(slug(forum.id.description, forum.title))" }

  static func room(of forum: Forum, from seq: Int? = nil) -> String { "/f/\(forum.id)/room" + query(seq) }

  static func topics(of forum: Forum, tagged tag: String) -> String {
    "\(self.forum(forum))/topics?tag=\(Percent.encode(tag))"
  }

  static func topic(_ id: ID<Conversation>, _ title: String, from seq: Int? = nil) -> String {
    "/t/\(slug(id.description, title))" + query(seq)
  }

  static func message(_ id: ID<Message>) -> String { "/m/\(id)" }

  static func report(_ id: ID<Message>) -> String { "/m/\(id)/report" }

  static func reported(_ id: ID<Message>) -> String { "/m/\(id)/reported" }

  static func user(_ name: String) -> String { "/u/\(Percent.encode(name, allowing: .segment))" }

  static func file(_ file: File) -> String { file.address }

  /// The sign-in page, which returns to `back`.
  static func signIn(back: String) -> String { "/sign-in?back=\(encoded(back))" }

  /// The path, query and fragment of a page of this site; nil for any other text. Browsers read a backslash as a slash.
  static func ownPath(_ text: String) -> String? {
    guard text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.count <= maxPathBytes,
      text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\\") })
    else { return nil }
    return text
  }

  private static let maxPathBytes = 2_048

  static func signUp(back: String) -> String { "/sign-in?new&back=\(encoded(back))" }

  private static func encoded(_ address: String) -> String { Percent.encode(address).replacing("%2F", with: "/") }

  private static func query(_ seq: Int?) -> String { seq.map { "?from=\($0)" } ?? "" }

  private static let maxSlugScalars = 60

  /// `12-garden`: the number decides, the words make the address readable.
  static func slug(_ id: String, _ title: String) -> String {
    var words = ""
    var isBetween = false
    for scalar in Forum.key(title).unicodeScalars.prefix(maxSlugScalars) {
      if isWord(scalar) {
        if isBetween { words += "-" }
        isBetween = false
        words.unicodeScalars.append(scalar)
      } else {
        isBetween = !words.isEmpty
      }
    }
    return words.isEmpty ? id : "\(id)-\(Percent.encode(words, allowing: .segment))"
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  /// The id of `12-garden`; nil if the text does not begin with one.
  static func id<Thing>(_ slug: String) -> ID<Thing>? {
    ID(String(slug.prefix { $0 != "-" }))
  }
}
