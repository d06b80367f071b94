public import ParleyJSON

/// Slash command: a name that users type in a conversation, and the URL of another program that runs it as a bot.
public struct SlashCommand: Sendable, Hashable {
  public var id: ID<SlashCommand>
  /// Without the slash, unique on the site.
  public var name: String
  public var description: String
  /// The text that follows the name, such as `<city> [days]`.
  public var usage: String
  /// The author of its replies.
  public var bot: ID<User>
  /// For other users than the owner, only the origin.
  public var url: String
  /// Nil for all conversations that the bot may read.
  public var forums: [ID<Forum>]?
  public var isEnabled: Bool
  public var disabledReason: DisabledReason?
  public var owner: ID<User>
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The end of the secret before a rotation.
  public var previousSecretUntil: Int64?
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

  public static let maxNameBytes = 32
  public static let maxDescriptionScalars = 100
  public static let maxUsageScalars = 100

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
  public var name: String
  public var description: String
  public var usage: String
  public var bot: ID<User>
  public var url: String
  /// Nil for all conversations that the bot may read.
  public var forums: [ID<Forum>]?
  public var clientID: String?

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
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), description: try object.optional("description") ?? "",
      usage: try object.optional("usage") ?? "", bot: try object.read("bot_id"), url: try object.string("url"),
      forums: try object.optional("forums"), clientID: try object.optional("client_id"))
  }

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
  public var name: String?
  public var description: String?
  public var usage: String?
  public var bot: ID<User>?
  public var url: String?
  /// Cleared for all conversations that the bot may read.
  public var forums: Change<[ID<Forum>]>
  public var isEnabled: Bool?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

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
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.optional("name"), description: try object.optional("description"),
      usage: try object.optional("usage"), bot: try object.optional("bot_id"), url: try object.optional("url"),
      forums: try object.change("forums"), isEnabled: try object.optional("enabled"),
      ifRevision: try object.optional("if_revision"))
  }

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
  public var id: ID<SlashCommand>
  public var name: String
  public var description: String
  public var usage: String
  public var bot: ID<User>

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
