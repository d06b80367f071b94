// Search and replacement by UTF-8 bytes. The functions of the same names in `_StringProcessing` compare whole characters:
// a quote followed by a combining mark is another character for them, so an escape made of them misses it. That module
// would also add 0.85 MB of regular expressions to the program.

package extension Collection<UInt8> {
  /// The first occurrence of other bytes. No bytes occur at the start. For an array the compiler would prefer the
  /// `firstRange` of `_StringProcessing`, so this function has a name of its own.
  func firstOccurrence(of wanted: some Collection<UInt8>) -> Range<Index>? {
    guard let first = wanted.first else { return startIndex..<startIndex }
    var start = startIndex
    while let found = self[start...].firstIndex(of: first) {
      var (end, next) = (found, wanted.startIndex)
      while next < wanted.endIndex, end < endIndex, self[end] == wanted[next] {
        formIndex(after: &end)
        wanted.formIndex(after: &next)
      }
      if next == wanted.endIndex { return found..<end }
      start = index(after: found)
    }
    return nil
  }
}

package extension StringProtocol {
  func firstRange(of text: String) -> Range<Index>? { utf8.firstOccurrence(of: text.utf8) }

  func contains(_ text: String) -> Bool { firstRange(of: text) != nil }

  /// The text with all occurrences replaced, from the start on and without overlap.
  func replacing(_ old: String, with new: String) -> String {
    split(by: old).joined(separator: new)
  }

  /// The parts between the occurrences of a separator, also empty ones.
  func split(by separator: String) -> [SubSequence] {
    precondition(!separator.isEmpty, "a separator has at least one byte")
    var parts: [SubSequence] = []
    var rest = self[...]
    while let found = rest.firstRange(of: separator) {
      parts.append(self[rest.startIndex..<found.lowerBound])
      rest = self[found.upperBound...]
    }
    parts.append(self[rest.startIndex...])
    return parts
  }

  /// The text without a prefix, if it has it.
  func trimmingPrefix(_ prefix: String) -> SubSequence {
    utf8.starts(with: prefix.utf8) ? self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...] : self[...]
  }
}
