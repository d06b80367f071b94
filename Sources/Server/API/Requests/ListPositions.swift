// The opaque positions of lists. A checksum binds a position to its list, that is, to the path and the filters of the
// request, so that an altered position and one of another list are refused. It is no secret: a position grants nothing.

import ParleyJSON
import ParleyModel
import ParleyWire

/// The identity of a list: its path and its filters.
struct ListName {
  private let text: String

  /// Parameters that a later page of the same list may change. The bounds of messages apply to the first page only.
  private static let others: Set<String> = [
    "limit", "next", "previous", "include", "include_annotations", "html", "before", "after", "around", "at_time",
    "before_time", "after_time", "after_offset",
  ]

  init(path: String, filters: [(name: String, value: String)]) {
    let filters = filters.filter { !Self.others.contains($0.name) }.map { "\($0.name)=\($0.value)" }
    text = ([path] + filters.sorted()).joined(separator: "\n")
  }

  /// FNV-1a of the list and a position, in 64 bits.
  fileprivate func checksum(_ position: some Sequence<UInt8>) -> [UInt8] {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for byte in text.utf8 { add(byte) }
    add(0)
    for byte in position { add(byte) }
    return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
  }
}

extension ListPosition {
  private static let maxCharacters = 512
  /// The numbers of the longest sort key.
  private static let maxNumbers = 4

  /// `n12.7:text` for the next page after the key (12, 7, "text"), with its checksum.
  func text(in list: ListName) -> String {
    var text = direction == .next ? "n" : "p"
    if let key {
      text += key.numbers.map(String.init).joined(separator: ".")
      text += ":" + key.text
    }
    return Base64.encode(list.checksum(text.utf8) + text.utf8, .url)
  }

  /// Nil for a text of another list.
  init?(_ text: String, in list: ListName) {
    guard text.utf8.count <= Self.maxCharacters, let bytes = Base64.decode(text, .url), bytes.count > 8,
      Array(bytes[..<8]) == list.checksum(bytes[8...])
    else { return nil }
    let direction: PageDirection
    switch bytes[8] {
    case UInt8(ascii: "n"): direction = .next
    case UInt8(ascii: "p"): direction = .previous
    default: return nil
    }
    guard bytes.count > 9 else {
      self.init(direction, from: nil)
      return
    }
    // A byte of the checksum may be a colon, too.
    let body = bytes[9...]
    guard let colon = body.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let numbers = body[..<colon].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: true).map {
      Int(String(decoding: $0, as: UTF8.self))
    }
    guard numbers.count <= Self.maxNumbers, !numbers.contains(nil) else { return nil }
    let key = String(decoding: body[(colon + 1)...], as: UTF8.self)
    self.init(direction, from: ListKey(numbers.compactMap(\.self), text: key))
  }
}

extension MessageQuery.Window {
  /// The window at a position of a message list; nil for a position of another form.
  init?(_ position: ListPosition, _ order: MessageQuery.Order) {
    guard let numbers = position.key?.numbers, numbers.count == 1 || numbers.count == 3,
      numbers.allSatisfy({ 0...ID<Message>.maxNumber ~= $0 })
    else { return nil }
    var bounds: Range<Int>?
    if numbers.count == 3 {
      guard numbers[1] <= numbers[2] else { return nil }
      bounds = numbers[1]..<numbers[2]
    }
    let isOlder = (position.direction == .next) == (order == .descending)
    self = isOlder ? .older(than: numbers[0], in: bounds) : .newer(than: numbers[0], in: bounds)
  }
}

extension MessagePage {
  /// The position of the page that follows in the order of `data`, or of the one before.
  func position(_ direction: PageDirection, _ order: MessageQuery.Order) -> ListPosition? {
    let isOlder = (direction == .next) == (order == .descending)
    switch isOlder ? older : newer {
    case .older(let seq, let bounds), .newer(let seq, let bounds):
      let range = bounds.map { [$0.lowerBound, $0.upperBound] } ?? []
      return ListPosition(direction, from: ListKey([seq] + range))
    case .all, .between, .betweenTimes, .around, .aroundTime, nil: return nil
    }
  }
}

extension JSONWriter {
  mutating func positions(next: ListPosition?, previous: ListPosition?, in list: ListName) {
    field("next", next?.text(in: list))
    field("previous", previous?.text(in: list))
  }
}
