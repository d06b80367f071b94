public import ParleyJSON

/// A tag of a forum's topics.
public struct ForumTag: Sendable, Hashable {
  /// A hashtag without its sign, in lower case.
  public let tag: String
  /// The number of topics with it.
  public let count: Int

  /// Tags of a list of the most used ones.
  public static let maxListed = 10

  /// A tag with the number of its topics, at least 1.
  public init(_ tag: String, count: Int) {
    self.tag = tag
    self.count = count
  }
}

extension ForumTag: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("tag", tag)
      json.field("count", count)
    }
  }
}

extension ForumTag: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("tag"), count: try object.int("count", in: 1...Int.max))
  }
}
