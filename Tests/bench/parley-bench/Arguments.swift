/// An invalid command line.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The arguments of a command: positional values, and `--name value` or `--name=value`. Unknown names are errors.
struct Arguments {
  private(set) var values: [String] = []
  private var options: [String: [String]] = [:]
  private var setFlags: Set<String> = []

  /// `options` take a value, `flags` do not; both without their dashes.
  init(_ words: some Sequence<String>, options names: Set<String>, flags: Set<String>) throws(UsageError) {
    var words = words.makeIterator()
    while let word = words.next() {
      guard word.hasPrefix("--") else {
        values.append(word)
        continue
      }
      let option = word.dropFirst(2)
      let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts.first ?? ""
      if flags.contains(name), parts.count == 1 {
        setFlags.insert(name)
      } else if names.contains(name) {
        guard let value = parts.count == 2 ? parts[1] : words.next() else {
          throw UsageError("--\(name) needs a value.")
        }
        options[name, default: []].append(value)
      } else {
        throw UsageError("\(word) is an unknown argument.")
      }
    }
  }

  func has(_ flag: String) -> Bool { setFlags.contains(flag) }

  /// The last value given.
  func text(_ name: String) -> String? { options[name]?.last }

  func all(_ name: String) -> [String] { options[name] ?? [] }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError("--\(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(text).")
    }
    return number
  }

  func integer(_ name: String, in range: ClosedRange<Int>, or standard: Int) throws(UsageError) -> Int {
    try integer(name, in: range) ?? standard
  }

  func seconds(_ name: String) throws(UsageError) -> Double? {
    guard let text = text(name) else { return nil }
    guard let number = Double(text), number >= 0, number <= 86_400 else {
      throw UsageError("--\(name) is a number of seconds up to 86400, not \(text).")
    }
    return number
  }
}
