/// A text of the profile in the README, read once. Every text is one: what is no mark is text.
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
  /// How many bytes were looked at, again and again ones included. What the tests hold to the length of the text.
  let steps: Int

  public init(_ text: String) {
    var parser = BlockParser(source: Array(text.utf8))
    parser.parse()
    source = parser.source
    content = parser.content
    lines = parser.lines
    tree = parser.tree
    steps = parser.steps + parser.inlines.steps
  }

  /// Block by block as CommonMark's own renderer writes it. It holds only the tags and attributes that the README lists.
  public var html: String {
    HTMLWriter.html(of: tree, content: content)
  }

  /// In the order of the text, and never one inside another.
  public var entities: [MarkupEntity] {
    var scalars = ScalarCount(source)
    var lines = LineMap(lines)
    return tree.entities.map { entity in
      let position = scalars.before(lines.sourcePlace(of: entity.start))
      let end = scalars.before(lines.sourcePlace(of: entity.end - 1) + 1)
      let value = entity.kind == .link ? tree.strings[entity.value] : content[entity.value]
      return MarkupEntity(
        kind: entity.kind, position: position, length: end - position, value: String(decoding: value, as: UTF8.self))
    }
  }

  /// Without marks, for notifications and lists: one line a line, spoilers covered. Over `limit` scalars it is cut between
  /// two characters and ends in `…`, which counts.
  public func plainText(limit: Int = .max) -> String {
    PlainTextWriter.text(of: tree, content: content, limit: limit)
  }
}
