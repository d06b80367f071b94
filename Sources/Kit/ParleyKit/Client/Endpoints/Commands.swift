import ParleyJSON
public import ParleyModel

// Slash commands.

extension Request where Response == Resource<NewSlashCommand> {
  /// `POST /commands`
  ///
  /// A repeated request returns no secret, so the request is not retried automatically.
  public static func createCommand(_ draft: SlashCommandDraft) -> Request {
    Request(.post, "/commands", body: .value(draft))
  }

  /// `POST /commands/{id}/secret`
  public static func rotateCommandSecret(_ command: ID<SlashCommand>) -> Request {
    Request(.post, "/commands/{id}/secret", [command.description])
  }
}

extension Request where Response == Resource<SlashCommand> {
  /// `GET /commands/{id}`
  public static func getCommand(_ command: ID<SlashCommand>) -> Request {
    Request(.get, "/commands/{id}", [command.description])
  }

  /// `PATCH /commands/{id}`
  public static func updateCommand(_ command: ID<SlashCommand>, _ change: SlashCommandChange) -> Request {
    Request(.patch, "/commands/{id}", [command.description], body: .value(change))
  }
}

extension Request where Response == Void {
  /// `DELETE /commands/{id}`
  public static func deleteCommand(_ command: ID<SlashCommand>) -> Request {
    Request(.delete, "/commands/{id}", [command.description])
  }
}

extension Request where Response == Page<Resource<SlashCommand>> {
  /// `GET /commands`
  public static func listCommands(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/commands",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<UsableCommand>> {
  /// `GET /conversations/{id}/commands`
  public static func listConversationCommands(in conversation: ID<Conversation>) -> Request {
    Request(.get, "/conversations/{id}/commands", [conversation.description])
  }
}

extension Request where Response == Resource<CommandInvocation> {
  /// `POST /conversations/{id}/commands`
  ///
  /// The server waits for the program for three seconds.
  ///
  /// - Parameters:
  ///   - name: without the slash.
  ///   - text: the text after the name.
  ///   - clientID: the idempotency key, unique per user.
  public static func invokeCommand(
    _ name: String, _ text: String = "", in conversation: ID<Conversation>, clientID: String? = nil
  ) -> Request {
    let draft = CommandInvocationDraft(name: name, text: text, clientID: clientID)
    return Request(.post, "/conversations/{id}/commands", [conversation.description], body: .value(draft))
      .withClientID(clientID)
  }
}

extension Request where Response == Resource<CommandReply> {
  /// `POST /command-replies/{secret}`
  ///
  /// - Parameters:
  ///   - secret: the last part of `response_url` of the use.
  ///   - text: Markdown.
  ///   - audience: the user of the command, or all readers of the conversation.
  ///   - clientID: the idempotency key, unique per use of the command.
  public static func replyToCommand(
    _ secret: String, _ text: String, to audience: CommandReply.Audience = .caller, clientID: String? = nil
  ) -> Request {
    let draft = CommandReplyDraft(text, to: audience, clientID: clientID)
    return Request(.post, "/command-replies/{secret}", [secret], body: .value(draft)).withClientID(clientID)
  }
}
