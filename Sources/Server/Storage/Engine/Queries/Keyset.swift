import ParleyModel

/// The part of a list's SQL that depends on the slice: `where key <comparison> $1 order by key <order>`.
struct Keyset {
  let comparison: String
  let order: String
  private let key: ListKey?
  private let isAscending: Bool

  enum Order {
    case ascending, descending
  }

  /// - Parameter order: the order of the list.
  init(_ slice: ListSlice, _ order: Order) {
    isAscending = (order == .ascending) != slice.isBackward
    comparison = isAscending ? ">" : "<"
    self.order = isAscending ? "asc" : "desc"
    key = slice.key
  }

  /// The number that the slice continues from, or one beyond all numbers.
  func number(_ index: Int = 0) -> Int {
    guard let numbers = key?.numbers, numbers.indices.contains(index) else { return isAscending ? .min : .max }
    return numbers[index]
  }

  /// The text that the slice continues from, or one beyond all texts.
  var text: String { key?.text ?? (isAscending ? "" : "\u{10ffff}") }
}
