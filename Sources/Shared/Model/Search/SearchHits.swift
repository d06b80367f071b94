// Where a query is hit in a text, and how well. What the index found is looked at again here, since only the text knows.

extension SearchQuery {
  struct Hit: Hashable {
    /// Which of the wanted terms.
    let term: Int
    /// The first and the last word of it.
    let words: ClosedRange<Int>
  }

  /// In the order of the text.
  func hits(in words: [SearchWord]) -> [Hit] {
    var hits: [Hit] = []
    for position in words.indices {
      for (number, term) in wanted.enumerated() {
        guard let end = term.end(in: words, from: position) else { continue }
        hits.append(Hit(term: number, words: position...end))
      }
    }
    return hits
  }

  /// How much a text is about what is wanted: each term counts for how often it comes, less and less, and less in a long
  /// text. It is BM25 without the rarity of words, which is the same for all who have all of them.
  public func score(of text: String) -> Double {
    let words = SearchWord.words(of: text, most: Self.maxScoredWords)
    let length = 0.25 + 0.75 * Double(words.count) / Self.usualWords
    var counts = [Double](repeating: 0, count: wanted.count)
    for hit in hits(in: words) { counts[hit.term] += 1 }
    return counts.reduce(0) { $0 + $1 * 2.2 / ($1 + 1.2 * length) }
  }

  private static let usualWords = 16.0
  /// Of a longer text the beginning says what it is about.
  private static let maxScoredWords = 500
}

extension SearchQuery.Term {
  /// The last word of the hit that begins at `position`.
  func end(in all: [SearchWord], from position: Int) -> Int? {
    guard position + words.count <= all.count else { return nil }
    for (offset, wanted) in words.enumerated() {
      let found = all[position + offset]
      let mayGoOn = isBeginning && offset == words.count - 1
      guard offset == 0 || found.followsRun == wanted.followsRun else { return nil }
      guard mayGoOn ? found.text.utf8.starts(with: wanted.text.utf8) : found.text == wanted.text else { return nil }
    }
    return position + words.count - 1
  }
}

extension SearchQuery {
  /// Whether all that is wanted is in the text, and nothing of what is not.
  public func isFound(in text: String) -> Bool {
    let words = SearchWord.words(of: text)
    let isThere = { (term: Term) in words.indices.contains { term.end(in: words, from: $0) != nil } }
    return wanted.allSatisfy(isThere) && !excluded.contains(where: isThere)
  }
}
