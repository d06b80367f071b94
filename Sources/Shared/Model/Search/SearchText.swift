/// A text as the search index takes it. The index splits it into words by FTS5's tokenizer "unicode61", folding case and
/// accents, and that is right for what has spaces between words. For the rest this comes before it:
///
/// - A run of Chinese, Japanese, Korean or Thai becomes the two-character words that start at each character, and its
///   last character alone: 日本語 is "日本 本語 語". So one character is found as the beginning of a word, two as a word, more
///   as a phrase.
/// - An emoji is a word. Its skin tone is not part of it; a family is its members, one after the other; a flag is one.
/// - What is invisible or mostly left out, such as vowel points, is gone, and wide letters are as wide as others.
///
/// Both sides of a search use it: the server's and a client's, for what is indexed, removed and asked.
public enum SearchText {
  /// Another number makes a store index everything anew when it is opened.
  public static let version = 1

  public static func prepare(_ text: String) -> String {
    isAlreadyPlain(text) ? text : write(text, isQuery: false).text
  }

  /// For a query: as `prepare`, but what is typed need not be the end of a run, so its last character does not stand alone
  /// unless it is the only one; then it is the beginning of a word.
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
    /// The last character of the run that is being written.
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
