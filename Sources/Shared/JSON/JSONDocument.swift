/// A text and its nodes. A class, so that copying a value costs one reference count instead of two.
final class JSONDocument: Sendable {
  let text: [UInt8]
  let nodes: [JSONNode]

  init(_ text: [UInt8], depth: Int) throws(JSONError) {
    self.text = text
    nodes = try JSONReader.nodes(of: text, depth: depth)
  }
}
