/// The kinds of RFC 8259 §3. The raw values are stable.
public enum JSONKind: String, Hashable, Sendable {
  /// The types of JSON values.
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
    /// Every reader accepts it: see `JSONFaults`.
    case wildcard
  }

  var kind: JSONKind {
    switch token {
    case .object: .object
    case .array: .array
    case .string, .escapedString, .wildcard: .string
    case .number: .number
    case .true, .false: .bool
    case .null: .null
    }
  }

  var range: Range<Int> { Int(start)..<Int(end) }

  static func wildcard(at index: Int) -> JSONNode {
    JSONNode(start: 0, end: 0, next: UInt32(index + 1), token: .wildcard)
  }

  /// The range of a string without its quotes.
  var contents: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

/// A text and its nodes. A class, so that copying a value costs one reference count instead of two.
final class JSONDocument: Sendable {
  let text: [UInt8]
  let nodes: [JSONNode]
  /// Whether an optional member may be `null`.
  let nullIsAbsent: Bool
  /// Nil if the first error ends the reading.
  let faults: JSONFaults?

  init(_ text: [UInt8], depth: Int, nullIsAbsent: Bool, collecting faults: JSONFaults?) throws(JSONError) {
    self.text = text
    self.nullIsAbsent = nullIsAbsent
    self.faults = faults
    var nodes = try JSONReader.nodes(of: text, depth: depth)
    if faults != nil { nodes.append(.wildcard(at: nodes.count)) }
    self.nodes = nodes
  }
}
