public import ParleyJSON

/// A conversation as the caller sees it: visitors get no members of `OwnConversation`.
public enum ConversationView: Sendable {
  case forVisitor(Conversation)
  case forUser(OwnConversation)

  /// ETag of the view. Every change in a conversation raises the offset of its stream.
  public var tag: String {
    switch self {
    case .forVisitor(let seen): return "\(seen.revision)-\(seen.lastSeq)-\(seen.participantCount ?? 0)"
    case .forUser(let own):
      let positions = "\(own.readSeq)-\(own.deliveredSeq)-\(own.level.rawValue)"
      let part = own.participation.map { "-\($0.fromSeq)\($0.isRequest ? "-request" : "")" } ?? ""
      return "\(own.conversation.revision)-\(own.lastOffset)-\(positions)\(part)"
    }
  }
}

extension ConversationView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    switch self {
    case .forVisitor(let conversation): json.value(conversation)
    case .forUser(let own): json.value(own)
    }
  }
}
