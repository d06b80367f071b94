public import ParleyJSON

/// Use of a slash command by a user in a conversation.
public struct CommandInvocation: Sendable, Hashable {
  public var id: ID<CommandInvocation>
  public var command: ID<SlashCommand>
  /// The name of the command at that time.
  public var name: String
  public var conversation: ID<Conversation>
  public var user: ID<User>
  public var bot: ID<User>
  public var state: State
  /// Oldest first.
  public var replies: [CommandReply]
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// The outcome of the request to the program.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Under way, or interrupted by the end of the server.
    case pending
    case delivered
    /// Failed requests: the user gets a problem.
    case unreachable
    case timedOut = "timed_out"
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
  public static let maxReplies = 5

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
  case timedOut
  /// A status other than 2xx, or an answer that can't be shown.
  case invalidAnswer

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
  public var clientID: String?

  public init(name: String, text: String = "", clientID: String? = nil) {
    self.name = name
    self.text = text
    self.clientID = clientID
  }
}

extension CommandInvocationDraft: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      name: try object.string("name"), text: try object.optional("text") ?? "",
      clientID: try object.optional("client_id"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("text", text)
    if let clientID { json.field("client_id", clientID) }
  }
}

/// Reply of a program to the use of its slash command.
public struct CommandReply: Sendable, Hashable {
  public var id: ID<CommandReply>
  public var invocation: ID<CommandInvocation>
  /// The name of the command.
  public var name: String
  public var conversation: ID<Conversation>
  public var bot: ID<User>
  public var audience: Audience
  /// Markdown. Nil for a reply to all, whose text is that of its message.
  public var text: String?
  /// The message of a reply to all.
  public var message: ID<Message>?
  /// Milliseconds since 1970.
  public var createdAt: Int64

  public enum Audience: String, Sendable, Hashable, CaseIterable {
    /// The user of the command. The reply is no message.
    case caller
    /// The readers of the conversation. The reply is a message of the bot.
    case all
  }

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
  public var text: String
  public var audience: CommandReply.Audience
  public var clientID: String?

  public init(_ text: String, to audience: CommandReply.Audience = .caller, clientID: String? = nil) {
    self.text = text
    self.audience = audience
    self.clientID = clientID
  }
}

extension CommandReplyDraft: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      try object.string("text"), to: try object.optionalWord("visible_to") ?? .caller,
      clientID: try object.optional("client_id"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("text", text)
    json.field("visible_to", audience.rawValue)
    if let clientID { json.field("client_id", clientID) }
  }
}
