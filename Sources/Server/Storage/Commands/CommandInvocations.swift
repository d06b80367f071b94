// Uses of slash commands and the replies to them, for a day.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// A use of a command with its replies.
  public func invocation(_ id: ID<CommandInvocation>) throws(Refusal) -> CommandInvocation? {
    let found = try run { connection in
      try connection.first(
        SQL("select \(CommandInvocation.columns) from command_invocation i where i.id = $1"), id.number
      ) { row in try CommandInvocation(row) }
    }
    return try withReplies(found)
  }

  /// The same by the secret of its replies; nil if the command is deleted.
  public func invocation(withDigest digest: [UInt8]) throws(Refusal) -> CommandInvocation? {
    let found = try run { connection in
      try connection.first(
        SQL(
          """
          select \(CommandInvocation.columns)
          from command_invocation i
          join command c on c.id = i.command_id and c.enabled = 1
          where i.digest = $1
          """), digest
      ) { row in try CommandInvocation(row) }
    }
    return try withReplies(found)
  }

  private func withReplies(_ invocation: CommandInvocation?) throws(Refusal) -> CommandInvocation? {
    guard var invocation else { return nil }
    invocation.replies = try run { connection in
      try connection.all(
        SQL(
          """
          select \(CommandReply.columns)
          from command_reply r
          join command_invocation i on i.id = r.invocation_id
          where r.invocation_id = $1
          order by r.id
          """), invocation.id.number
      ) { row in try CommandReply(row) }
    }
    return invocation
  }

  public func replies(_ ids: some Sequence<ID<CommandReply>>) throws(Refusal) -> [ID<CommandReply>: CommandReply] {
    var found: [ID<CommandReply>: CommandReply] = [:]
    try run { connection in
      try Self.repliesByID.each(ids.map(\.number), connection) { row in
        let reply = try CommandReply(row)
        found[reply.id] = reply
      }
    }
    return found
  }

  private static let repliesByID = ListQuery { list in
    """
    select \(CommandReply.columns)
    from command_reply r
    join command_invocation i on i.id = r.invocation_id
    where r.id in (\(list))
    """
  }

  /// The earlier reply with this `client_id`.
  public func reply(
    to invocation: ID<CommandInvocation>, _ clientID: String
  ) throws(Refusal) -> CommandReply? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(CommandReply.columns)
          from command_reply r
          join command_invocation i on i.id = r.invocation_id
          where r.invocation_id = $1 and r.client_id = $2
          """), invocation.number, clientID
      ) { row in try CommandReply(row) }
    }
  }
}

extension WriteTransaction {
  /// Stores the use of a command.
  ///
  /// - Parameter digest: of the secret that permits replies.
  public func addInvocation(
    of command: SlashCommand, by user: ID<User>, in conversation: ID<Conversation>, digest: [UInt8]
  ) throws(Refusal) -> ID<CommandInvocation> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into command_invocation (id, command_id, name, bot_id, user_id, conversation_id, digest, state, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, id, command.id.number, command.name, command.bot.number, user.number, conversation.number, digest,
        CommandInvocation.State.pending.rawValue, Int(now))
    }
    return ID(id)
  }

  /// Records the outcome of the request to the program.
  public func set(
    _ state: CommandInvocation.State, of invocation: ID<CommandInvocation>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update command_invocation set state = $1 where id = $2", state.rawValue, invocation.number)
    }
  }

  /// Stores a reply. One to the user alone is logged in the stream of the user.
  ///
  /// - Parameter message: the message of a reply to all.
  public func addReply(
    _ draft: CommandReplyDraft, to invocation: CommandInvocation, message: ID<Message>? = nil
  ) throws(Refusal) -> CommandReply {
    let reply = CommandReply(
      id: ID(nextID()), invocation: invocation.id, name: invocation.name, conversation: invocation.conversation,
      bot: invocation.bot, audience: draft.audience, text: message == nil ? draft.text : nil, message: message,
      createdAt: now)
    try run { connection in
      try connection.execute(
        """
        insert into command_reply (id, invocation_id, visible_to, text, message_id, client_id, created_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        """, reply.id.number, invocation.id.number, reply.audience.rawValue, reply.text, message?.number,
        draft.clientID, Int(now))
    }
    if message == nil {
      try log(
        .commandReplied, in: .user(invocation.user), subject: reply.id.number, revision: 0,
        actor: invocation.bot.number)
    }
    return reply
  }

  /// Deletes uses by a user and of a bot's commands, at most `limit` each. Returns whether none is left.
  func removeInvocations(of user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    let counts = try run { connection in
      try ["user_id", "bot_id"].map { column in
        try connection.execute(
          SQL(
            """
            delete from command_invocation
            where id in (
              select id
              from command_invocation
              where \(column) = $1
              limit $2
            )
            """), user.number, limit)
      }
    }
    return counts.allSatisfy { $0 < limit }
  }

  /// Deletes old uses with their replies. Returns whether more remain.
  func removeOldInvocations(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from command_invocation
        where id in (
          select id
          from command_invocation
          where created_at <= $1
          order by created_at
          limit $2
        )
        """, Int(now - CommandInvocation.maxAge), limit) == limit
    }
  }
}

extension CommandInvocation {
  fileprivate static let columns = """
    i.id, i.command_id, i.name, i.conversation_id, i.user_id, i.bot_id, i.state, i.created_at
    """

  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int("id")), command: ID(try row.int("command_id")), name: try row.text("name"),
      conversation: ID(try row.int("conversation_id")), user: ID(try row.int("user_id")),
      bot: ID(try row.int("bot_id")), state: try row.word("state"), createdAt: Int64(try row.int("created_at")))
  }
}

extension CommandReply {
  fileprivate static let columns = """
    r.id, r.invocation_id, i.name, i.conversation_id, i.bot_id, r.visible_to, r.text, r.message_id, r.created_at
    """

  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int("id")), invocation: ID(try row.int("invocation_id")), name: try row.text("name"),
      conversation: ID(try row.int("conversation_id")), bot: ID(try row.int("bot_id")),
      audience: try row.word("visible_to"), text: try row.optionalText("text"),
      message: try row.optionalInt("message_id").map { ID($0) }, createdAt: Int64(try row.int("created_at")))
  }
}
