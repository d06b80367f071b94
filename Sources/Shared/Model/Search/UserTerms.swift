/// The texts by whose beginnings users are found. Letters are folded as in the search index; all else separates words.
public enum UserTerms {
  /// The name, and the display name from each of its words on.
  public static func terms(name: String?, displayName: String?) -> Set<String> {
    var terms: Set<String> = []
    if let name { terms.insert(fold(name).text) }
    if let displayName {
      let (text, starts) = fold(displayName)
      for start in starts { terms.insert(String(text[start...])) }
    }
    return terms.subtracting([""])
  }

  /// The beginning of the terms that a query finds; nil for a query without letters.
  public static func beginning(of query: String) -> String? {
    let text = fold(query).text
    return text.isEmpty ? nil : text
  }

  /// Folded words with one space between them, and the start of each. Scripts without spaces have a word at each
  /// character.
  private static func fold(_ text: String) -> (text: String, starts: [String.Index]) {
    var folded = ""
    var starts: [String.Index] = []
    var isInWord = false
    func begin() {
      if !isInWord, !folded.isEmpty { folded.unicodeScalars.append(" ") }
      starts.append(folded.endIndex)
      isInWord = true
    }
    for scalar in text.unicodeScalars {
      switch SearchCharacter(scalar) {
      case .dropped: break
      case .plain where SearchFolding.isLetter(scalar):
        if !isInWord { begin() }
        folded.unicodeScalars.append(SearchFolding.fold(scalar))
      case .plain: isInWord = false
      case .wide(let narrow):
        if !isInWord { begin() }
        folded.unicodeScalars.append(SearchFolding.fold(narrow))
      case .unspaced, .symbol, .flagHalf:
        begin()
        folded.unicodeScalars.append(scalar)
      }
    }
    return (folded, starts)
  }
}
