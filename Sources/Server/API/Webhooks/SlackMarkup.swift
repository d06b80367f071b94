// Slack's mrkdwn as Markdown, in one pass over the bytes.
//
// Syntax with the same meaning in Markdown stays: `_italic_`, `code`, lists, `[text](address)`, `**bold**`. Slack's `*bold*`,
// `~strike~` and `<address|text>` change, and so do `&lt;`, `&gt;` and `&amp;` in code, where Markdown has no references.

import ParleyWire

enum SlackMarkup {
  /// A meant mention has `MarkdownText.mention` in place of its `@`.
  static func markdown(_ text: String) -> String {
    var writer = SlackMarkupWriter(Array(text.utf8))
    writer.run()
    return String(decoding: writer.output, as: UTF8.self)
  }

  /// Decodes Slack's three references.
  static func decoded(_ text: String) -> String {
    String(decoding: decoded(Array(text.utf8)[...]), as: UTF8.self)
  }

  fileprivate static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let rest = bytes[index...]
      if let (reference, byte) = references.first(where: { rest.starts(with: $0.text) }) {
        output.append(byte)
        index += reference.count
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return output
  }

  private static let references: [(text: [UInt8], byte: UInt8)] = [
    (Array("&lt;".utf8), UInt8(ascii: "<")), (Array("&gt;".utf8), UInt8(ascii: ">")),
    (Array("&amp;".utf8), UInt8(ascii: "&")),
  ]
}

private struct SlackMarkupWriter {
  private let text: [UInt8]
  private(set) var output: [UInt8] = []
  private var index = 0
  private var bold: Runs
  private var strike: Runs
  /// No search for the end of code succeeds before these positions.
  private var noFenceBefore = 0
  private var noCodeBefore = 0

  /// The runs between two equal delimiters, within lines.
  private struct Runs {
    let delimiter: UInt8
    /// For each position the next end of a run in its line, or `none`.
    let ends: [Int]
    /// The end of the open run.
    var end: Int?

    static let none = Int.max
  }

  private static let newline = UInt8(ascii: "\n")
  private static let star = UInt8(ascii: "*")
  private static let tilde = UInt8(ascii: "~")
  private static let tick = UInt8(ascii: "`")
  private static let less = UInt8(ascii: "<")
  private static let greater = UInt8(ascii: ">")
  private static let fence = Array("```".utf8)
  private static let escapedGreater = Array("&gt;".utf8)
  private static let bullet = Array("• ".utf8)

  init(_ text: [UInt8]) {
    self.text = text
    output.reserveCapacity(text.count + text.count / 8)
    bold = Runs(delimiter: Self.star, ends: Self.ends(of: Self.star, in: text))
    strike = Runs(delimiter: Self.tilde, ends: Self.ends(of: Self.tilde, in: text))
  }

  /// For each position the next delimiter that may end a run, from right to left.
  private static func ends(of delimiter: UInt8, in text: [UInt8]) -> [Int] {
    guard text.contains(delimiter) else { return [] }
    var ends = [Int](repeating: Runs.none, count: text.count + 1)
    for index in text.indices.reversed() {
      ends[index] = text[index] == newline ? Runs.none : ends[index + 1]
      guard text[index] == delimiter, index > 0 else { continue }
      let (before, after) = (text[index - 1], text[safe: index + 1])
      let isSingle = before != delimiter && after != delimiter
      if isSingle, !before.isBlank, after?.isWord != true || after.map({ $0 >= 0x80 }) == true { ends[index] = index }
    }
    return ends
  }

  mutating func run() {
    while index < text.count {
      switch text[index] {
      case Self.tick: writeCode()
      case Self.less: writeReference()
      case Self.star: writeDelimiter(of: \.bold)
      case Self.tilde: writeDelimiter(of: \.strike)
      case UInt8(ascii: "&") where isLineStart && starts(with: Self.escapedGreater): writeQuote()
      case 0xe2 where isLineStart && starts(with: Self.bullet):
        output += Array("- ".utf8)
        index += Self.bullet.count
      default: copy(1)
      }
    }
  }

  private var isLineStart: Bool { index == 0 || text[index - 1] == Self.newline }

  private func starts(with prefix: [UInt8]) -> Bool { text[index...].starts(with: prefix) }

  private mutating func copy(_ count: Int) {
    output += text[index..<min(index + count, text.count)]
    index += count
  }

  /// `&gt; ` at the start of a line is a quote, as `>` is.
  private mutating func writeQuote() {
    output.append(Self.greater)
    index += Self.escapedGreater.count
    if index < text.count, !text[index].isBlank { output.append(UInt8(ascii: " ")) }
  }

  /// One delimiter begins or ends a run; Markdown has two.
  private mutating func writeDelimiter(of path: WritableKeyPath<SlackMarkupWriter, Runs>) {
    let (runs, position) = (self[keyPath: path], index)
    let delimiter = runs.delimiter
    if position == runs.end {
      self[keyPath: path].end = nil
      output += [delimiter, delimiter]
      index += 1
      return
    }
    let (before, after) = (position > 0 ? text[position - 1] : nil, text[safe: position + 1])
    let isSingle = before != delimiter && after != delimiter
    let opens = isSingle && after?.isBlank == false && (before?.isWord != true || before.map { $0 >= 0x80 } == true)
    let isClosed = runs.end.map { $0 < position } ?? true
    guard opens, isClosed, let next = runs.ends[safe: position + 2], next != Runs.none else { return copy(1) }
    self[keyPath: path].end = next
    output += [delimiter, delimiter]
    index += 1
  }

  private mutating func writeCode() {
    if starts(with: Self.fence) { return writeFence() }
    guard index >= noCodeBefore else { return copy(1) }
    var end = index + 1
    while end < text.count, text[end] != Self.newline, text[end] != Self.tick { end += 1 }
    guard end < text.count, text[end] == Self.tick else {
      noCodeBefore = end
      return copy(1)
    }
    output += [Self.tick] + SlackMarkup.decoded(text[index + 1..<end]) + [Self.tick]
    index = end + 1
  }

  /// A block of code has its fences on lines of their own, with its first line below.
  private mutating func writeFence() {
    let start = index + Self.fence.count
    guard start >= noFenceBefore else { return copy(Self.fence.count) }
    guard let end = nextFence(from: start) else {
      noFenceBefore = text.count + 1
      return copy(Self.fence.count)
    }
    let content = SlackMarkup.decoded(text[start..<end])
    index = end + Self.fence.count
    guard content.contains(Self.newline) else {
      output += Self.fence + content + Self.fence
      return
    }
    if let last = output.last, last != Self.newline { output.append(Self.newline) }
    output += Self.fence
    if content.first != Self.newline { output.append(Self.newline) }
    output += content
    if content.last != Self.newline { output.append(Self.newline) }
    output += Self.fence
    if index < text.count, text[index] != Self.newline { output.append(Self.newline) }
  }

  private func nextFence(from start: Int) -> Int? {
    var position = start
    while position + Self.fence.count <= text.count {
      if text[position] == Self.tick, text[position...].starts(with: Self.fence) { return position }
      position += 1
    }
    return nil
  }

  /// `<address|text>`, `<@user>`, `<#channel|name>`, `<!here>`.
  private mutating func writeReference() {
    var end = index + 1
    while end < text.count, text[end] != Self.greater, text[end] != Self.less, text[end] != Self.newline { end += 1 }
    guard end < text.count, text[end] == Self.greater, let markdown = reference(text[index + 1..<end]) else {
      output.append(MarkdownText.backslash)
      return copy(1)
    }
    output += Array(markdown.utf8)
    index = end + 1
  }

  private func reference(_ content: ArraySlice<UInt8>) -> String? {
    let parts = content.split(separator: UInt8(ascii: "|"), maxSplits: 1, omittingEmptySubsequences: false)
    let decoded = parts.map { String(decoding: SlackMarkup.decoded($0), as: UTF8.self) }
    guard let target = decoded.first, let sign = target.first else { return nil }
    let label = decoded.count > 1 && !decoded[1].isEmpty ? decoded[1] : nil
    switch sign {
    case "@", "#":
      let name = label.map { $0.hasPrefix(String(sign)) ? String($0.dropFirst()) : $0 } ?? String(target.dropFirst())
      return "\(sign == "@" ? Character(MarkdownText.mention) : sign)\(MarkdownText.escaped(name))"
    case "!":
      let command = target.dropFirst().prefix { $0 != "^" }
      if ["here", "channel", "everyone"].contains(command) { return "\(MarkdownText.mention)room" }
      return MarkdownText.escaped(label ?? String(command))
    default:
      guard MarkdownText.isWebAddress(target) else { return nil }
      let mail = target.lowercased().hasPrefix("mailto:") ? String(target.dropFirst("mailto:".count)) : nil
      return MarkdownText.link(label == mail ? nil : label, to: target)
    }
  }
}

extension UInt8 {
  /// Whether it is an ASCII letter or digit, or a byte of another script.
  fileprivate var isWord: Bool { ASCII.isAlpha(self) || ASCII.isDigit(self) || self >= 0x80 }

  fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
