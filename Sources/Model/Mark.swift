public import JSON

/// How far a person has come in a conversation, by `seq`. What was read was delivered, too.
public struct Mark: Sendable, Hashable {
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
  public func moved(_ kind: Kind, to seq: Int) -> Mark {
    Mark(readSeq: kind == .read ? max(readSeq, seq) : readSeq, deliveredSeq: max(deliveredSeq, seq))
  }
}

/// A mark after it was set, with what it leaves unread.
public struct MarkedConversation: Sendable, Hashable {
  public var conversation: ID<Conversation>
  public var mark: Mark
  public var unread: Int

  public init(_ conversation: ID<Conversation>, _ mark: Mark, unread: Int) {
    self.conversation = conversation
    self.mark = mark
    self.unread = unread
  }
}

extension MarkedConversation: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation_id", conversation)
      json.field("read_up_to", mark.readSeq)
      json.field("delivered_up_to", mark.deliveredSeq)
      json.field("unread_count", unread)
    }
  }
}
