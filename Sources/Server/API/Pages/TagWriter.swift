/// Writes HTML or XML. Text and attribute values are escaped. Tags and attribute names are literals of the program, so
/// user content can add neither.
///
///     var html = TagWriter()
///     html.tag("p", ["class": "lead"]) { html in
///       html.text("Posted by ")
///       html.tag("a", ["href": address], author.name)
///     }
struct TagWriter: Sendable {
  enum Form {
    case html, xml
  }

  /// Attributes with the value nil are omitted.
  typealias Attributes = KeyValuePairs<StaticString, String?>

  private(set) var bytes: [UInt8] = []
  private let form: Form
  /// The texts of the page.
  let words: PageText

  init(_ form: Form = .html, words: PageText = .none) {
    self.form = form
    self.words = words
  }

  mutating func tag(
    _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout TagWriter) -> Void
  ) {
    open(name, attributes)
    append(">")
    content(&self)
    append("</\(name)>")
  }

  mutating func tag(_ name: StaticString, _ attributes: Attributes = [:], _ text: String) {
    tag(name, attributes) { $0.text(text) }
  }

  /// An element without content, such as `img`.
  mutating func void(_ name: StaticString, _ attributes: Attributes = [:]) {
    open(name, attributes)
    append(form == .xml ? "/>" : ">")
  }

  mutating func text(_ text: String) {
    for byte in text.utf8 { append(escaped: byte) }
    repairNoncharacters(ofLast: text.utf8.count)
  }

  /// Appends the output of a writer that escapes by itself: `MarkupDocument`, `Picture` or `JSONWriter`.
  mutating func trusted(_ markup: some Sequence<UInt8>) { bytes.append(contentsOf: markup) }

  mutating func trusted(_ markup: String) { trusted(markup.utf8) }

  /// The first line of a document.
  mutating func declaration() {
    append(form == .xml ? "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n" : "<!doctype html>\n")
  }

  private mutating func open(_ name: StaticString, _ attributes: Attributes) {
    append("<\(name)")
    for (name, value) in attributes {
      guard let value else { continue }
      append(" \(name)=\"")
      text(value)
      append("\"")
    }
  }

  private mutating func append(_ literal: String) { bytes.append(contentsOf: literal.utf8) }

  /// XML 1.0 §2.2 and the HTML parser allow no control characters but tab and line ends.
  private mutating func append(escaped byte: UInt8) {
    switch byte {
    case UInt8(ascii: "&"): append("&amp;")
    case UInt8(ascii: "<"): append("&lt;")
    case UInt8(ascii: ">"): append("&gt;")
    case UInt8(ascii: "\""): append("&quot;")
    case UInt8(ascii: "'"): append("&#39;")
    case 0x09, 0x0a, 0x20...0x7e, 0x80...0xff: bytes.append(byte)
    default: append("\u{fffd}")
    }
  }

  /// U+FFFE and U+FFFF are the only other characters below U+10000 that XML refuses.
  private mutating func repairNoncharacters(ofLast count: Int) {
    var index = bytes.count - 1
    while index >= 2, bytes.count - index <= count {
      if bytes[index] >= 0xbe, bytes[index] <= 0xbf, bytes[index - 1] == 0xbf, bytes[index - 2] == 0xef {
        bytes[index] = 0xbd
      }
      index -= 1
    }
  }
}
