/// A parsed text of the profile in the README. Every text is valid: unknown syntax is text.
///
///     let document = MarkupDocument("pizza *party*! #food @ada")
///     document.html          // <p>pizza <em>party</em>! <span class="hashtag">#food</span> …
///     document.entities      // hashtag food at 15, mention ada at 21
///     document.plainText()   // pizza party! #food @ada
public struct MarkupDocument: Sendable {
  private let source: [UInt8]
  private let content: [UInt8]
  private let lines: [SourceLine]
  private let tree: MarkupTree
  /// The number of bytes read, with repetitions. The tests compare it with the length of the text.
  let steps: Int

  /// Parses a text in time linear in its length.
  public init(_ text: String) {
    var parser = BlockParser(source: Array(text.utf8))
    parser.parse()
    source = parser.source
    content = parser.content
    lines = parser.lines
    tree = parser.tree
    steps = parser.steps + parser.inlines.steps
  }

  /// The HTML in the layout of CommonMark's renderer, with only the tags and attributes listed in the README.
  public var html: String { html(pictures: []) }

  /// The HTML of a message with attachments.
  ///
  /// - Parameter pictures: the addresses of the attachments in their order. `![description](attachment:1)` shows the first; a
  ///   number without an address is text.
  public func html(pictures: [String]) -> String {
    HTMLWriter.html(of: tree, content: content, pictures: pictures)
  }

  /// The entities in text order, never nested.
  public var entities: [MarkupEntity] {
    var scalars = ScalarCount(source)
    var lines = LineMap(lines)
    return tree.entities.map { entity in
      let position = scalars.before(lines.sourcePosition(of: entity.start))
      let end = scalars.before(lines.sourcePosition(of: entity.end - 1) + 1)
      let value = entity.kind == .link ? tree.strings[entity.value] : content[entity.value]
      return MarkupEntity(
        kind: entity.kind, position: position, length: end - position, value: String(decoding: value, as: UTF8.self))
    }
  }

  /// Whether a mention, hashtag or address may start at a position of a text: not within a word.
  public static func startsWord(_ text: Span<UInt8>, at position: Int) -> Bool {
    text.startsWord(at: position, from: 0)
  }

  /// Whether the byte at a position is between two letters or digits, where it is no emphasis.
  public static func isWithinWord(_ text: Span<UInt8>, at position: Int) -> Bool {
    guard position > 0, position + 1 < text.count else { return false }
    return text.isWord(text.scalar(before: position)) && text.isWord(text.scalar(at: position + 1).scalar)
  }

  /// The text without markup, for notifications and lists: one line per line, spoilers hidden. A text over `limit`
  /// scalars is cut between two characters and ends in `…`, which counts.
  public func plainText(limit: Int = .max) -> String {
    PlainTextWriter.text(of: tree, content: content, limit: limit)
  }
}

/// The source offset of a range of the content. Between two ranges are quote and list markers or indentation.
struct SourceLine: Sendable {
  let content: Int
  let source: Int
}

/// Maps offsets in the content to offsets in the source. Queries are in ascending order, so all together visit the
/// lines once.
struct LineMap {
  private let lines: [SourceLine]
  private var current = 0

  init(_ lines: [SourceLine]) { self.lines = lines }

  mutating func sourcePosition(of offset: Int) -> Int {
    while current + 1 < lines.count, lines[current + 1].content <= offset { current += 1 }
    return lines[current].source + offset - lines[current].content
  }
}

/// Counts the scalars before an offset of UTF-8. Queries are in ascending order, so all together read the text once.
struct ScalarCount {
  private let bytes: [UInt8]
  private var offset = 0
  private var count = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func before(_ end: Int) -> Int {
    while offset < end {
      if bytes[offset] & 0xc0 != 0x80 { count += 1 }
      offset += 1
    }
    return count
  }
}
