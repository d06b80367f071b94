public import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The server's side of slash commands, which needs a network.
public struct OutgoingCommands: Sendable {
  /// Sends the use of a command to its program.
  let send: @Sendable (CommandCall) async -> CommandAnswer

  public init(send: @escaping @Sendable (CommandCall) async -> CommandAnswer) { self.send = send }
}

extension API {
  @Sendable static func listCommands(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listCommands(page, for: context.caller), including: include, context)
  }

  @Sendable static func createCommand(_ context: RequestContext) async throws -> Response {
    let sent = try await context.body { body in try SlashCommandDraft(&body) }
    var draft = try sent.checked(context.community.bounds)
    draft.url = try context.outgoing.checked(draft.url)
    let created = try await context.community.createCommand(
      draft, origin: context.server.origin, by: context.caller)
    return .one(created, created.secret == nil ? .ok : .created)
  }

  @Sendable static func getCommand(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getCommand(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func updateCommand(_ context: RequestContext) async throws -> Response {
    let id: ID<SlashCommand> = try context.id()
    let sent = try await context.body { body in try SlashCommandChange(&body) }
    var change = try sent.checked(context.community.bounds)
    if let url = change.url { change.url = try context.outgoing.checked(url) }
    let (checked, origin) = (change, context.server.origin)
    return try await context.changed {
      try await context.community.updateCommand(id, checked, origin: origin, by: context.caller)
    } now: {
      try context.view.getCommand(id, for: context.caller)
    }
  }

  @Sendable static func rotateCommandSecret(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.rotateCommandSecret(try context.id(), by: context.caller), .ok)
  }

  @Sendable static func deleteCommand(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteCommand(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listConversationCommands(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    let found = try context.view.listConversationCommands(in: try context.id(), for: context.caller)
    // Without outgoing requests no command can be called.
    let usable = context.api.commands == nil ? [] : found
    return .list(usable, try context.included(include, in: usable))
  }

  @Sendable static func invokeCommand(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try CommandInvocationDraft(&body) }
    let commands = try context.commands
    let used = try await context.community.invokeCommand(
      draft, in: try context.id(), by: context.caller, origin: context.server.publicOrigin,
      replyPath: { "\(API.base)/command-replies/\($0)" }, call: commands.send)
    return .one(used.invocation, used.isNew ? .created : .ok)
  }

  @Sendable static func replyToCommand(_ context: RequestContext) async throws -> Response {
    let secret = context.request.parameters["secret"] ?? ""
    guard let invocation = try context.view.invocation(withSecret: secret) else { throw Refusal.notFound }
    let draft = try await context.body { body in try CommandReplyDraft(&body) }
    let made = try await context.community.replyToCommand(invocation, secret, draft)
    return .one(made.reply, made.isNew ? .created : .ok)
  }
}

extension RequestContext {
  fileprivate var commands: OutgoingCommands {
    get throws {
      guard let commands = api.commands else { throw Problem.previewsOff }
      return commands
    }
  }
}

extension Response {
  /// A command and its secret, which is in no other response.
  fileprivate static func one(_ created: CreatedCommand, _ status: Status) -> Response {
    .created(created.command, created.secret, status)
  }
}

extension UsableCommand: Referencing {
  func addReferences(to references: inout References) { references.users.insert(bot) }
}

extension SlashCommand: Referencing {
  func addReferences(to references: inout References) { references.users.formUnion([bot, owner]) }
}
