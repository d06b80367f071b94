/// Search query: `words`, `"a phrase"`, `-without`, `begin*`. A message matches if it has all words and none of the
/// excluded ones. In a known language a word has its other forms, too, unless it is quoted. User input can't cause a syntax error in FTS5: any other character is part of a word.
public struct SearchQuery: Sendable, Hashable {
  /// The maximum length of a query in bytes of UTF-8.
  public static let maxBytes = 1_000
  /// The maximum number of words and phrases, excluded ones included.
  public static let maxTerms = 32
  /// Prefixes over three letters, up to which the index stores prefix lists, are collected from all matching words.
  public static let maxBeginnings = 8
  /// Other forms of all words together. Later words have none.
  static let maxForms = 96

  /// Reason why a query is refused.
  public enum Fault: Error, Sendable, Hashable {
    /// Without any word.
    case empty
    /// With exclusions only.
    case onlyExclusions
    /// The query has too many characters.
    case tooLong(limit: Int)
    /// The query has too many words and phrases.
    case tooManyTerms(limit: Int)
    /// The query has too many beginnings of words.
    case tooManyBeginnings(limit: Int)
  }

  /// A word or a phrase.
  struct Term: Sendable, Hashable {
    /// Prepared as for the index.
    let prepared: String
    /// The last word is a prefix.
    let isBeginning: Bool
    /// Split by `SearchWord`.
    let words: [SearchWord]
    /// Other forms of a single word, folded as in the index.
    fileprivate(set) var forms: [String] = []

    fileprivate init?(_ text: String, isBeginning: Bool) {
      words = SearchWord.words(of: text)
      guard let first = words.first, let last = words.last else { return nil }
      // Characters around the words would end a run too early.
      let phrase = SearchText.phrase(String(text[first.range.lowerBound..<last.range.upperBound]))
      prepared = phrase.text
      self.isBeginning = isBeginning || phrase.isBeginning
    }

    /// The term or one of its other forms.
    fileprivate var expressionOfForms: String {
      forms.isEmpty ? expression : "(\(expression) OR \(SearchQuery.anyOf(forms)))"
    }

    /// FTS5 has one special character in a string: the quote, which is doubled.
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

  /// - Parameter language: the code of the language of the words, such as `de`; nil if unknown.
  public init(_ text: String, language: String? = nil) throws(Fault) {
    guard text.utf8.count <= Self.maxBytes else { throw .tooLong(limit: Self.maxBytes) }
    var wanted: [Term] = []
    var excluded: [Term] = []
    var parser = SearchQueryParser(text)
    var (beginnings, forms) = (0, 0)
    while let part = parser.next() {
      guard var term = Term(part.text, isBeginning: part.isBeginning) else { continue }
      if let language, term.words.count == 1, !part.isQuoted, !part.isBeginning, !part.isExcluded {
        term.forms = Array(WordForms.forms(of: term.words[0].text, in: language).prefix(Self.maxForms - forms))
        forms += term.forms.count
      }
      if part.isExcluded { excluded.append(term) } else { wanted.append(term) }
      if part.isBeginning { beginnings += 1 }
      guard beginnings <= Self.maxBeginnings else { throw .tooManyBeginnings(limit: Self.maxBeginnings) }
      guard wanted.count + excluded.count <= Self.maxTerms else { throw .tooManyTerms(limit: Self.maxTerms) }
    }
    guard !wanted.isEmpty else { throw excluded.isEmpty ? .empty : .onlyExclusions }
    self.wanted = wanted
    self.excluded = excluded
  }

  /// FTS5 `match` expression for a table with the columns `words`, `scope` and `location`: the query within one of the
  /// scopes. Requires all `features` (tokens of the index) and one of `cells`.
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

  /// FTS5 `match` expression for entries with one of the words or phrases, and with one of each group of features (tokens of
  /// the index). With `isAny`, one of them all is enough. Nil without any.
  public static func expression(words: [SearchQuery], features groups: [[String]], isAny: Bool) -> String? {
    var parts = groups.filter { !$0.isEmpty }.map { "{scope} : (\(anyOf($0)))" }
    if !words.isEmpty { parts.append("{words} : (\(words.map(\.expression).joined(separator: " OR ")))") }
    return parts.isEmpty ? nil : parts.joined(separator: isAny ? " OR " : " AND ")
  }

  /// Whether it is one word, one phrase or one beginning, as in a list of alternatives.
  public var isSingle: Bool { wanted.count == 1 && excluded.isEmpty }

  /// The number of wanted terms that are prefixes, such as `begin*`.
  public var beginnings: Int { wanted.count(where: \.isBeginning) }

  private static func anyOf(_ tokens: [String]) -> String { tokens.map { "\"\($0)\"" }.joined(separator: " OR ") }

  private var expression: String {
    let wanted = "(" + wanted.map(\.expressionOfForms).joined(separator: " AND ") + ")"
    return excluded.isEmpty ? wanted : "\(wanted) NOT (\(excluded.map(\.expression).joined(separator: " OR ")))"
  }
}

/// Sort order of search results.
public enum SearchOrder: String, Sendable, Hashable, CaseIterable {
  /// By time, the newest first.
  case newest
  /// The best of the newest thousand matches, on one page; `before` finds older ones.
  case best
}

/// The kind of a hit: a topic that was found by its title, or a message.
public enum SearchKind: String, Sendable, Hashable, CaseIterable {
  /// Titles of topics, or messages.
  case topic, message
}

/// Conversation or forum as a search scope. The index stores it beside a message's words, so that unreadable messages
/// are never scanned.
public enum SearchScope: Sendable, Hashable {
  /// The messages of one conversation.
  case conversation(ID<Conversation>)
  /// The messages of one forum.
  case forum(ID<Forum>)

  /// Token of the scope in the index.
  public var token: String {
    switch self {
    case .conversation(let id): "c\(id)"
    case .forum(let id): "f\(id)"
    }
  }

  /// Token of a message's author.
  public static func token(of author: ID<User>) -> String { "a\(author)" }
}
