public import ParleyJSON

/// The last read post of a user's timeline. It never moves back.
public struct TimelinePosition: Sendable, Hashable {
  /// Nil before the first use.
  public var message: ID<Message>?
  /// Milliseconds since 1970: when the position moved.
  public var readAt: Int64?
  /// The number of later posts by others, up to `maxUnread`; nil in events and after a move.
  public var unread: Int?

  /// Upper bound of `unread`.
  public static let maxUnread = 100

  /// A position in the timeline; by default that before the first use.
  public init(message: ID<Message>? = nil, readAt: Int64? = nil, unread: Int? = nil) {
    self.message = message
    self.readAt = readAt
    self.unread = unread
  }
}

extension TimelinePosition: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      message: try object.optional("message_id"), readAt: try object.time("read_at"),
      unread: try object.optional("unread_count"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message_id", message)
      json.field("read_at", readAt.map { Timestamp($0) })
      if let unread { json.field("unread_count", unread) }
    }
  }
}
