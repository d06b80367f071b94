import ParleyJSON
import ParleyModel
import ParleyWire

/// The query parameters of a request, read by name. `finish()` refuses parameters that were not read, so that a
/// misspelled filter is an error.
struct Query {
  private let pairs: FormPairs
  private let path: String
  private var read: Set<String> = []

  init(_ text: String?, path: String) throws(Refusal) {
    self.path = path
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

  /// - Parameter limit: maximum number of Unicode scalars.
  mutating func text(_ name: String, scalars limit: Int) throws(Refusal) -> String? {
    guard let text = try text(name) else { return nil }
    guard text.unicodeScalars.count <= limit else { throw .invalid(name, .tooLong(limit: limit)) }
    return text
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

  /// The page of a list: its size and, after the first page, its position.
  mutating func page(default size: Int = 50) throws(Refusal) -> PageRequest {
    PageRequest(try position(), limit: try limit(default: size))
  }

  /// The position that another page returned as `next` or `previous`.
  mutating func position() throws(Refusal) -> ListPosition? {
    let next = try position("next", .next)
    guard let previous = try position("previous", .previous) else { return next }
    guard next == nil else { throw .invalid("previous", .mismatch) }
    return previous
  }

  private mutating func position(
    _ name: String, _ direction: PageDirection
  ) throws(Refusal) -> ListPosition? {
    guard let text = try text(name) else { return nil }
    guard let position = ListPosition(text, in: list), position.direction == direction else {
      throw .invalid(name, .invalid)
    }
    return position
  }

  /// The list that the path and the filters name.
  var list: ListName { ListName(path: path, filters: pairs.pairs.map { ($0.name, $0.value) }) }

  func finish() throws(Refusal) {
    let unknown = Set(pairs.pairs.map(\.name)).subtracting(read)
    guard unknown.isEmpty else {
      throw .invalid(unknown.sorted().prefix(10).map { FieldFault(field: $0, code: .unknownField) })
    }
  }
}
