public import ParleyJSON

/// A user's position in a conversation, by `seq`. Read includes delivered.
public struct ReadPosition: Sendable, Hashable {
  /// The last `seq` that the user has read; 0 for none.
  public var readSeq: Int
  /// The last `seq` delivered to a device of the user; 0 for none.
  public var deliveredSeq: Int

  /// A position; by default that of a user without read or delivered messages.
  public init(readSeq: Int = 0, deliveredSeq: Int = 0) {
    self.readSeq = readSeq
    self.deliveredSeq = deliveredSeq
  }

  /// The two kinds of receipts that move a position.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Received by a device.
    case delivered
    /// Read by the user, which includes its delivery.
    case read
  }

  /// The position moved forward; never backward.
  public func moved(_ kind: Kind, to seq: Int) -> ReadPosition {
    ReadPosition(readSeq: kind == .read ? max(readSeq, seq) : readSeq, deliveredSeq: max(deliveredSeq, seq))
  }
}

/// Read position after an update, with the remaining unread count.
public struct ReadConversation: Sendable, Hashable {
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// The position after the update.
  public var readPosition: ReadPosition
  /// The number of messages still unread, at most `ConversationHead.maxUnread`.
  public var unread: Int

  /// The new position of a user in a conversation.
  public init(_ conversation: ID<Conversation>, _ readPosition: ReadPosition, unread: Int) {
    self.conversation = conversation
    self.readPosition = readPosition
    self.unread = unread
  }
}

extension ReadConversation: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation_id", conversation)
      readPosition.writeMembers(to: &json)
      json.field("unread_count", unread)
    }
  }
}

extension ReadPosition {
  /// Writes the members into an object that has the conversation and user ids.
  func writeMembers(to json: inout JSONWriter) {
    json.field("read_up_to", readSeq)
    json.field("delivered_up_to", deliveredSeq)
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      readSeq: try object.int("read_up_to", in: 0...Int.max),
      deliveredSeq: try object.int("delivered_up_to", in: 0...Int.max))
  }
}
