// Incoming webhooks. Name, picture and owner are those of the bot.

public import ParleyModel
import ParleySQLite

/// A new webhook. Only the digest of its secret is stored.
public struct NewStoredWebhook: Sendable {
  public let conversation: ID<Conversation>
  public let bot: ID<User>
  public let digest: [UInt8]
  /// The token that made the secret.
  public let token: ID<Session>?

  public init(_ conversation: ID<Conversation>, bot: ID<User>, digest: [UInt8], token: ID<Session>?) {
    self.conversation = conversation
    self.bot = bot
    self.digest = digest
    self.token = token
  }
}

extension ReadTransaction {
  /// A webhook that is not deleted.
  public func webhook(_ id: ID<Webhook>) throws(Refusal) -> Webhook? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Webhook.columns)
          from webhook w
          join account a on a.id = w.bot_id
          where w.id = $1 and w.deleted_at is null
          """), id.number
      ) { row in try Webhook(row) }
    }
  }

  /// The webhook with this secret; nil if it is disabled or its bot is not active.
  public func webhook(withDigest digest: [UInt8]) throws(Refusal) -> Webhook? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Webhook.columns)
          from webhook w
          join account a on a.id = w.bot_id and a.state = 'active' and a.role = 'bot'
          where w.digest = $1 and w.enabled = 1 and w.deleted_at is null
          """), digest
      ) { row in try Webhook(row) }
    }
  }

  /// Webhooks in the order of their creation.
  public func webhooks(_ slice: ListSlice) throws(Refusal) -> [Webhook] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Webhook.columns)
          from webhook w
          join account a on a.id = w.bot_id
          where w.deleted_at is null and w.id \(page.comparison) $1
          order by w.id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try Webhook(row) }
    }
  }

  /// Without those of deleted conversations and forums.
  public func webhookCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from webhook w
        join conversation c on c.id = w.conversation_id
        left join forum f on f.id = c.forum_id
        where w.deleted_at is null and c.state = 'open' and f.deleted_at is null
        """
      ) { row in try row.int(0) } ?? 0
    }
  }

  public func isBotOfWebhook(_ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select 1 from webhook where bot_id = $1", user.number) { _ in true } ?? false
    }
  }

  public func webhookCount(in conversation: ID<Conversation>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        "select count(*) from webhook where conversation_id = $1 and deleted_at is null", conversation.number
      ) { row in try row.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  public func add(_ webhook: NewStoredWebhook) throws(Refusal) -> ID<Webhook> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into webhook (id, conversation_id, bot_id, digest, enabled, token_id, created_at)
        values ($1, $2, $3, $4, 1, $5, $6)
        """, id, webhook.conversation.number, webhook.bot.number, webhook.digest, webhook.token?.number, Int(now))
    }
    return ID(id)
  }

  public func setEnabled(_ isEnabled: Bool, _ webhook: ID<Webhook>) throws(Refusal) {
    try run { connection in
      try connection.execute("update webhook set enabled = $1 where id = $2", isEnabled, webhook.number)
    }
  }

  /// Counts a change of the webhook or of its bot.
  public func raiseRevision(of webhook: ID<Webhook>) throws(Refusal) {
    try run { connection in
      try connection.execute("update webhook set revision = revision + 1 where id = $1", webhook.number)
    }
  }

  /// Counts a change of the name, which is that of the bot.
  public func raiseRevisionOfWebhook(ofBot bot: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update webhook set revision = revision + 1 where bot_id = $1 and deleted_at is null", bot.number)
    }
  }

  /// Replaces the secret and its owner, and enables the webhook.
  public func renewSecret(
    of webhook: Webhook, digest: [UInt8], token: ID<Session>?, by owner: ID<User>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook
        set digest = $1, token_id = $2, enabled = 1, revision = revision + 1
        where id = $3
        """, digest, token?.number, webhook.id.number)
    }
    guard webhook.owner != owner else { return }
    try run { connection in
      try connection.execute("update account set owner_id = $1 where id = $2", owner.number, webhook.bot.number)
    }
    try logChange(of: webhook.bot, by: owner)
  }

  /// Records the use of a webhook.
  public func touch(_ webhook: ID<Webhook>) throws(Refusal) {
    try run { connection in
      try connection.execute("update webhook set last_used_at = $1 where id = $2", Int(now), webhook.number)
    }
  }

  /// Deletes the webhooks of a bot.
  public func deleteWebhook(ofBot bot: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook
        set digest = null, enabled = 0, deleted_at = $1, revision = revision + 1
        where bot_id = $2 and deleted_at is null
        """, Int(now), bot.number)
    }
  }

  /// Disables the webhooks of which a user has received the secret, and revokes these secrets.
  public func revokeWebhooks(of owner: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update webhook
        set digest = null, enabled = 0, revision = revision + 1
        where digest is not null and bot_id in (select id from account where owner_id = $1)
        """, owner.number)
    }
  }

  /// Disables the webhooks of which ended tokens made the secret.
  func revokeWebhooks(ofTokens tokens: [ID<Session>]) throws(Refusal) {
    for token in tokens {
      try run { connection in
        try connection.execute(
          """
          update webhook
          set digest = null, enabled = 0, token_id = null, revision = revision + 1
          where token_id = $1
          """, token.number)
      }
    }
  }
}

extension Webhook {
  /// Columns of `init(_: Row)`, of `webhook w` and its bot `account a`.
  fileprivate static let columns = """
    w.id, w.conversation_id, w.bot_id, coalesce(a.display_name, a.name), w.enabled, w.digest is null, a.owner_id,
    w.created_at, w.last_used_at, w.revision
    """

  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), conversation: ID(try row.int(1)), bot: ID(try row.int(2)), name: try row.text(3),
      isEnabled: try row.bool(4), isRevoked: try row.bool(5), owner: try row.optionalInt(6).map { ID($0) },
      createdAt: Int64(try row.int(7)), lastUsedAt: try row.optionalInt(8).map { Int64($0) },
      revision: try row.int(9))
  }
}
