public import ParleyJSON

/// A user's position in a conversation, by `seq`. Read includes delivered.
public struct ReadPosition: Sendable, Hashable {
  public var readSeq: Int
  public var deliveredSeq: Int

  public init(readSeq: Int = 0, deliveredSeq: Int = 0) {
    self.readSeq = readSeq
    self.deliveredSeq = deliveredSeq
  }

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Received by a device.
    case delivered
    case read
  }

  /// The position moved forward; never backward.
  public func moved(_ kind: Kind, to seq: Int) -> ReadPosition {
    ReadPosition(readSeq: kind == .read ? max(readSeq, seq) : readSeq, deliveredSeq: max(deliveredSeq, seq))
  }
}

/// Read position after an update, with the remaining unread count.
public struct ReadConversation: Sendable, Hashable {
  public var conversation: ID<Conversation>
  public var readPosition: ReadPosition
  public var unread: Int

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
