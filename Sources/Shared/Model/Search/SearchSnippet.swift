public import ParleyJSON

/// Best matching part of a text, in pieces: a client highlights the hits.
public struct SearchSnippet: Sendable, Hashable {
  /// A part of a snippet: a hit, or the text between hits.
  public struct Piece: Sendable, Hashable {
    /// The text of the piece.
    public let text: String
    /// Whether the piece matches the query, to highlight it.
    public let isHit: Bool

    /// A piece of a snippet; by default the text between hits.
    public init(_ text: String, isHit: Bool = false) {
      self.text = text
      self.isHit = isHit
    }
  }

  /// The pieces in the order of the text; joined, they are the snippet.
  public let pieces: [Piece]
  /// Whether the text continues before and after the snippet.
  public let isCutBefore: Bool
  /// Whether the text continues after the snippet.
  public let isCutAfter: Bool

  /// Snippet length in characters.
  public static let length = 160

  /// Without a query, the beginning of the text.
  public init(of text: String, for query: SearchQuery?, length: Int = Self.length) {
    let words = query == nil ? [] : SearchWord.words(of: text)
    let hits = query?.hits(in: words) ?? []
    let window = Self.window(of: text, words, hits, length)
    isCutBefore = window.lowerBound > text.startIndex
    isCutAfter = window.upperBound < text.endIndex

    var pieces: [Piece] = []
    var end = window.lowerBound
    for range in Self.ranges(of: hits, in: words) where range.overlaps(window) {
      let hit = range.clamped(to: window)
      if end < hit.lowerBound { pieces.append(Piece(String(text[end..<hit.lowerBound]))) }
      pieces.append(Piece(String(text[hit]), isHit: true))
      end = hit.upperBound
    }
    if end < window.upperBound { pieces.append(Piece(String(text[end..<window.upperBound]))) }
    self.pieces = pieces
  }

  /// Range of at most `length` characters around the densest hits, with some context before them.
  private static func window(
    of text: String, _ words: [SearchWord], _ hits: [SearchQuery.Hit], _ length: Int
  ) -> Range<String.Index> {
    let count = text.count
    guard count > length else { return text.startIndex..<text.endIndex }
    var start = text.startIndex
    if let best = densest(words, hits, length * 3 / 4), words[best].offset > length / 4 {
      let earliest = min(words[best].offset - length / 4, count - length)
      start = (words[...best].first { $0.offset >= earliest } ?? words[best]).range.lowerBound
    }
    return start..<(text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex)
  }

  /// First word of the range of that length with the largest number of different terms; the first of several.
  private static func densest(_ words: [SearchWord], _ hits: [SearchQuery.Hit], _ length: Int) -> Int? {
    var best: (word: Int, terms: Int)?
    var counts: [Int: Int] = [:]
    var first = hits.startIndex
    for hit in hits {
      counts[hit.term, default: 0] += 1
      while words[hit.words.upperBound].offset - words[hits[first].words.lowerBound].offset > length, hits[first] != hit
      {
        let count = counts[hits[first].term] ?? 0
        counts[hits[first].term] = count > 1 ? count - 1 : nil
        first += 1
      }
      if counts.count > best?.terms ?? 0 { best = (hits[first].words.lowerBound, counts.count) }
    }
    return best?.word
  }

  /// Merges hits that overlap or touch.
  private static func ranges(of hits: [SearchQuery.Hit], in words: [SearchWord]) -> [Range<String.Index>] {
    var ranges: [Range<String.Index>] = []
    for hit in hits {
      let start = words[hit.words.lowerBound].range.lowerBound
      let end = words[hit.words.upperBound].range.upperBound
      if let last = ranges.last, start <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        ranges.append(start..<end)
      }
    }
    return ranges
  }
}

extension SearchSnippet: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.array("pieces") { json in
        for piece in pieces {
          json.object { json in
            json.field("text", piece.text)
            json.field("hit", piece.isHit)
          }
        }
      }
      json.field("cut_before", isCutBefore)
      json.field("cut_after", isCutAfter)
    }
  }
}
