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
