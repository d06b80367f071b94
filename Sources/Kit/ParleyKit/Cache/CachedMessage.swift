public import ParleyJSON
public import ParleyModel

/// A stored message and its index entry.
public struct CachedMessage: Sendable, Hashable {
  public var held: HeldMessage
  /// The cache's generation. A restore of the server's backup starts a new one, in which event ids are not comparable.
  public var generation: Int
  public var index: MessageIndex

  public init(_ held: HeldMessage, generation: Int, _ index: MessageIndex) {
    self.held = held
    self.generation = generation
    self.index = index
  }

  public var message: Message { held.message }
  public var key: String { "\(message.conversation):\(message.seq)" }
}

extension CachedMessage: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("held", held)
      json.field("generation", generation)
      json.field("index", index)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("held"), generation: try object.int("generation"), try object.read("index"))
  }
}

/// The index entry of a message.
public struct MessageIndex: Sendable, Hashable {
  /// The displayed date in milliseconds since 1970.
  public var shownAt: Int64
  /// Tokens of its features: `#food`, `@7`, types of annotations, locations. Empty for a tombstone.
  public var features: [String] = []
  /// The text, normalized for search.
  public var words = ""
  /// The displayed name of its location.
  public var locationName: String?

  public init(shownAt: Int64) {
    self.shownAt = shownAt
  }
}

extension MessageIndex: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("shown_at", shownAt)
      json.field("features", features)
      json.field("words", words)
      json.field("location", locationName)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(shownAt: Int64(try object.int("shown_at")))
    features = try object.read("features")
    words = try object.string("words")
    locationName = try object.optional("location")
  }
}
