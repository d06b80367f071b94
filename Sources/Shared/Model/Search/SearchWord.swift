/// Word of a text with its range, split and folded as in the index. For snippets, since the index stores no text.
/// Characters of scripts without spaces are single words here, so a phrase of them is a sequence of words.
struct SearchWord: Hashable {
  var text: String
  /// Whole characters: an accent or a joiner stays with its letter.
  var range: Range<String.Index>
  /// Number of characters before it.
  let offset: Int
  /// Character of such a script directly after another.
  let followsRun: Bool

  static func words(of text: String, max: Int = .max) -> [SearchWord] {
    var splitter = Splitter()
    var start = text.startIndex
    while start < text.endIndex, splitter.words.count < max {
      let end = text.index(after: start)
      for scalar in text[start..<end].unicodeScalars { splitter.take(scalar, at: start..<end) }
      splitter.offset += 1
      start = end
    }
    return splitter.words
  }

  private struct Splitter {
    var words: [SearchWord] = []
    var offset = 0
    private var last = Last.complete

    /// State of the last word.
    private enum Last {
      case complete, letters, run, otherHalfOfFlag
    }

    mutating func take(_ scalar: Unicode.Scalar, at range: Range<String.Index>) {
      switch SearchCharacter(scalar) {
      case .dropped: break
      case .plain where SearchFolding.isLetter(scalar): letter(SearchFolding.fold(scalar), range)
      case .plain: last = .complete
      case .wide(let narrow): letter(SearchFolding.fold(narrow), range)
      case .unspaced:
        begin(scalar, range, followsRun: last == .run)
        last = .run
      case .symbol(let letter):
        begin(letter, range)
        last = .complete
      case .flagHalf(let letter) where last == .otherHalfOfFlag:
        grow(letter, range)
        last = .complete
      case .flagHalf(let letter):
        begin(letter, range)
        last = .otherHalfOfFlag
      }
    }

    private mutating func letter(_ scalar: Unicode.Scalar, _ range: Range<String.Index>) {
      if last == .letters { grow(scalar, range) } else { begin(scalar, range) }
      last = .letters
    }

    private mutating func begin(
      _ scalar: Unicode.Scalar, _ range: Range<String.Index>, followsRun: Bool = false
    ) {
      words.append(SearchWord(text: String(scalar), range: range, offset: offset, followsRun: followsRun))
    }

    private mutating func grow(_ scalar: Unicode.Scalar, _ range: Range<String.Index>) {
      guard let index = words.indices.last else { return }
      words[index].text.unicodeScalars.append(scalar)
      words[index].range = words[index].range.lowerBound..<range.upperBound
    }
  }
}
