/// Writes the tree as plain text. Quotes and lists keep a prefix, so that quoted text is not attributed to the author;
/// a spoiler stays hidden.
struct PlainTextWriter {
  private static let quote = "> "

  private var out: [UInt8] = []
  private var scalars = 0
  /// The line prefix of each open quote and item. An item's prefix is written once.
  private var prefixes: [String] = []
  /// The number of the next item for each open list, nil for bullets.
  private var lists: [UInt32?] = []
  private var spoilers = 0
  private var isFirstCell = false

  static func text(of tree: MarkupTree, content: [UInt8], limit: Int) -> String {
    var writer = PlainTextWriter()
    for token in tree.tokens {
      if writer.scalars > limit { break }
      switch token.side {
      case .enter: writer.enter(token)
      case .leave: writer.leave(token)
      case .leaf: writer.leaf(token, content)
      }
    }
    while writer.out.last == 0x0a || writer.out.last == 0x20 { writer.out.removeLast() }
    return cut(String(decoding: writer.out, as: UTF8.self), limit: limit)
  }

  private mutating func enter(_ token: Token) {
    switch token.kind {
    case .quote: prefixes.append(Self.quote)
    case .list: lists.append(token.detail & ListStyle.ordered == 0 ? nil : token.number)
    case .item: enterItem(token)
    case .paragraph, .heading: beginLine()
    case .row:
      beginLine()
      isFirstCell = true
    case .cell:
      if !isFirstCell { append(" | ") }
      isFirstCell = false
    case .spoiler:
      if spoilers == 0 { append("[…]") }
      spoilers += 1
    case .table, .emphasis, .strong, .strike, .link, .picture: break
    case .rule, .codeBlock, .text, .character, .lineBreak, .codeSpan, .cellCodeSpan, .mention, .hashtag: break
    }
  }

  private mutating func leave(_ token: Token) {
    switch token.kind {
    case .quote, .item: prefixes.removeLast()
    case .list: lists.removeLast()
    case .spoiler: spoilers -= 1
    case .paragraph, .heading, .table, .row, .cell, .emphasis, .strong, .strike, .link, .picture: break
    case .rule, .codeBlock, .text, .character, .lineBreak, .codeSpan, .cellCodeSpan, .mention, .hashtag: break
    }
  }

  private mutating func leaf(_ token: Token, _ content: [UInt8]) {
    switch token.kind {
    case .text, .mention, .hashtag: append(content[token.range])
    case .character: append(UTF8.encode(Unicode.Scalar(token.number) ?? "\u{fffd}").map(Array.init)?[...] ?? [])
    case .lineBreak: if spoilers == 0 { beginLine() }
    case .codeSpan, .cellCodeSpan: append(CodeSpan.shown(content[token.range], isCell: token.kind == .cellCodeSpan))
    case .codeBlock:
      for line in content[token.range].dropFirst(Int(token.number)).split(separator: 0x0a) {
        beginLine()
        append(line)
      }
    case .rule: break
    case .quote, .list, .item, .paragraph, .heading, .table, .row, .cell, .emphasis, .strong, .strike, .spoiler, .link,
      .picture:
      break
    }
  }

  private mutating func enterItem(_ token: Token) {
    switch token.detail {
    case TaskState.open: prefixes.append("☐ ")
    case TaskState.done: prefixes.append("☑ ")
    default:
      guard let number = lists.last ?? nil else { return prefixes.append("• ") }
      prefixes.append("\(number). ")
      lists[lists.count - 1] = number + 1
    }
  }

  private mutating func beginLine() {
    if !out.isEmpty { append("\n") }
    for (index, prefix) in prefixes.enumerated() where !prefix.isEmpty {
      append(prefix)
      if prefix != Self.quote { prefixes[index] = "" }
    }
  }

  private mutating func append(_ text: ArraySlice<UInt8>) {
    guard spoilers == 0 else { return }
    out.append(contentsOf: text)
    for byte in text where byte & 0xc0 != 0x80 { scalars += 1 }
  }

  private mutating func append(_ text: String) { append(Array(text.utf8)[...]) }

  /// Cuts between two grapheme clusters.
  private static func cut(_ text: String, limit: Int) -> String {
    guard limit > 0 else { return "" }
    guard text.unicodeScalars.count > limit else { return text }
    var room = limit - 1
    var end = text.startIndex
    for index in text.indices {
      room -= text[index].unicodeScalars.count
      if room < 0 { break }
      end = text.index(after: index)
    }
    while end > text.startIndex, text[text.index(before: end)].isWhitespace { end = text.index(before: end) }
    return text[..<end] + "…"
  }
}
