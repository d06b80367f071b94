public import ParleyJSON
public import ParleyModel

/// A message as it is kept: with what it is found by.
public struct CachedMessage: Sendable, Hashable {
  public var held: HeldMessage
  /// A restore of the server begins another one: then nothing says how new what is held is.
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

/// By what a message is found.
public struct MessageIndex: Sendable, Hashable {
  /// When it is shown to have been said, in milliseconds since 1970.
  public var shownAt: Int64
  /// What it has: `#food`, `@7`, the types of annotations, places. Nothing of a tombstone.
  public var features: [String] = []
  /// The text as the search takes it.
  public var words = ""
  /// The name of its place, as it is shown.
  public var placeName: String?

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
      json.field("place", placeName)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(shownAt: Int64(try object.int("shown_at")))
    features = try object.read("features")
    words = try object.string("words")
    placeName = try object.optional("place")
  }
}
