// Slash commands with their sealed secrets.

public import ParleyModel
import ParleySQLite

/// A new slash command. Its secret is sealed.
public struct NewStoredCommand: Sendable {
  public let draft: SlashCommandDraft
  public let owner: ID<User>
  public let secret: [UInt8]
  /// The token that makes the request.
  public let token: ID<Session>?
  /// The origin of the site in the request.
  public let origin: String

  public init(
    _ draft: SlashCommandDraft, owner: ID<User>, secret: [UInt8], token: ID<Session>?, origin: String
  ) {
    self.draft = draft
    self.origin = origin
    self.owner = owner
    self.secret = secret
    self.token = token
  }
}

/// An enabled command with the standing of its owner and of its bot.
public struct StoredCommand: Sendable, Hashable {
  public let command: SlashCommand
  /// Sealed: the secret, and the one before while it is valid.
  public let secrets: [[UInt8]]
  public let ownerRole: Role
  public let ownerState: UserState
  public let botRole: Role
  public let botState: UserState
  /// The origin of the site in the request that made or last changed it.
  public let origin: String
}

extension ReadTransaction {
  public func command(_ id: ID<SlashCommand>) throws(Refusal) -> SlashCommand? {
    try run { connection in
      try connection.first(SQL("select \(SlashCommand.columns) from command c where c.id = $1"), id.number) { row in
        try SlashCommand(row, now: now)
      }
    }
  }

  /// Commands in the order of their creation.
  public func commands(_ slice: ListSlice) throws(Refusal) -> [SlashCommand] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(SlashCommand.columns)
          from command c
          where c.id \(page.comparison) $1
          order by c.id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try SlashCommand(row, now: now) }
    }
  }

  /// The enabled commands by name.
  public func enabledCommands(limit: Int) throws(Refusal) -> [StoredCommand] {
    try run { connection in
      try connection.all(
        SQL("\(StoredCommand.query) where c.enabled = 1 order by c.name limit $1"), limit
      ) { row in try StoredCommand(row, now: now) }
    }
  }

  public func enabledCommand(named name: String) throws(Refusal) -> StoredCommand? {
    try run { connection in
      try connection.first(SQL("\(StoredCommand.query) where c.name = $1 and c.enabled = 1"), name) { row in
        try StoredCommand(row, now: now)
      }
    }
  }

  public func hasCommand(named name: String) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from command where name = $1", name) { _ in true } ?? false
    }
  }

  public func commandCount() throws(Refusal) -> Int {
    try run { connection in try connection.first("select count(*) from command") { row in try row.int(0) } ?? 0 }
  }
}

extension WriteTransaction {
  public func add(_ new: NewStoredCommand) throws(Refusal) -> ID<SlashCommand> {
    let id = ID<SlashCommand>(nextID())
    let draft = new.draft
    try run { connection in
      try connection.execute(
        """
        insert into command (id, name, description, usage, bot_id, url, origin, secret, owner_id, token_id, enabled,
          is_limited, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $12)
        """, id.number, draft.name, draft.description, draft.usage, draft.bot.number, draft.url, new.origin,
        new.secret, new.owner.number, new.token?.number, draft.forums != nil, Int(now))
    }
    try add(draft.forums ?? [], to: id)
    return id
  }

  /// Stores name, description, usage, bot, URL and forums.
  ///
  /// - Parameter origin: the origin of the site in the request.
  public func set(_ command: SlashCommand, origin: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update command
        set name = $1, description = $2, usage = $3, bot_id = $4, url = $5, origin = $6, is_limited = $7,
          revision = revision + 1
        where id = $8
        """, command.name, command.description, command.usage, command.bot.number, command.url, origin,
        command.forums != nil, command.id.number)
      try connection.execute("delete from command_forum where command_id = $1", command.id.number)
    }
    try add(command.forums ?? [], to: command.id)
  }

  private func add(_ forums: [ID<Forum>], to command: ID<SlashCommand>) throws(Refusal) {
    for forum in forums {
      try run { connection in
        try connection.execute(
          "insert into command_forum (command_id, forum_id) values ($1, $2)", command.number, forum.number)
      }
    }
  }

  /// Records the token of a change that sends texts elsewhere. The command ends with this token.
  public func setToken(_ token: ID<Session>?, of command: ID<SlashCommand>) throws(Refusal) {
    try run { connection in
      try connection.execute("update command set token_id = $1 where id = $2", token?.number, command.number)
    }
  }

  public func enable(_ command: ID<SlashCommand>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update command
        set enabled = 1, disabled_reason = null, revision = revision + 1
        where id = $1 and enabled = 0
        """, command.number)
    }
  }

  /// Disables a command. Returns whether it was enabled.
  @discardableResult
  public func disable(_ command: ID<SlashCommand>, _ reason: SlashCommand.DisabledReason) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update command
        set enabled = 0, disabled_reason = $1, revision = revision + 1
        where id = $2 and enabled = 1
        """, reason.rawValue, command.number) > 0
    }
  }

  /// Disables the commands of a user that no longer may have any.
  func disableCommands(of owner: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update command
        set enabled = 0, disabled_reason = $1, revision = revision + 1
        where owner_id = $2 and enabled = 1
        """, SlashCommand.DisabledReason.ownerInactive.rawValue, owner.number)
    }
  }

  /// Disables the commands that ended tokens have made.
  func disableCommands(ofTokens tokens: [ID<Session>]) throws(Refusal) {
    for token in tokens {
      let commands = try run { connection in
        try connection.all("update command set token_id = null where token_id = $1 returning id", token.number) {
          row in ID<SlashCommand>(try row.int(0))
        }
      }
      for command in commands { try disable(command, .tokenRevoked) }
    }
  }

  /// Replaces the secret. The earlier one signs, too, for 24 hours.
  public func renewSecret(of command: ID<SlashCommand>, sealed secret: [UInt8]) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update command
        set previous_secret = secret, previous_until = $1, secret = $2, revision = revision + 1
        where id = $3
        """, Int(now + Self.previousSecretTime), secret, command.number)
    }
  }

  /// Removes secrets after their time. Returns whether more may remain.
  func removePreviousCommandSecrets(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update command
        set previous_secret = null, previous_until = null
        where id in (
          select id
          from command
          where previous_until <= $1
          order by previous_until
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }

  public func delete(_ command: ID<SlashCommand>) throws(Refusal) {
    try run { connection in try connection.execute("delete from command where id = $1", command.number) }
  }

  /// Deletes the commands of a departing bot.
  func deleteCommands(ofBot bot: ID<User>) throws(Refusal) {
    try run { connection in try connection.execute("delete from command where bot_id = $1", bot.number) }
  }
}

extension StoredCommand {
  fileprivate static let query = """
    select \(SlashCommand.columns), c.secret, c.previous_secret, c.origin, o.role as owner_role, o.state as owner_state,
      b.role as bot_role, b.state as bot_state
    from command c
    join account o on o.id = c.owner_id
    join account b on b.id = c.bot_id
    """

  fileprivate init(_ row: borrowing Row, now: Int64) throws {
    command = try SlashCommand(row, now: now)
    secrets = try row.secrets(hasPrevious: command.previousSecretUntil != nil)
    ownerRole = try row.word("owner_role")
    ownerState = try row.word("owner_state")
    botRole = try row.word("bot_role")
    botState = try row.word("bot_state")
    origin = try row.text("origin")
  }
}

extension SlashCommand {
  fileprivate static let columns = """
    c.id, c.name, c.description, c.usage, c.bot_id, c.url, c.enabled, c.disabled_reason, c.owner_id, c.created_at,
    c.previous_until, c.revision, c.is_limited, (
      select group_concat(f.forum_id)
      from command_forum f
      where f.command_id = c.id
    ) as forums
    """

  fileprivate init(_ row: borrowing Row, now: Int64) throws {
    let forums = try row.optionalText("forums") ?? ""
    let reason = try row.optionalText("disabled_reason")
    let previous = try row.optionalInt("previous_until").map { Int64($0) }
    self.init(
      id: ID(try row.int("id")), name: try row.text("name"), description: try row.text("description"),
      usage: try row.text("usage"), bot: ID(try row.int("bot_id")), url: try row.text("url"),
      forums: try row.bool("is_limited") ? forums.split(separator: ",").compactMap { ID(String($0)) }.sorted() : nil,
      isEnabled: try row.bool("enabled"), disabledReason: reason.flatMap { DisabledReason(rawValue: $0) },
      owner: ID(try row.int("owner_id")), createdAt: Int64(try row.int("created_at")),
      previousSecretUntil: previous.flatMap { $0 > now ? $0 : nil }, revision: try row.int("revision"))
  }
}
