/// The kinds of RFC 8259 §3. The raw values are stable.
public enum JSONKind: String, Hashable, Sendable {
  case object, array, string, number, bool, null
}

/// One value or key, as a range of the text. Nodes are ordered by their start: an object is followed by its first key,
/// the key's value, that value's own members, the next key.
struct JSONNode {
  let start: UInt32
  /// One past the last byte, quotes and brackets included.
  var end: UInt32
  /// The node after this one and its content. For an open container: the enclosing container.
  var next: UInt32
  let token: Token

  enum Token {
    case object, array, string, escapedString, number, `true`, `false`, null
  }

  var kind: JSONKind {
    switch token {
    case .object: .object
    case .array: .array
    case .string, .escapedString: .string
    case .number: .number
    case .true, .false: .bool
    case .null: .null
    }
  }

  var range: Range<Int> { Int(start)..<Int(end) }

  /// The range of a string without its quotes.
  var contents: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

/// A text and its nodes. A class, so that copying a value costs one reference count instead of two.
final class JSONDocument: Sendable {
  let text: [UInt8]
  let nodes: [JSONNode]
  /// Whether an optional member may be `null`.
  let nullIsAbsent: Bool

  init(_ text: [UInt8], depth: Int, nullIsAbsent: Bool) throws(JSONError) {
    self.text = text
    self.nullIsAbsent = nullIsAbsent
    nodes = try JSONReader.nodes(of: text, depth: depth)
  }
}
