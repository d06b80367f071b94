public import ParleyJSON
public import ParleyModel

/// A stored message and its index entry.
public struct CachedMessage: Sendable, Hashable {
  /// The message with the ages of its parts.
  public var replica: ReplicaMessage
  /// The cache's generation. A restore of the server's backup starts a new one, in which event ids are not comparable.
  public var generation: Int
  /// The entry of the search index.
  public var index: MessageIndex

  /// A message with its index entry.
  public init(_ replica: ReplicaMessage, generation: Int, _ index: MessageIndex) {
    self.replica = replica
    self.generation = generation
    self.index = index
  }

  /// The message of the server.
  public var message: Message { replica.message }
  /// The key in the store, in the order of the conversation.
  public var key: String { Self.key(message.conversation, message.seq) }

  static func key(_ conversation: ID<Conversation>, _ seq: Int) -> String { "\(conversation):\(seq)" }

  static func location(ofKey key: String) -> (conversation: ID<Conversation>, seq: Int)? {
    let parts = key.split(separator: ":")
    guard parts.count == 2, let conversation = ID<Conversation>(String(parts[0])), let seq = Int(parts[1]) else {
      return nil
    }
    return (conversation, seq)
  }

  /// A hash of the stored form of messages. It changes when a type in it gains a member.
  static let form: String = {
    var content = Message.Content(text: "text", attachments: [ID(1)], sentAt: 1, edit: .init(at: 1, by: ID(1)))
    content.actions = [.init(type: "like", count: 1)]
    content.poll = Poll(PollDraft(["one", "two"], closesAt: 1))
    content.repostOf = ID(1)
    let states: [Message.State] = [
      .live(content), .deleted(.init(at: 1, by: ID(1), deletion: .moved, reason: "reason", movedTo: ID(1))),
    ]
    return Fingerprint(
      of: states.map { state in
        let message = Message(
          id: ID(2), conversation: ID(1), author: ID(1), clientID: "client", kind: .system, seq: 2, previous: ID(1),
          replyTo: ID(1), isMachineOnly: true, createdAt: 1, movedFrom: ID(1), state: state)
        return ReplicaMessage(MessageView(message, mine: ["like"], vote: [1]), asOf: 1)
      }
    ).hexadecimal
  }()
}

extension CachedMessage: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) { Self.write(replica, generation: generation, index, to: &json) }

  static func write(
    _ replica: some JSONWritable, generation: Int, _ index: MessageIndex, to json: inout JSONWriter
  ) {
    json.object { json in
      json.field("held", replica)
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

  /// An index entry without words.
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
