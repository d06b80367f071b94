public import ParleyJSON

/// How far a user has come in a conversation, by `seq`. What was read was delivered, too.
public struct ReadPosition: Sendable, Hashable {
  public var readSeq: Int
  public var deliveredSeq: Int

  public init(readSeq: Int = 0, deliveredSeq: Int = 0) {
    self.readSeq = readSeq
    self.deliveredSeq = deliveredSeq
  }

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A device has it.
    case delivered
    case read
  }

  /// Never further back.
  public func moved(_ kind: Kind, to seq: Int) -> ReadPosition {
    ReadPosition(readSeq: kind == .read ? max(readSeq, seq) : readSeq, deliveredSeq: max(deliveredSeq, seq))
  }
}

/// A readPosition after it was set, with what it leaves unread.
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
  /// Into an object that says whose it is, and where.
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
