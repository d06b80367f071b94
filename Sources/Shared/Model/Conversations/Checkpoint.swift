public import ParleyJSON

/// A signed statement of a site about the history of a conversation: the hash of an entry of its chain. One signature covers several
/// checkpoints, whose Merkle tree (as of RFC 9162) has it over its root.
public struct Checkpoint: Sendable, Hashable {
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// The number of entries of the chain, of which the last has the hash.
  public var position: Int
  /// The SHA-256 of the last entry, in hex.
  public var hash: String
  /// The time of the signature, in milliseconds since 1970.
  public var signedAt: Int64
  /// The neighbors on the way from the leaf of this checkpoint to the root of the tree.
  public var path: [Neighbor]
  /// The public half of the site's key, in hex.
  public var key: String
  /// The signature with Ed25519, in hex.
  public var signature: String

  /// A signed checkpoint.
  public init(
    conversation: ID<Conversation>, position: Int, hash: String, signedAt: Int64, path: [Neighbor], key: String,
    signature: String
  ) {
    self.conversation = conversation
    self.position = position
    self.hash = hash
    self.signedAt = signedAt
    self.path = path
    self.key = key
    self.signature = signature
  }

  /// A node of the tree that is needed to compute its root.
  public struct Neighbor: Sendable, Hashable {
    /// The side of a node in its pair.
    public enum Side: String, Sendable {
      /// The node is the first of its pair.
      case left
      /// The node is the second of its pair.
      case right
    }

    /// Its side.
    public var side: Side
    /// Its SHA-256, in hex.
    public var hash: String

    /// A node at one side.
    public init(_ side: Side, hash: String) {
      self.side = side
      self.hash = hash
    }
  }
}

extension Checkpoint: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation_id", conversation)
      json.field("position", position)
      json.field("hash", hash)
      json.field("signed_at", Timestamp(signedAt))
      json.field("path", path)
      json.field("key", key)
      json.field("signature", signature)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let signedAt: Timestamp = try object.read("signed_at")
    self.init(
      conversation: try object.read("conversation_id"), position: try object.int("position", in: 0...Int.max),
      hash: try object.string("hash"), signedAt: Int64(signedAt.milliseconds), path: try object.read("path"),
      key: try object.string("key"), signature: try object.string("signature"))
  }
}

extension Checkpoint.Neighbor: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("side", side.rawValue)
      json.field("hash", hash)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    guard let side = Side(rawValue: try object.string("side")) else { throw value.error(.invalid) }
    self.init(side, hash: try object.string("hash"))
  }
}
