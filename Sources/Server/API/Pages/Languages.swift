public import ParleyJSON
public import ParleyWire

/// The languages of the web app and of the visitor pages: one for each file in `Public/lang`.
public struct Languages: Sendable {
  private let texts: [String: PageText]

  /// Shown if the request prefers no other. Every key exists in it.
  public static let fallback = "en"
  /// The cookie that the app sets when its user chooses a language.
  private static let cookie = "language"

  /// - Parameter files: the content of each file by the code of its language.
  public init(_ files: [String: [UInt8]]) throws(JSONError) {
    var texts: [String: PageText] = [:]
    for (language, file) in files { texts[language] = try PageText(language: language, file: file) }
    self.texts = texts
  }

  /// The codes, sorted.
  public var codes: [String] { texts.keys.sorted() }

  /// The language of a request: the chosen one, else the first acceptable one (RFC 9110 §12.5.4). A language stands for
  /// its regions, so `de` is an answer to `de-AT`.
  public func code(for fields: Fields) -> String {
    if fields.has("cookie"), let chosen = Cookies(fields)[Self.cookie], texts[chosen] != nil { return chosen }
    guard fields.has("accept-language") else { return Self.fallback }
    for range in Accept.languages(fields).names {
      if let exact = texts.keys.first(where: { $0.lowercased() == range }) { return exact }
      let language = String(range.prefix { $0 != "-" })
      if texts[language] != nil { return language }
    }
    return Self.fallback
  }

  func words(for fields: Fields) -> PageText { texts[code(for: fields)] ?? .none }

  /// The texts of a language, such as `de` or `de-AT`; of the fallback without it.
  func words(in language: String?) -> PageText {
    language.flatMap { texts[$0] ?? texts[String($0.lowercased().prefix { $0 != "-" })] } ?? fallbackWords
  }

  /// The language of texts that are the same for every reader.
  var fallbackWords: PageText { texts[Self.fallback] ?? .none }
}
