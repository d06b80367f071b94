public import ParleyModel
import ParleySQLite

/// A conversation request: a conversation started by an unknown user, from the view of its recipient.
public struct ConversationRequest: Sendable, Hashable {
  public let isWaiting: Bool
  /// A declined request stays pending, and its conversation is closed.
  public let isRefused: Bool
  public let from: ID<User>
  public let kind: Conversation.Kind
}

extension ReadTransaction {
  /// The request of a participant; nil if the user is not a participant.
  public func request(
    of user: ID<User>, in conversation: ID<Conversation>
  ) throws(Refusal) -> ConversationRequest? {
    try run { connection in
      try connection.first(
        """
        select p.request, c.state = 'inactive', c.created_by, c.kind
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.conversation_id = $1 and p.user_id = $2 and c.state in ('open', 'inactive')
        """, conversation.number, user.number
      ) { row in
        ConversationRequest(
          isWaiting: try row.bool(0), isRefused: try row.bool(1), from: ID(try row.int(2)), kind: try row.word(3))
      }
    }
  }
}

extension WriteTransaction {
  /// Accepts a request, also after it was declined. A group whose admins have left gets an admin.
  public func takeRequest(
    of conversation: ID<Conversation>, by user: ID<User>, from other: ID<User>, wasRefused: Bool
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update participant
        set request = 0
        where conversation_id = $1 and user_id = $2
        """, conversation.number, user.number)
    }
    try log(.relationChanged, in: .user(user), subject: other.number, revision: 0, actor: user.number)
    if wasRefused { try setRefused(false, conversation, by: user) }
    guard let found = try self.conversation(conversation), found.kind.isJoined else { return }
    try promoteNextAdmin(of: found, by: user)
  }

  /// Declines a request. The conversation is closed and hidden until the recipient accepts it.
  public func refuseRequest(
    of conversation: ID<Conversation>, by user: ID<User>, from other: ID<User>
  ) throws(Refusal) {
    try log(.relationChanged, in: .user(user), subject: other.number, revision: 0, actor: user.number)
    try setRefused(true, conversation, by: user)
  }

  private func setRefused(
    _ isRefused: Bool, _ conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    let revision = try run { connection in
      try connection.first(
        """
        update conversation
        set state = $1, revision = revision + 1
        where id = $2
        returning revision
        """, isRefused ? "inactive" : "open", conversation.number
      ) { row in try row.int(0) } ?? 0
    }
    let kind: Event.Kind = isRefused ? .conversationRemoved : .conversationCreated
    try log(
      kind, in: .conversation(conversation), subject: conversation.number, revision: revision, actor: actor.number)
    for participant in try participants(of: conversation, ListSlice(limit: 2)) {
      try logToUser(kind, of: conversation, to: participant.user, by: actor)
    }
  }
}
