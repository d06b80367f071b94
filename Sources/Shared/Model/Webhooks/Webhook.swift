public import ParleyJSON

/// Incoming webhook: a URL with a secret that posts to one conversation, as a bot of its own.
public struct Webhook: Sendable, Hashable {
  /// The id of the webhook.
  public var id: ID<Webhook>
  /// The conversation to which the webhook posts.
  public var conversation: ID<Conversation>
  /// The author of its messages.
  public var bot: ID<User>
  /// The display name of the bot.
  public var name: String
  /// Whether the URL takes messages; a disabled one answers 404.
  public var isEnabled: Bool
  /// Whether its secret was revoked. It works again with a new one.
  public var isRevoked: Bool
  /// The member of the staff that received the secret; nil once they have left.
  public var owner: ID<User>?
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The last message, to five minutes.
  public var lastUsedAt: Int64?
  /// Increases with each change.
  public var revision: Int

  /// A webhook without its secret, as the server lists it.
  public init(
    id: ID<Webhook>, conversation: ID<Conversation>, bot: ID<User>, name: String, isEnabled: Bool = true,
    isRevoked: Bool = false, owner: ID<User>?, createdAt: Int64, lastUsedAt: Int64? = nil, revision: Int = 1
  ) {
    self.id = id
    self.conversation = conversation
    self.bot = bot
    self.name = name
    self.isEnabled = isEnabled
    self.isRevoked = isRevoked
    self.owner = owner
    self.createdAt = createdAt
    self.lastUsedAt = lastUsedAt
    self.revision = revision
  }
}

extension Webhook: JSONMembers {
  /// Decodes a webhook from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    let lastUsedAt: Timestamp? = try object.optional("last_used_at")
    self.init(
      id: try object.read("id"), conversation: try object.read("conversation_id"), bot: try object.read("bot_id"),
      name: try object.string("name"), isEnabled: try object.bool("enabled"), isRevoked: try object.bool("revoked"),
      owner: try object.optional("owner_id"), createdAt: Int64(createdAt.milliseconds),
      lastUsedAt: lastUsedAt.map { Int64($0.milliseconds) }, revision: try object.int("revision"))
  }

  /// Encodes the members of a webhook, without its secret.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("conversation_id", conversation)
    json.field("bot_id", bot)
    json.field("name", name)
    json.field("enabled", isEnabled)
    json.field("revoked", isRevoked)
    json.field("owner_id", owner)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_used_at", lastUsedAt.map { Timestamp($0) })
    json.field("revision", revision)
  }
}

/// Request to create a webhook.
public struct WebhookDraft: RepeatableDraft, Equatable {
  /// A room, topic, group or channel.
  public var conversation: ID<Conversation>
  /// The display name of the bot, from 1 to 64 characters.
  public var name: String
  /// An uploaded picture.
  public var avatar: ID<File>?
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second webhook.
  public var clientID: String?

  /// A webhook for one conversation, with a generated picture unless an upload is given.
  public init(_ conversation: ID<Conversation>, name: String, avatar: ID<File>? = nil, clientID: String? = nil) {
    self.conversation = conversation
    self.name = name
    self.avatar = avatar
    self.clientID = clientID
  }
}

extension WebhookDraft: JSONMembers {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      try object.read("conversation_id"), name: try object.string("name"), avatar: try object.optional("avatar"),
      clientID: try object.optional("client_id"))
  }

  /// Encodes the body of the request.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("conversation_id", conversation)
    json.field("name", name)
    if let avatar { json.field("avatar", avatar) }
    if let clientID { json.field("client_id", clientID) }
  }
}

/// PATCH of a webhook. Absent members stay unchanged.
public struct WebhookChange: Sendable, Equatable {
  /// The new display name of the bot, from 1 to 64 characters; nil for no change.
  public var name: String?
  /// Whether the URL takes messages; nil for no change.
  public var isEnabled: Bool?
  /// An uploaded picture; cleared for the generated one.
  public var avatar: Change<ID<File>>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// New values of some members; by default no change.
  public init(
    name: String? = nil, isEnabled: Bool? = nil, avatar: Change<ID<File>> = .unchanged, ifRevision: Int? = nil
  ) {
    self.name = name
    self.isEnabled = isEnabled
    self.avatar = avatar
    self.ifRevision = ifRevision
  }
}

extension WebhookChange: JSONMembers {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), isEnabled: try object.optional("enabled"),
      avatar: try object.change("avatar"), ifRevision: try object.optional("if_revision"))
  }

  /// Encodes the members that change.
  public func writeMembers(to json: inout JSONWriter) {
    if let name { json.field("name", name) }
    if let isEnabled { json.field("enabled", isEnabled) }
    switch avatar {
    case .unchanged: break
    case .cleared: json.null("avatar")
    case .set(let file): json.field("avatar", file)
    }
    if let ifRevision { json.field("if_revision", ifRevision) }
  }
}
