/// What somebody wants to find: `words`, `"a phrase"`, `-without`, `begin*`. A message is a hit when it has all the words and
/// none of those after a minus. Nothing that is typed is an error in the query language below: whatever is no word of ours
/// is a word to look for.
public struct SearchQuery: Sendable, Hashable {
  public static let maxBytes = 1_000
  public static let maxTerms = 32
  /// Beyond three letters, for which the index keeps lists, a beginning is gathered from all words that have it.
  public static let maxBeginnings = 8

  public enum Fault: Error, Sendable, Hashable {
    /// There is no word in it.
    case empty
    /// It says only what should not be found.
    case onlyExclusions
    case tooLong(limit: Int)
    case tooManyTerms(limit: Int)
    case tooManyBeginnings(limit: Int)
  }

  /// A word, or several that follow each other.
  struct Term: Sendable, Hashable {
    /// As the index takes it.
    let prepared: String
    /// The last word is the beginning of one.
    let isBeginning: Bool
    /// As `SearchWord` splits it.
    let words: [SearchWord]

    fileprivate init?(_ text: String, isBeginning: Bool) {
      words = SearchWord.words(of: text)
      guard let first = words.first, let last = words.last else { return nil }
      // What stands around the words would end a run that need not end there.
      let phrase = SearchText.phrase(String(text[first.range.lowerBound..<last.range.upperBound]))
      prepared = phrase.text
      self.isBeginning = isBeginning || phrase.isBeginning
    }

    /// FTS5 knows one special character between quotes: the quote, which is written twice.
    fileprivate var expression: String {
      var quoted: String.UnicodeScalarView = "\"".unicodeScalars
      for scalar in prepared.unicodeScalars {
        quoted.append(scalar)
        if scalar == "\"" { quoted.append(scalar) }
      }
      return String(quoted) + (isBeginning ? "\"*" : "\"")
    }
  }

  let wanted: [Term]
  let excluded: [Term]

  public init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.maxBytes else { throw .tooLong(limit: Self.maxBytes) }
    var wanted: [Term] = []
    var excluded: [Term] = []
    var parser = SearchQueryParser(text)
    var beginnings = 0
    while let part = parser.next() {
      guard let term = Term(part.text, isBeginning: part.isBeginning) else { continue }
      if part.isExcluded { excluded.append(term) } else { wanted.append(term) }
      if part.isBeginning { beginnings += 1 }
      guard beginnings <= Self.maxBeginnings else { throw .tooManyBeginnings(limit: Self.maxBeginnings) }
      guard wanted.count + excluded.count <= Self.maxTerms else { throw .tooManyTerms(limit: Self.maxTerms) }
    }
    guard !wanted.isEmpty else { throw excluded.isEmpty ? .empty : .onlyExclusions }
    self.wanted = wanted
    self.excluded = excluded
  }

  /// For `match` on a table of FTS5 with the columns `words`, `scope` and `location`: the query, within one of the scopes.
  /// Requires all `features` (tokens of the index) and one of `cells`.
  public static func expression(
    _ query: SearchQuery?, in scopes: [SearchScope], having features: [String] = [], in cells: [String] = [],
    at location: SearchQuery? = nil
  ) -> String {
    var parts: [String] = []
    if let query { parts.append("{words} : (\(query.expression))") }
    if let location { parts.append("{location} : (\(location.expression))") }
    parts.append("{scope} : (\(anyOf(scopes.map(\.token))))")
    parts += features.map { "{scope} : \"\($0)\"" }
    if !cells.isEmpty { parts.append("{scope} : (\(anyOf(cells)))") }
    return parts.joined(separator: " AND ")
  }

  private static func anyOf(_ tokens: [String]) -> String { tokens.map { "\"\($0)\"" }.joined(separator: " OR ") }

  private var expression: String {
    let wanted = "(" + wanted.map(\.expression).joined(separator: " AND ") + ")"
    return excluded.isEmpty ? wanted : "\(wanted) NOT (\(excluded.map(\.expression).joined(separator: " OR ")))"
  }
}
