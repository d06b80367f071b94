// Actions of users on messages: likes, stars, reposts, reactions, pins. A star is private: its events go to the stream
// of its owner, no message counts it, and only the owner can read the row, unless the owner shows stars.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Returns whether the action is new.
  ///
  /// - Parameter time: that of an imported action.
  public func add(
    _ type: ActionType, to message: ID<Message>, in conversation: ID<Conversation>, by user: ID<User>,
    at time: Int64? = nil
  ) throws(Refusal) -> Bool {
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into action (message_id, type, user_id, created_at, message_at)
        select id, $1, $2, $3, created_at
        from message
        where id = $4
        on conflict (message_id, type, user_id) do nothing
        """, type.name, user.number, Int(time ?? now), message.number) == 1
    }
    if isNew { try log(.actionAdded, type, message, conversation, user) }
    return isNew
  }

  /// Returns whether the action was set.
  public func remove(
    _ type: ActionType, from message: ID<Message>, in conversation: ID<Conversation>, by user: ID<User>
  ) throws(Refusal) -> Bool {
    let isGone = try run { connection in
      try connection.execute(
        """
        delete from action
        where message_id = $1 and type = $2 and user_id = $3
        """, message.number, type.name, user.number) == 1
    }
    if isGone { try log(.actionRemoved, type, message, conversation, user) }
    return isGone
  }

  /// Deletes the reposts of a post by a user.
  public func deleteReposts(of message: ID<Message>, by user: ID<User>) throws(Refusal) {
    let reposts = try run { connection in
      try connection.all(
        """
        select id
        from message
        where repost_of = $1 and author_id = $2
        """, message.number, user.number
      ) { row in ID<Message>(try row.int(0)) }
    }
    for repost in reposts { try delete(repost, by: user) }
  }

  /// Removes an action regardless of its author. A message has one pin, and every moderator may remove it.
  public func removeAll(
    _ type: ActionType, from message: ID<Message>, in conversation: ID<Conversation>, by user: ID<User>
  ) throws(Refusal) {
    let count = try run { connection in
      try connection.execute(
        """
        delete from action
        where message_id = $1 and type = $2
        """, message.number, type.name)
    }
    if count > 0 { try log(.actionRemoved, type, message, conversation, user) }
  }

  private func log(
    _ kind: Event.Kind, _ type: ActionType, _ message: ID<Message>, _ conversation: ID<Conversation>,
    _ user: ID<User>
  ) throws(Refusal) {
    let stream: EventStream = type.reach == .personal ? .user(user) : .conversation(conversation)
    try log(kind, in: stream, subject: message.number, revision: 0, actor: user.number)
  }
}

extension ReadTransaction {
  /// Number of distinct public action types on a message, and of all actions of this user on it.
  public func actionCounts(
    of message: ID<Message>, _ user: ID<User>
  ) throws(Refusal) -> (types: Int, own: Int) {
    try run { connection in
      let types = try connection.first(
        """
        select count(*)
        from (
          select 1
          from action
          where message_id = $1 and type <> 'star'
          group by type
        ) as public
        """, message.number
      ) { row in try row.int(0) }
      let own = try connection.first(
        """
        select count(*)
        from action
        where message_id = $1 and user_id = $2
        """, message.number, user.number
      ) { row in try row.int(0) }
      return (types ?? 0, own ?? 0)
    }
  }

  public func hasAction(_ type: ActionType, _ message: ID<Message>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from action
        where message_id = $1 and type = $2
        limit 1
        """, message.number, type.name
      ) { _ in true } ?? false
    }
  }

  /// The user's actions on each of these messages.
  public func actions(
    of user: ID<User>, on messages: [ID<Message>]
  ) throws(Refusal) -> [ID<Message>: Set<String>] {
    var found: [ID<Message>: Set<String>] = [:]
    try run { connection in
      try Self.ownActions.each(messages.map(\.number), and: user.number, connection) { row in
        found[ID(try row.int(0)), default: []].insert(try row.text(1))
      }
    }
    return found
  }

  private static let ownActions = ListQuery { list, user in
    """
    select message_id, type
    from action
    where message_id in (\(list)) and user_id = \(user)
    """
  }

  /// The actions on a message, by type and user: the public ones and the viewer's own.
  ///
  /// - Parameter seesStars: adds the stars of users that show them.
  public func actions(
    on message: ID<Message>, type: String? = nil, viewer: ID<User>?, seesStars: Bool, _ slice: ListSlice
  ) throws(Refusal) -> [MessageAction] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select type, user_id, created_at
          from action
          where message_id = $1 and (type, user_id) \(page.comparison) ($2, $3) and ($4 is null or type = $4)
          and (type <> 'star' or user_id = $5 or $6 and exists (
            select 1
            from account a
            where a.id = action.user_id and a.shows_stars = 1 and a.state = 'active'
          ))
          order by type \(page.order), user_id \(page.order)
          limit $7
          """), message.number, slice.key == nil ? type ?? page.text : page.text, page.number(), type, viewer?.number,
        seesStars, slice.limit
      ) { row in MessageAction(type: try row.text(0), user: ID(try row.int(1)), at: Int64(try row.int(2))) }
    }
  }

  /// The messages with this action of the user, newest message first, with their positions.
  public func marked(
    _ type: String, by user: ID<User>, _ slice: ListSlice
  ) throws(Refusal) -> [(message: DatedMessage, position: MessagePosition)] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select a.message_at, m.id, m.conversation_id, m.seq
          from action a
          join message m on m.id = a.message_id
          where a.user_id = $1 and a.type = $2 and (a.message_at, a.message_id) \(page.comparison) ($3, $4)
          order by a.message_at \(page.order), a.message_id \(page.order)
          limit $5
          """), user.number, type, page.number(), page.number(1), slice.limit
      ) { row in
        (
          message: DatedMessage(time: try row.int(0), message: ID(try row.int(1))),
          position: MessagePosition(conversation: ID(try row.int(2)), seq: try row.int(3))
        )
      }
    }
  }
}
