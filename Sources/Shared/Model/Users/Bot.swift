public import ParleyJSON

/// A bot in the list of the staff.
public struct Bot: Sendable, Hashable {
  /// The bot's profile, with its state and owner.
  public var user: User
  /// Its valid tokens.
  public var tokenCount: Int
  /// The last use of one of them, in milliseconds since 1970.
  public var lastUsedAt: Int64?

  /// A bot with the number and the last use of its tokens, as staff list it.
  public init(_ user: User, tokenCount: Int, lastUsedAt: Int64?) {
    self.user = user
    self.tokenCount = tokenCount
    self.lastUsedAt = lastUsedAt
  }
}

extension Bot: JSONMembers {
  /// Decodes a bot: the members of a user, and those of its tokens.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let lastUsedAt: Timestamp? = try object.optional("last_used_at")
    self.init(
      try User(&object), tokenCount: try object.int("token_count", in: 0...Int.max),
      lastUsedAt: lastUsedAt.map { Int64($0.milliseconds) })
  }

  /// Encodes the members of the user, then those of the tokens.
  public func writeMembers(to json: inout JSONWriter) {
    user.writeMembers(to: &json)
    json.field("token_count", tokenCount)
    json.field("last_used_at", lastUsedAt.map { Timestamp($0) })
  }
}

/// Request to create a bot with a token.
public struct BotDraft: RepeatableDraft {
  /// The unique name of the bot, for mentions.
  public var name: String
  /// The name shown in place of `name`, at most 64 characters; nil for none.
  public var displayName: String?
  /// The forums that it joins; nil for the default forums.
  public var forums: [ID<Forum>]?
  /// The scope of the token: `read` or `write`; the server refuses `admin`.
  public var scope: Scope
  /// Limits of its token.
  public var limits: TokenLimits
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second bot.
  public var clientID: String?

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.string("name")
    displayName = try object.optional("display_name")
    forums = try object.optional("forums")
    scope = try object.word("scope")
    limits =
      try object.optional("limits") { value throws(JSONError) in
        var object = try value.object()
        let limits = try TokenLimits(&object)
        try object.finish()
        return limits
      } ?? TokenLimits()
    clientID = try object.optional("client_id")
  }

  /// The request without its `client_id`, as JSON: the same for a repeated request, in any order of the forums.
  public var content: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("name", name)
      json.field("display_name", displayName)
      json.field("forums", forums.map { Set($0).sorted() })
      json.field("scope", scope.rawValue)
      if !limits.areNone {
        json.field("token_forums", limits.forums?.sorted())
        json.field("rate_limit", limits.rate)
      }
    }
    return json.bytes
  }
}
