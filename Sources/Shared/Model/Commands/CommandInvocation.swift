public import ParleyJSON

/// Use of a slash command by a user in a conversation.
public struct CommandInvocation: Sendable, Hashable {
  /// The id of the use.
  public var id: ID<CommandInvocation>
  /// The id of the slash command.
  public var command: ID<SlashCommand>
  /// The name of the command at that time.
  public var name: String
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// The id of the user of the command.
  public var user: ID<User>
  /// The id of the bot, the author of the replies.
  public var bot: ID<User>
  /// The outcome of the request to the program.
  public var state: State
  /// Oldest first.
  public var replies: [CommandReply]
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// The outcome of the request to the program.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Under way, or interrupted by the end of the server.
    case pending
    /// The program has received the use.
    case delivered
    /// Failed requests: the user gets a problem.
    case unreachable
    /// The program gave no answer within 3 seconds, or has too many uses under way.
    case timedOut = "timed_out"
    /// The answer has an error status, or can't be shown.
    case invalidAnswer = "answer_invalid"

    /// Nil unless the request failed.
    public var fault: CommandFault? {
      switch self {
      case .pending, .delivered: nil
      case .unreachable: .unreachable
      case .timedOut: .timedOut
      case .invalidAnswer: .invalidAnswer
      }
    }
  }

  /// Milliseconds in which the program may reply.
  public static let replyTime: Int64 = 30 * 60_000
  /// Milliseconds. An older event about a reply has only its id.
  public static let maxAge: Int64 = 86_400_000
  /// Upper bound of the replies to one use.
  public static let maxReplies = 5

  /// A use of a slash command; by default without replies.
  public init(
    id: ID<CommandInvocation>, command: ID<SlashCommand>, name: String, conversation: ID<Conversation>,
    user: ID<User>, bot: ID<User>, state: State, replies: [CommandReply] = [], createdAt: Int64
  ) {
    self.id = id
    self.command = command
    self.name = name
    self.conversation = conversation
    self.user = user
    self.bot = bot
    self.state = state
    self.replies = replies
    self.createdAt = createdAt
  }

  /// The end of the time for replies, in milliseconds since 1970.
  public var expiresAt: Int64 { createdAt + Self.replyTime }
}

extension CommandInvocation: JSONWritable, JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), command: try object.read("command_id"), name: try object.string("name"),
      conversation: try object.read("conversation_id"), user: try object.read("user_id"),
      bot: try object.read("bot_id"), state: try object.word("state"), replies: try object.read("replies"),
      createdAt: Int64(createdAt.milliseconds))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("command_id", command)
      json.field("name", name)
      json.field("conversation_id", conversation)
      json.field("user_id", user)
      json.field("bot_id", bot)
      json.field("state", state.rawValue)
      json.field("replies", replies)
      json.field("created_at", Timestamp(createdAt))
      json.field("expires_at", Timestamp(expiresAt))
    }
  }
}

/// Why the program behind a slash command gave no usable answer.
public enum CommandFault: Sendable, Hashable {
  /// No connection, no HTTP, no trusted certificate, or no public address.
  case unreachable
  /// No answer within 3 seconds, or too many uses under way.
  case timedOut
  /// A status other than 2xx, or an answer that can't be shown.
  case invalidAnswer

  /// The state that stores the fault.
  public var state: CommandInvocation.State {
    switch self {
    case .unreachable: .unreachable
    case .timedOut: .timedOut
    case .invalidAnswer: .invalidAnswer
    }
  }
}

/// Request to use a slash command.
public struct CommandInvocationDraft: RepeatableDraft, Equatable {
  /// Without the slash.
  public var name: String
  /// The text after the name.
  public var text: String
  /// Idempotency key of 1 to 64 characters: the program gets a repeated use once.
  public var clientID: String?

  /// A use of the command with this name; by default without text.
  public init(name: String, text: String = "", clientID: String? = nil) {
    self.name = name
    self.text = text
    self.clientID = clientID
  }
}

extension CommandInvocationDraft: JSONMembers {
  /// Decodes the body of a request to use a slash command.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), text: try object.optional("text") ?? "",
      clientID: try object.optional("client_id"))
  }

  /// Writes the members into an open object; a nil `clientID` is absent.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("text", text)
    if let clientID { json.field("client_id", clientID) }
  }
}

/// Reply of a program to the use of its slash command.
public struct CommandReply: Sendable, Hashable {
  /// The id of the reply.
  public var id: ID<CommandReply>
  /// The id of the use.
  public var invocation: ID<CommandInvocation>
  /// The name of the command.
  public var name: String
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// The id of the bot, the author of the reply.
  public var bot: ID<User>
  /// The users that see the reply.
  public var audience: Audience
  /// Markdown. Nil for a reply to all, whose text is that of its message.
  public var text: String?
  /// The message of a reply to all.
  public var message: ID<Message>?
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// Users that see a reply.
  public enum Audience: String, Sendable, Hashable, CaseIterable {
    /// The user of the command. The reply is no message.
    case caller
    /// The readers of the conversation. The reply is a message of the bot.
    case all
  }

  /// A reply with its own text, or with the message that has it.
  public init(
    id: ID<CommandReply>, invocation: ID<CommandInvocation>, name: String, conversation: ID<Conversation>,
    bot: ID<User>, audience: Audience, text: String?, message: ID<Message>? = nil, createdAt: Int64
  ) {
    self.id = id
    self.invocation = invocation
    self.name = name
    self.conversation = conversation
    self.bot = bot
    self.audience = audience
    self.text = text
    self.message = message
    self.createdAt = createdAt
  }
}

extension CommandReply: JSONWritable, JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), invocation: try object.read("invocation_id"), name: try object.string("name"),
      conversation: try object.read("conversation_id"), bot: try object.read("bot_id"),
      audience: try object.word("visible_to"), text: try object.optional("text"),
      message: try object.optional("message_id"), createdAt: Int64(createdAt.milliseconds))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("invocation_id", invocation)
      json.field("name", name)
      json.field("conversation_id", conversation)
      json.field("bot_id", bot)
      json.field("visible_to", audience.rawValue)
      json.field("text", text)
      json.field("message_id", message)
      json.field("created_at", Timestamp(createdAt))
    }
  }
}

/// Request of a program to reply.
public struct CommandReplyDraft: Sendable, Equatable {
  /// The text in Markdown, 1 to 16,000 characters.
  public var text: String
  /// The users that see the reply.
  public var audience: CommandReply.Audience
  /// Idempotency key of 1 to 64 characters: a repeated request adds no second reply to the use.
  public var clientID: String?

  /// A reply to the use of a slash command; by default only for its user.
  public init(_ text: String, to audience: CommandReply.Audience = .caller, clientID: String? = nil) {
    self.text = text
    self.audience = audience
    self.clientID = clientID
  }
}

extension CommandReplyDraft: JSONMembers {
  /// Decodes the body of a reply from a program.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      try object.string("text"), to: try object.optionalWord("visible_to") ?? .caller,
      clientID: try object.optional("client_id"))
  }

  /// Writes the members into an open object; a nil `clientID` is absent.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("text", text)
    json.field("visible_to", audience.rawValue)
    if let clientID { json.field("client_id", clientID) }
  }
}
