public import ParleyJSON

/// Slash command: a name that users type in a conversation, and the URL of another program that runs it as a bot.
public struct SlashCommand: Sendable, Hashable {
  /// The id of the slash command.
  public var id: ID<SlashCommand>
  /// Without the slash, unique on the site.
  public var name: String
  /// One line for the completion in the composer, at most `maxDescriptionScalars`; may be empty.
  public var description: String
  /// The text that follows the name, such as `<city> [days]`.
  /// At most `maxUsageScalars`; may be empty.
  public var usage: String
  /// The author of its replies.
  public var bot: ID<User>
  /// For other users than the owner, only the origin.
  public var url: String
  /// Nil for all conversations that the bot may read.
  public var forums: [ID<Forum>]?
  /// Whether users can use it.
  public var isEnabled: Bool
  /// The reason why it is disabled; nil while it is enabled.
  public var disabledReason: DisabledReason?
  /// The id of the owner, a member of the staff.
  public var owner: ID<User>
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The end of the secret before a rotation.
  /// In milliseconds since 1970; nil without a rotation.
  public var previousSecretUntil: Int64?
  /// Increases with each change of the slash command; 1 at first.
  public var revision: Int

  /// Why it can't be used.
  public enum DisabledReason: String, Sendable, Hashable, CaseIterable {
    /// By the owner or other staff.
    case request
    /// The owner was banned, disabled or deleted, has left the staff, or was recovered.
    case ownerInactive = "owner_inactive"
    /// The token that made it has ended.
    case tokenRevoked = "token_revoked"
    /// The key that sealed the secret is missing.
    case secretLost = "secret_lost"
    /// A restored backup had it enabled; it was disabled, deleted or changed since.
    case restored
  }

  /// Upper bound of `name`, in bytes.
  public static let maxNameBytes = 32
  /// Upper bound of `description`, in Unicode scalars.
  public static let maxDescriptionScalars = 100
  /// Upper bound of `usage`, in Unicode scalars.
  public static let maxUsageScalars = 100

  /// A slash command; by default enabled, wherever its bot may read.
  public init(
    id: ID<SlashCommand>, name: String, description: String = "", usage: String = "", bot: ID<User>, url: String,
    forums: [ID<Forum>]? = nil, isEnabled: Bool = true, disabledReason: DisabledReason? = nil, owner: ID<User>,
    createdAt: Int64, previousSecretUntil: Int64? = nil, revision: Int = 1
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.usage = usage
    self.bot = bot
    self.url = url
    self.forums = forums
    self.isEnabled = isEnabled
    self.disabledReason = disabledReason
    self.owner = owner
    self.createdAt = createdAt
    self.previousSecretUntil = previousSecretUntil
    self.revision = revision
  }

  /// Lowercase ASCII letters, digits, `-` and `_`.
  public static func isName(_ text: String) -> Bool {
    1...maxNameBytes ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

extension SlashCommand: JSONMembers {
  /// Decodes a slash command; unknown members are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), description: try object.string("description"),
      usage: try object.string("usage"), bot: try object.read("bot_id"), url: try object.string("url"),
      forums: try object.optional("forums"), isEnabled: try object.bool("enabled"),
      disabledReason: try object.optionalWord("disabled_reason"), owner: try object.read("owner_id"),
      createdAt: Int64(createdAt.milliseconds), previousSecretUntil: try object.time("previous_secret_until"),
      revision: try object.int("revision"))
  }

  /// Writes the members into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("description", description)
    json.field("usage", usage)
    json.field("bot_id", bot)
    json.field("url", url)
    json.field("forums", forums)
    json.field("enabled", isEnabled)
    json.field("disabled_reason", disabledReason?.rawValue)
    json.field("owner_id", owner)
    json.field("created_at", Timestamp(createdAt))
    json.field("previous_secret_until", previousSecretUntil.map { Timestamp($0) })
    json.field("revision", revision)
  }
}

/// Request to create a slash command.
public struct SlashCommandDraft: RepeatableDraft, Equatable {
  /// The name without the slash, as `SlashCommand.isName` permits it; unique on the site.
  public var name: String
  /// One line for the completion in the composer, at most `SlashCommand.maxDescriptionScalars`.
  public var description: String
  /// The text that follows the name, such as `<city> [days]`; at most `SlashCommand.maxUsageScalars`.
  public var usage: String
  /// The id of the bot that writes the replies; bots of webhooks are refused.
  public var bot: ID<User>
  /// The URL of the program: `https`, a public address, and port 443, 8443, 80 or 8080.
  public var url: String
  /// Nil for all conversations that the bot may read.
  public var forums: [ID<Forum>]?
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second slash command.
  public var clientID: String?

  /// A slash command to create; by default usable wherever its bot may read.
  public init(
    name: String, description: String = "", usage: String = "", bot: ID<User>, url: String,
    forums: [ID<Forum>]? = nil, clientID: String? = nil
  ) {
    self.name = name
    self.description = description
    self.usage = usage
    self.bot = bot
    self.url = url
    self.forums = forums
    self.clientID = clientID
  }
}

extension SlashCommandDraft: JSONMembers {
  /// Decodes the body of a request to create a slash command.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), description: try object.optional("description") ?? "",
      usage: try object.optional("usage") ?? "", bot: try object.read("bot_id"), url: try object.string("url"),
      forums: try object.optional("forums"), clientID: try object.optional("client_id"))
  }

  /// Writes the members into an open object; nil members are absent.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("description", description)
    json.field("usage", usage)
    json.field("bot_id", bot)
    json.field("url", url)
    if let forums { json.field("forums", forums) }
    if let clientID { json.field("client_id", clientID) }
  }
}

/// PATCH of a slash command. Absent members stay unchanged.
public struct SlashCommandChange: Sendable, Equatable {
  /// The new name without the slash; nil leaves it unchanged.
  public var name: String?
  /// The new line for the completion; nil leaves it unchanged.
  public var description: String?
  /// The new text that follows the name; nil leaves it unchanged.
  public var usage: String?
  /// The id of another bot; nil leaves it unchanged.
  public var bot: ID<User>?
  /// The new URL of the program; nil leaves it unchanged.
  public var url: String?
  /// Cleared for all conversations that the bot may read.
  public var forums: Change<[ID<Forum>]>
  /// Whether users can use it; nil leaves it unchanged.
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// A change of the given members; absent parameters change no member.
  public init(
    name: String? = nil, description: String? = nil, usage: String? = nil, bot: ID<User>? = nil, url: String? = nil,
    forums: Change<[ID<Forum>]> = .unchanged, isEnabled: Bool? = nil, ifRevision: Int? = nil
  ) {
    self.name = name
    self.description = description
    self.usage = usage
    self.bot = bot
    self.url = url
    self.forums = forums
    self.isEnabled = isEnabled
    self.ifRevision = ifRevision
  }
}

extension SlashCommandChange: JSONMembers {
  /// Decodes the body of a PATCH of a slash command.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), description: try object.optional("description"),
      usage: try object.optional("usage"), bot: try object.optional("bot_id"), url: try object.optional("url"),
      forums: try object.change("forums"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

  /// Writes the changed members into an open object.
  public func writeMembers(to json: inout JSONWriter) {
    if let name { json.field("name", name) }
    if let description { json.field("description", description) }
    if let usage { json.field("usage", usage) }
    if let bot { json.field("bot_id", bot) }
    if let url { json.field("url", url) }
    switch forums {
    case .unchanged: break
    case .cleared: json.null("forums")
    case .set(let forums): json.field("forums", forums)
    }
    if let isEnabled { json.field("enabled", isEnabled) }
    if let ifRevision { json.field("if_revision", ifRevision) }
  }
}

/// A slash command as its users see it.
public struct UsableCommand: Sendable, Hashable {
  /// The id of the slash command.
  public var id: ID<SlashCommand>
  /// The name without the slash.
  public var name: String
  /// One line for the completion in the composer; may be empty.
  public var description: String
  /// The text that follows the name, such as `<city> [days]`; may be empty.
  public var usage: String
  /// The id of the bot, the author of the replies.
  public var bot: ID<User>

  /// The members of a slash command that its users see.
  public init(_ command: SlashCommand) {
    id = command.id
    name = command.name
    description = command.description
    usage = command.usage
    bot = command.bot
  }
}

extension UsableCommand: JSONWritable, JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    id = try object.read("id")
    name = try object.string("name")
    description = try object.string("description")
    usage = try object.string("usage")
    bot = try object.read("bot_id")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("name", name)
      json.field("description", description)
      json.field("usage", usage)
      json.field("bot_id", bot)
    }
  }
}
