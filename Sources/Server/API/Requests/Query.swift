import ParleyJSON
import ParleyModel
import ParleyWire

/// The query parameters of a request, read by name. `finish()` refuses all wrong ones together, and parameters that were
/// not read, so that a misspelled filter is an error. Until then a wrong parameter counts as absent.
struct Query {
  private let pairs: FormPairs
  private let path: String
  private var read: Set<String> = []
  private(set) var faults: [FieldFault] = []

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
    guard values.count < 2 else { return refuse(name, .tooMany(limit: 1)) }
    return values.first
  }

  /// Records a fault. The value is nil.
  mutating func refuse<Value>(_ name: String, _ code: FieldFault.Code) -> Value? {
    faults.append(FieldFault(field: name, code: code))
    return nil
  }

  /// The words of a list, separated by commas; nil without the parameter.
  mutating func words<Word: ListedWord>(_ name: String) throws(Refusal) -> [Word]? {
    guard let text = try text(name) else { return nil }
    var words: [Word] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let word = Word(rawValue: String(part)) else {
        return refuse(name, .notAllowed(Word.allCases.map(\.rawValue)))
      }
      words.append(word)
    }
    return words
  }

  /// A user: an id, `@name` or `me`.
  mutating func reference(_ name: String) throws(Refusal) -> UserReference? {
    guard let text = try text(name) else { return nil }
    guard let reference = UserReference(parsing: text) else { return refuse(name, .invalid) }
    return reference
  }

  mutating func action(_ name: String) throws(Refusal) -> ActionType? {
    guard let text = try text(name) else { return nil }
    guard let type = ActionType(text) else { return refuse(name, .notAllowed(ActionType.forms)) }
    return type
  }

  /// - Parameter limit: maximum number of Unicode scalars.
  mutating func text(_ name: String, scalars limit: Int) throws(Refusal) -> String? {
    guard let text = try text(name) else { return nil }
    guard text.unicodeScalars.count <= limit else { return refuse(name, .tooLong(limit: limit)) }
    return text
  }

  mutating func int(_ name: String, in range: ClosedRange<Int>) throws(Refusal) -> Int? {
    guard let text = try text(name) else { return nil }
    // Refuses other spellings, such as `+1` and `01`.
    guard let number = Int(text), String(number) == text else { return refuse(name, .invalid) }
    guard range.contains(number) else { return refuse(name, .outOfRange(range)) }
    return number
  }

  mutating func flag(_ name: String) throws(Refusal) -> Bool? {
    switch try text(name) {
    case nil: nil
    case "true", "1": true
    case "false", "0": false
    default: refuse(name, .notAllowed(["true", "false"]))
    }
  }

  mutating func word<Word: ListedWord>(_ name: String) throws(Refusal) -> Word? {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else { return refuse(name, .notAllowed(Word.allCases.map(\.rawValue))) }
    return word
  }

  mutating func id<Thing>(_ name: String) throws(Refusal) -> ID<Thing>? {
    guard let text = try text(name) else { return nil }
    guard let id = ID<Thing>(text) else { return refuse(name, .invalid) }
    return id
  }

  /// A time, in milliseconds since 1970.
  mutating func time(_ name: String) throws(Refusal) -> Int64? {
    guard let text = try text(name) else { return nil }
    guard let time = Timestamp.parse(text) else { return refuse(name, .invalid) }
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
    guard next == nil else { return refuse("previous", .mismatch) }
    return previous
  }

  private mutating func position(
    _ name: String, _ direction: PageDirection
  ) throws(Refusal) -> ListPosition? {
    guard let text = try text(name) else { return nil }
    guard let position = ListPosition(text, in: list), position.direction == direction else {
      return refuse(name, .invalid)
    }
    return position
  }

  /// The list that the path and the filters name.
  var list: ListName { ListName(path: path, filters: pairs.pairs.map { ($0.name, $0.value) }) }

  /// Throws the faults of the parameters that were read; others are ignored, as in the addresses of pages.
  func requireValid() throws(Refusal) {
    guard faults.isEmpty else { throw .invalid(faults) }
  }

  /// Throws the faults of all parameters.
  func finish() throws(Refusal) {
    let unknown = Set(pairs.pairs.map(\.name)).subtracting(read)
    let faults =
      faults + unknown.sorted().prefix(Self.maxUnknown).map { FieldFault(field: $0, code: .unknownField) }
    guard faults.isEmpty else { throw .invalid(faults) }
  }

  /// The maximum number of unknown parameters in an answer.
  private static let maxUnknown = 10
}
