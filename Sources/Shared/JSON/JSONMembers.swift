/// Value that is an object of its own, or a part of a larger one.
public protocol JSONMembers: JSONReadable, JSONWritable {
  /// Ignores unknown members: a newer server may send more.
  init(_ object: inout JSONObject) throws(JSONError)

  /// Writes the members into an open object.
  func writeMembers(to json: inout JSONWriter)
}

extension JSONMembers {
  @inlinable public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try self.init(&object)
  }

  @inlinable public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }
}
