import ParleyJSON
import ParleyModel
import ParleyWire

/// The query parameters of a request, read by name. `finish()` refuses parameters that were not read, so that a
/// misspelled filter is an error.
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
    // Refuses other spellings, such as `+1` and `01`.
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

  /// A time, in milliseconds since 1970.
  mutating func time(_ name: String) throws(Refusal) -> Int64? {
    guard let text = try text(name) else { return nil }
    guard let time = Timestamp.parse(text) else { throw .invalid(name, .invalid) }
    return Int64(time)
  }

  static let maxPageSize = 200

  /// The size of the page.
  mutating func limit(default size: Int = 50) throws(Refusal) -> Int {
    try int("limit", in: 1...Self.maxPageSize) ?? size
  }

  /// The cursor of a list ordered by two numbers.
  mutating func nextPair() throws(Refusal) -> (Int, Int)? {
    guard let text = try text("next") else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let first = parts[0], let second = parts[1] else { throw .invalid("next", .invalid) }
    return (first, second)
  }

  /// The cursor of a list ordered by message time.
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
