/// Writes the tree as CommonMark's renderer does. Every byte of the text passes through `append(escaped:)`; the rest of
/// the output is literals, so its tags and attributes are those in this file.
struct HTMLWriter {
  private var out: [UInt8] = []
  private let escaped = ByteSet("&<>\"'", andControls: true)
  /// Whether paragraphs omit `<p>`, for each open list and quote.
  private var isTight: [Bool] = []
  private var isInHead = false
  private var hasBody = false
  /// The addresses of the attachments.
  private let pictures: [String]
  /// Whether the writer is in an `alt` attribute, which has text alone.
  private var isInPicture = false

  private init(pictures: [String]) { self.pictures = pictures }

  static func html(of tree: MarkupTree, content: [UInt8], pictures: [String]) -> String {
    var writer = HTMLWriter(pictures: pictures)
    writer.out.reserveCapacity(content.count + content.count / 4 + 32)
    for token in tree.tokens {
      switch token.side {
      case .enter: writer.enter(token, tree)
      case .leave: writer.leave(token)
      case .leaf: writer.leaf(token, content)
      }
    }
    return String(decoding: writer.out, as: UTF8.self)
  }

  private mutating func enter(_ token: Token, _ tree: MarkupTree) {
    switch token.kind {
    case .quote:
      isTight.append(false)
      block("<blockquote>\n")
    case .list: enterList(token)
    case .item: enterItem(token)
    case .paragraph: if isTight.last != true { block("<p>") }
    case .heading:
      block("<h")
      out.append(UInt8(ascii: "0") + token.detail)
      append(">")
    case .table:
      hasBody = false
      block("<table>\n")
    case .row: enterRow(token)
    case .cell: enterCell(token)
    case .emphasis: mark("<em>")
    case .strong: mark("<strong>")
    case .strike: mark("<del>")
    case .spoiler: mark("<span class=\"spoiler\">")
    case .picture: enterPicture(Int(token.detail))
    case .link: enterLink(tree.links[Int(token.number)], tree.strings)
    case .rule, .codeBlock, .text, .character, .lineBreak, .codeSpan, .cellCodeSpan, .mention, .hashtag: break
    }
  }

  private mutating func leave(_ token: Token) {
    switch token.kind {
    case .quote:
      isTight.removeLast()
      block("</blockquote>\n")
    case .list:
      isTight.removeLast()
      append(token.detail & ListStyle.ordered != 0 ? "</ol>\n" : "</ul>\n")
    case .item: append("</li>\n")
    case .paragraph: if isTight.last != true { append("</p>\n") }
    case .heading:
      append("</h")
      out.append(UInt8(ascii: "0") + token.detail)
      append(">\n")
    case .table: append(hasBody ? "</tbody>\n</table>\n" : "</table>\n")
    case .row: append(token.detail == RowLocation.head ? "</tr>\n</thead>\n" : "</tr>\n")
    case .cell: append(isInHead ? "</th>\n" : "</td>\n")
    case .emphasis: mark("</em>")
    case .strong: mark("</strong>")
    case .strike: mark("</del>")
    case .spoiler: mark("</span>")
    case .picture: leavePicture(Int(token.detail))
    case .link: append("</a>")
    case .rule, .codeBlock, .text, .character, .lineBreak, .codeSpan, .cellCodeSpan, .mention, .hashtag: break
    }
  }

  private mutating func leaf(_ token: Token, _ content: [UInt8]) {
    switch token.kind {
    case .text: append(escaped: content[token.range])
    case .character:
      append(escaped: UTF8.encode(Unicode.Scalar(token.number) ?? "\u{fffd}").map(Array.init)?[...] ?? [])
    case .lineBreak: append(isInPicture ? " " : "<br />\n")
    case .codeSpan, .cellCodeSpan: codeSpan(content[token.range], isCell: token.kind == .cellCodeSpan)
    case .codeBlock: codeBlock(content[token.range], language: Int(token.number))
    case .rule: block("<hr />\n")
    case .mention: named("<span class=\"mention\">", content[token.range])
    case .hashtag: named("<span class=\"hashtag\">", content[token.range])
    case .quote, .list, .item, .paragraph, .heading, .table, .row, .cell, .emphasis, .strong, .strike, .spoiler, .link,
      .picture:
      break
    }
  }
}

extension HTMLWriter {
  private mutating func enterList(_ token: Token) {
    isTight.append(token.detail & ListStyle.loose == 0)
    guard token.detail & ListStyle.ordered != 0 else { return block("<ul>\n") }
    block("<ol")
    if token.number != 1 {
      append(" start=\"")
      out.append(contentsOf: String(token.number).utf8)
      append("\"")
    }
    append(">\n")
  }

  private mutating func enterItem(_ token: Token) {
    append("<li>")
    switch token.detail {
    case TaskState.open: append("<input type=\"checkbox\" disabled=\"\" /> ")
    case TaskState.done: append("<input type=\"checkbox\" checked=\"\" disabled=\"\" /> ")
    default: break
    }
  }

  private mutating func enterRow(_ token: Token) {
    isInHead = token.detail == RowLocation.head
    switch token.detail {
    case RowLocation.head: append("<thead>\n<tr>\n")
    case RowLocation.firstOfBody:
      hasBody = true
      append("<tbody>\n<tr>\n")
    default: append("<tr>\n")
    }
  }

  private mutating func enterCell(_ token: Token) {
    append(isInHead ? "<th" : "<td")
    switch token.detail {
    case Alignment.left: append(" align=\"left\">")
    case Alignment.right: append(" align=\"right\">")
    case Alignment.center: append(" align=\"center\">")
    default: append(">")
    }
  }

  private mutating func enterLink(_ link: Link, _ strings: [UInt8]) {
    append("<a href=\"")
    append(escaped: strings[link.address])
    if let title = link.title {
      append("\" title=\"")
      append(escaped: strings[title])
    }
    append("\" rel=\"nofollow noopener noreferrer ugc\">")
  }

  private mutating func enterPicture(_ number: Int) {
    guard number <= pictures.count else { return append("![") }
    append("<img src=\"")
    append(escaped: Array(pictures[number - 1].utf8)[...])
    append("\" alt=\"")
    isInPicture = true
  }

  private mutating func leavePicture(_ number: Int) {
    append(isInPicture ? "\" />" : "](attachment:\(number))")
    isInPicture = false
  }

  /// A tag around inlines.
  private mutating func mark(_ tag: String) {
    if !isInPicture { append(tag) }
  }

  private mutating func codeSpan(_ code: ArraySlice<UInt8>, isCell: Bool) {
    mark("<code>")
    append(escaped: CodeSpan.shown(code, isCell: isCell))
    mark("</code>")
  }

  private mutating func codeBlock(_ text: ArraySlice<UInt8>, language: Int) {
    block("<pre><code")
    if language > 0 {
      append(" class=\"language-")
      append(escaped: text.prefix(language))
      append("\"")
    }
    append(">")
    append(escaped: text.dropFirst(language))
    append("</code></pre>\n")
  }

  private mutating func named(_ tag: String, _ text: ArraySlice<UInt8>) {
    append(tag)
    append(escaped: text)
    append("</span>")
  }

  /// Starts a new line for a block.
  private mutating func block(_ tag: String) {
    if let last = out.last, last != 0x0a { out.append(0x0a) }
    append(tag)
  }

  private mutating func append(_ text: String) {
    out.append(contentsOf: text.utf8)
  }

  private mutating func append(escaped text: ArraySlice<UInt8>) {
    let bytes = text.span
    var plain = 0
    var position = escaped.first(in: bytes, from: 0, to: bytes.count)
    while position < bytes.count {
      out.append(contentsOf: text[text.startIndex + plain..<text.startIndex + position])
      append(Self.escape(bytes[position]))
      plain = position + 1
      position = escaped.first(in: bytes, from: plain, to: bytes.count)
    }
    out.append(contentsOf: text[(text.startIndex + plain)...])
  }

  /// Quotes are escaped although only attributes require it. Control characters are invalid in HTML.
  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: "\u{fffd}"
    }
  }
}
