public import ParleyJSON

/// Something that waits for one user: who wants what of them, and where. It holds no text.
public struct Notification: Sendable, Hashable {
  public let id: ID<Notification>
  public let kind: Kind
  public let conversation: ID<Conversation>?
  /// What it is about; nil for what is no message.
  public let message: ID<Message>?
  public let report: ID<Report>?
  public let sanction: ID<Sanction>?
  /// Whose doing it is.
  public let actor: ID<User>?
  public let createdAt: Int64
  public let readAt: Int64?

  /// Why it is there.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case mention, reply
    /// Written in a conversation of two.
    case direct
    /// Everyone in the forum was called.
    case room
    /// Somebody whom the user does not know wants to talk.
    case request
    /// For those who keep order.
    case report
    /// By those who keep order; the reason stands in the sanction.
    case warning
  }

  public init(
    id: ID<Notification>, kind: Kind, conversation: ID<Conversation>? = nil, message: ID<Message>? = nil,
    report: ID<Report>? = nil, sanction: ID<Sanction>? = nil, actor: ID<User>? = nil, createdAt: Int64,
    readAt: Int64? = nil
  ) {
    self.id = id
    self.kind = kind
    self.conversation = conversation
    self.message = message
    self.report = report
    self.sanction = sanction
    self.actor = actor
    self.createdAt = createdAt
    self.readAt = readAt
  }
}

extension Notification: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// For an answer that says more beside them.
  public func writeFields(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("kind", kind.rawValue)
    json.field("conversation_id", conversation)
    json.field("message_id", message)
    json.field("report_id", report)
    json.field("sanction_id", sanction)
    json.field("actor_id", actor)
    json.field("created_at", Timestamp(createdAt))
    json.field("read_at", readAt.map { Timestamp($0) })
  }
}

extension Notification: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    let readAt: Timestamp? = try object.optional("read_at")
    self.init(
      id: try object.read("id"), kind: try object.word("kind"), conversation: try object.optional("conversation_id"),
      message: try object.optional("message_id"), report: try object.optional("report_id"),
      sanction: try object.optional("sanction_id"), actor: try object.optional("actor_id"),
      createdAt: Int64(createdAt.milliseconds), readAt: readAt.map { Int64($0.milliseconds) })
  }
}

/// How much of each kind has not been read.
public struct InboxCounts: Sendable, Hashable {
  /// Of all kinds together nobody counts further than this, from the newest on.
  public static let most = 1_000

  public private(set) var counts: [Notification.Kind: Int] = [:]

  public init() {}

  public mutating func add(_ kind: Notification.Kind) { counts[kind, default: 0] += 1 }
}

extension InboxCounts: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    for kind in Notification.Kind.allCases {
      let count = try object.int(kind.rawValue, in: 0...Int.max)
      if count > 0 { counts[kind] = count }
    }
  }
}

extension InboxCounts: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      for kind in Notification.Kind.allCases { json.field(kind.rawValue, counts[kind] ?? 0) }
      json.field("all", counts.values.reduce(0, +))
    }
  }
}
