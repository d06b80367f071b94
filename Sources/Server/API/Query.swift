import ParleyJSON
import ParleyModel
import ParleyWire

/// The query of an address, asked for by name. It remembers which names were, so that `finish()` can refuse the rest: a
/// misspelled filter must not look like an answer.
struct Query {
  private let pairs: FormPairs
  private var read: Set<String> = []

  init(_ text: String?) throws(Refusal) {
    do {
      pairs = try FormPairs(text ?? "")
    } catch {
      throw .invalid("query", .invalid)
    }
  }

  mutating func text(_ name: String) throws(Refusal) -> String? {
    read.insert(name)
    let values = pairs.all(name)
    guard values.count < 2 else { throw .invalid(name, .tooMany(limit: 1)) }
    return values.first
  }

  mutating func int(_ name: String, in range: ClosedRange<Int>) throws(Refusal) -> Int? {
    guard let text = try text(name) else { return nil }
    // One spelling for each number.
    guard let number = Int(text), String(number) == text else { throw .invalid(name, .invalid) }
    guard range.contains(number) else { throw .invalid(name, .outOfRange(range)) }
    return number
  }

  mutating func flag(_ name: String) throws(Refusal) -> Bool? {
    switch try text(name) {
    case nil: nil
    case "true", "1": true
    case "false", "0": false
    default: throw .invalid(name, .invalid)
    }
  }

  mutating func word<Word: RawRepresentable>(_ name: String) throws(Refusal) -> Word? where Word.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else { throw .invalid(name, .invalid) }
    return word
  }

  mutating func id<Thing>(_ name: String) throws(Refusal) -> ID<Thing>? {
    guard let text = try text(name) else { return nil }
    guard let id = ID<Thing>(text) else { throw .invalid(name, .invalid) }
    return id
  }

  /// A point in time, in milliseconds since 1970.
  mutating func time(_ name: String) throws(Refusal) -> Int64? {
    guard let text = try text(name) else { return nil }
    guard let time = Timestamp.parse(text) else { throw .invalid(name, .invalid) }
    return Int64(time)
  }

  static let largestPage = 200

  /// How many things a page holds.
  mutating func limit(usual: Int = 50) throws(Refusal) -> Int {
    try int("limit", in: 1...Self.largestPage) ?? usual
  }

  /// Where a list goes on that is ordered by two numbers.
  mutating func nextPair() throws(Refusal) -> (Int, Int)? {
    guard let text = try text("next") else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let first = parts[0], let second = parts[1] else { throw .invalid("next", .invalid) }
    return (first, second)
  }

  /// Where a list goes on that is ordered by the times of messages.
  mutating func nextTime() throws(Refusal) -> TimelineCursor? {
    try nextPair().map { TimelineCursor(time: $0.0, message: ID($0.1)) }
  }

  func finish() throws(Refusal) {
    let unknown = Set(pairs.pairs.map(\.name)).subtracting(read)
    guard unknown.isEmpty else {
      throw .invalid(unknown.sorted().prefix(10).map { FieldFault(field: $0, code: .unknownField) })
    }
  }
}
