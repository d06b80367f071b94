/// Text preparation for the search index. FTS5's tokenizer "unicode61" splits text into words and folds case and
/// accents, which suits scripts with spaces between words. Other text is rewritten first:
///
/// - A run of Chinese, Japanese, Korean or Thai becomes the two-character words that start at each character, and its
///   last character alone: 日本語 is "日本 本語 語". So one character is found as a prefix, two as a word, more as a
///   phrase.
/// - An emoji is a word. Its skin tone is dropped; a family is its members in sequence; a flag is one word.
/// - Invisible or optional characters such as vowel points are dropped, and fullwidth letters become narrow.
///
/// Server and client use it for indexed, removed and queried text.
public enum SearchText {
  /// A new number makes a store rebuild its index on opening.
  public static let version = 1

  /// The text in the form of the search index, with spaces between the words; a text of ASCII stays the same.
  public static func prepare(_ text: String) -> String {
    isAlreadyPlain(text) ? text : write(text, isQuery: false).text
  }

  /// The words of a text as the index has them: without case, Latin letters without accents.
  ///
  /// - Parameter isQuery: whether the text is searched for, so that it need not end a run of characters.
  public static func words(of text: String, isQuery: Bool = false) -> [String] {
    let prepared = isQuery ? phrase(text).text : prepare(text)
    var words: [String] = []
    var word = String.UnicodeScalarView()
    for scalar in prepared.unicodeScalars {
      if SearchFolding.isLetter(scalar) {
        word.append(SearchFolding.fold(scalar))
      } else if !word.isEmpty {
        words.append(String(word))
        word.removeAll(keepingCapacity: true)
      }
    }
    if !word.isEmpty { words.append(String(word)) }
    return words
  }

  /// For a query: as `prepare`, but the text need not be the end of a run, so its last character does not stand alone
  /// unless it is the only one; then it is a prefix.
  static func phrase(_ text: String) -> (text: String, isBeginning: Bool) {
    isAlreadyPlain(text) ? (text, false) : write(text, isQuery: true)
  }

  private static func isAlreadyPlain(_ text: String) -> Bool {
    var bytes = text.utf8Span
    return bytes.checkForASCII() || text.unicodeScalars.allSatisfy { SearchCharacter($0) == .plain }
  }

  private static func write(_ text: String, isQuery: Bool) -> (text: String, isBeginning: Bool) {
    var words = String.UnicodeScalarView()
    words.reserveCapacity(text.utf8.count)
    /// Last character of the open run.
    var run: (last: Unicode.Scalar, isFirst: Bool)?
    var isWordComplete = false
    var isFlagOpen = false
    for scalar in text.unicodeScalars {
      let character = SearchCharacter(scalar)
      if character == .dropped { continue }
      if let open = run {
        words.append(open.last)
        if character == .unspaced { words.append(scalar) }
        isWordComplete = true
      }
      run = character == .unspaced ? (scalar, run == nil) : nil
      let closesFlag = isFlagOpen
      isFlagOpen = false
      switch character {
      case .plain, .wide:
        if isWordComplete { words.append(" ") }
        isWordComplete = false
        if case .wide(let narrow) = character { words.append(narrow) } else { words.append(scalar) }
      case .unspaced:
        words.append(" ")
      case .symbol(let letter):
        words.append(" ")
        words.append(letter)
        isWordComplete = true
      case .flagHalf(let letter):
        isFlagOpen = !closesFlag
        if isFlagOpen { words.append(" ") }
        words.append(letter)
        isWordComplete = true
      case .dropped: break
      }
    }
    if let run, !isQuery || run.isFirst { words.append(run.last) }
    return (String(words), run?.isFirst ?? false)
  }
}
