/// The syntax tree of a text as a flat list: a container has an enter and a leave token, other nodes are leaves. Enters
/// and leaves are balanced, so a walk needs no recursion.
struct MarkupTree: Sendable {
  var tokens: [Token] = []
  var links: [Link] = []
  var entities: [FoundEntity] = []
  /// Addresses and titles, decoded.
  var strings: [UInt8] = []
}

/// A token of the tree. `start` and `end` are offsets in the content, if it has any.
struct Token: Sendable {
  enum Side: UInt8, Sendable { case enter, leave, leaf }

  enum Kind: UInt8, Sendable {
    case quote, list, item, paragraph, heading, table, row, cell
    case rule, codeBlock
    case emphasis, strong, strike, spoiler, link, picture
    case text, character, lineBreak, codeSpan, cellCodeSpan, mention, hashtag
  }

  let side: Side
  let kind: Kind
  /// A heading's level, a list's `ListStyle`, an item's `TaskState`, a row's `RowLocation`, a cell's `Alignment`, the
  /// number of the attachment of a picture.
  var detail: UInt8 = 0
  var start: UInt32 = 0
  var end: UInt32 = 0
  /// An ordered list's first number, a link's index, a character's scalar, or the length of a code block's language in
  /// bytes.
  var number: UInt32 = 0

  static func enter(_ kind: Kind, detail: UInt8 = 0, number: Int = 0) -> Token {
    Token(side: .enter, kind: kind, detail: detail, number: UInt32(clamping: number))
  }

  static func leave(_ kind: Kind, detail: UInt8 = 0) -> Token {
    Token(side: .leave, kind: kind, detail: detail)
  }

  static func leaf(_ kind: Kind, _ range: Range<Int> = 0..<0, number: Int = 0) -> Token {
    Token(
      side: .leaf, kind: kind, start: UInt32(clamping: range.lowerBound), end: UInt32(clamping: range.upperBound),
      number: UInt32(clamping: number))
  }

  var range: Range<Int> { Int(start)..<Int(end) }
}

/// Bits of a list token's detail.
enum ListStyle {
  static let ordered: UInt8 = 1
  static let loose: UInt8 = 2
}

enum TaskState {
  static let open: UInt8 = 1
  static let done: UInt8 = 2
}

enum RowLocation {
  static let head: UInt8 = 0
  static let firstOfBody: UInt8 = 1
  static let body: UInt8 = 2
}

enum Alignment {
  static let none: UInt8 = 0
  static let left: UInt8 = 1
  static let right: UInt8 = 2
  static let center: UInt8 = 3
}

/// Ranges of `MarkupTree.strings`.
struct Link: Sendable {
  let address: Range<Int>
  let title: Range<Int>?
}

/// An entity with its offsets in the content. A link's value is in `MarkupTree.strings`, other values are in the
/// content.
struct FoundEntity: Sendable {
  let kind: MarkupEntity.Kind
  let start: Int
  let end: Int
  let value: Range<Int>
}
