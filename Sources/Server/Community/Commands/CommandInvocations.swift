// Uses of slash commands. The server stores a use, sends it to the program once, and takes its replies for a while: in the
// answer to that request, or later with a secret.

import ParleyCrypto
public import ParleyModel
import Storage

/// A use of a command, to be sent to its program.
public struct CommandCall: Sendable {
  public let invocation: CommandInvocation
  public let text: String
  public let user: UserSummary
  public let conversation: Conversation
  public let url: String
  /// The secret, and the one before while it is valid.
  public let secrets: [[UInt8]]
  /// The URL for later replies.
  public let replyURL: String
}

/// The outcome of a call.
public enum CommandAnswer: Sendable {
  /// The program replies later, or not at all.
  case accepted
  case reply(CommandReplyDraft)
  case failed(CommandFault)
}

extension Community {
  /// Uses a command: sends it to the program and waits for the answer. A repeated request sends nothing.
  ///
  /// - Parameters:
  ///   - origin: the public origin that the operator has set.
  ///   - replyPath: the path for replies with a secret.
  ///   - call: sends the request.
  public func invokeCommand(
    _ draft: CommandInvocationDraft, in conversation: ID<Conversation>, by caller: Caller, origin: String?,
    replyPath: @Sendable (String) -> String, call: @Sendable (CommandCall) async -> CommandAnswer
  ) async throws(Refusal) -> (invocation: CommandInvocation, isNew: Bool) {
    let secret = try Secret.make()
    let begun: BegunInvocation
    switch try await begin(draft, in: conversation, by: caller, secret) {
    case .new(let new): begun = new
    case .repeated(let invocation):
      if let fault = invocation.state.fault { throw .commandFailed(fault) }
      return (invocation, false)
    case .secretLost(let command):
      try await store.write { tx throws(Refusal) in try tx.disable(command, .secretLost) }
      throw .invalid("name", .unknown)
    }
    let id = begun.invocation.id
    let answer = await call(
      CommandCall(
        invocation: begun.invocation, text: draft.text, user: begun.user, conversation: begun.conversation,
        url: begun.url, secrets: begun.secrets, replyURL: (origin ?? begun.origin) + replyPath(secret.text)))
    do throws(Refusal) {
      switch answer {
      case .accepted: break
      case .reply(let reply): _ = try await self.reply(reply.checked(bounds), to: id)
      case .failed(let fault): throw .commandFailed(fault)
      }
      return (try await finish(id, .delivered), true)
    } catch {
      guard !error.isFault else { throw error }
      let fault = if case .commandFailed(let fault) = error { fault } else { CommandFault.invalidAnswer }
      _ = try await finish(id, fault.state)
      throw .commandFailed(fault)
    }
  }

  /// Replies to a use of a command, with its secret. Throws `gone` after the time for replies.
  ///
  /// - Parameter found: the use before the body of the request was read.
  public func replyToCommand(
    _ found: CommandInvocation, _ secret: String, _ draft: CommandReplyDraft
  ) async throws(Refusal) -> (reply: CommandReply, isNew: Bool) {
    let draft = try draft.checked(bounds)
    guard let digest = Secret(parsing: secret)?.digest else { throw .notFound }
    return try await reply(draft, to: found.id) { tx throws(Refusal) in
      // The body may have come slowly: the command may be deleted since.
      guard try tx.invocation(withDigest: digest)?.id == found.id else { throw .notFound }
    }
  }

  private enum Beginning: Sendable {
    case new(BegunInvocation)
    case repeated(CommandInvocation)
    case secretLost(ID<SlashCommand>)
  }

  private struct BegunInvocation: Sendable {
    let invocation: CommandInvocation
    let user: UserSummary
    let conversation: Conversation
    let url: String
    let secrets: [[UInt8]]
    let origin: String
  }

  /// Checks the rights and limits of the caller, as for a message, and stores the use.
  private func begin(
    _ draft: CommandInvocationDraft, in conversation: ID<Conversation>, by caller: Caller, _ secret: Secret
  ) async throws(Refusal) -> Beginning {
    let user = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    let text = try await ParsedText.of(draft.text, bounds, canBeEmpty: true)
    let fingerprint = try Creation.fingerprint(of: [conversation.description, draft.name, draft.text])
    return try await store.write { [box = store.secrets] tx throws(Refusal) in
      let (caller, rights, known) = try tx.reloadAuthor(caller, in: conversation)
      let standing = known.standing
      if let clientID = draft.clientID, let earlier = try tx.remembered(.commandInvocation, by: user, clientID) {
        guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
        guard let invocation = try tx.invocation(ID(earlier.subject)) else { throw .gone }
        return .repeated(invocation)
      }
      // Two programs could use each other's commands for ever.
      guard caller.role != .bot else { throw .forbidden }
      guard rights.contains(.write) else {
        throw try tx.refusal(of: user, in: conversation, standing.isSilenced)
      }
      let wait =
        rights.contains(.moderate) ? 0 : try tx.wait(of: user, in: conversation, slowSeconds: standing.slowSeconds)
      guard wait == 0 else { throw .rateLimited(seconds: Int((wait + 999) / 1_000)) }
      guard let stored = try tx.enabledCommand(named: draft.name),
        stored.isOffered(in: try tx.forum(of: conversation)), try tx.mayRead(stored.command.bot, conversation)
      else { throw .invalid("name", .unknown) }
      let command = stored.command
      let isPrivate = try tx.isPrivateChannel(conversation, standing)
      let probation =
        isPrivate
        ? nil : try tx.probation(of: caller, in: standing, adding: text.counted, known: known.newcomer)
      guard let secrets = try stored.openSecrets(box) else { return .secretLost(command.id) }
      if let probation { try tx.store(probation, of: user) }
      let id = try tx.addInvocation(of: command, by: user, in: conversation, digest: secret.digest)
      if let clientID = draft.clientID {
        try tx.remember(.commandInvocation, by: user, clientID, subject: id.number, fingerprint: fingerprint)
      }
      guard let invocation = try tx.invocation(id), let author = try tx.user(user),
        let target = try tx.conversation(conversation)
      else { throw .unavailable }
      return .new(
        BegunInvocation(
          invocation: invocation, user: author.summary, conversation: target, url: command.url, secrets: secrets,
          origin: stored.origin))
    }
  }

  private func finish(
    _ id: ID<CommandInvocation>, _ state: CommandInvocation.State
  ) async throws(Refusal) -> CommandInvocation {
    try await store.write { tx throws(Refusal) in
      try tx.set(state, of: id)
      guard let invocation = try tx.invocation(id) else { throw .gone }
      return invocation
    }
  }

  // MARK: Replies

  /// - Parameter check: runs first in the transaction of the reply.
  private func reply(
    _ draft: CommandReplyDraft, to id: ID<CommandInvocation>,
    checking check: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Void = { _ in }
  ) async throws(Refusal) -> (reply: CommandReply, isNew: Bool) {
    switch draft.audience {
    case .caller:
      return try await store.write { tx throws(Refusal) in
        try check(tx)
        if let earlier = try tx.earlierReply(draft, to: id) { return (earlier, false) }
        return (try tx.addReply(draft, to: try tx.replyable(id, to: .caller)), true)
      }
    case .all:
      let found = try await store.readInBackground { tx throws(Refusal) in try tx.invocation(id) }
      guard let invocation = found else { throw .gone }
      let message: ID<Message>
      do throws(Refusal) {
        let posted = try await post(
          MessageDraft(text: draft.text, clientID: nil), in: invocation.conversation,
          by: Caller(botOfCommand: invocation.bot)
        ) { tx throws(Refusal) in
          try check(tx)
          // The earlier one is read below.
          guard try tx.earlierReply(draft, to: id) == nil else { throw .conflict }
          _ = try tx.replyable(id, to: .all)
        } finishing: { tx, message throws(Refusal) in
          _ = try tx.addReply(draft, to: invocation, message: message)
        }
        message = posted.message.message.id
      } catch .conflict {
        let earlier = try await store.readInBackground { tx throws(Refusal) in try tx.earlierReply(draft, to: id) }
        guard let earlier else { throw .conflict }
        return (earlier, false)
      }
      let after = try await store.readInBackground { tx throws(Refusal) in try tx.invocation(id) }
      guard let reply = after?.replies.first(where: { $0.message == message }) else { throw .gone }
      return (reply, true)
    }
  }
}

extension CommunityView {
  /// The use with this secret. Throws `gone` after the time for replies; nil if the secret is unknown, or the command
  /// disabled.
  public func invocation(withSecret text: String) throws(Refusal) -> CommandInvocation? {
    guard let secret = Secret(parsing: text) else { return nil }
    return try read { tx throws(Refusal) in try tx.invocation(withDigest: secret.digest) }
  }
}

extension CommandInvocation {
  /// The bot, as the caller of a request with the secret.
  public var replier: Caller { Caller(botOfCommand: bot) }
}

extension ReadTransaction {
  fileprivate func earlierReply(
    _ draft: CommandReplyDraft, to id: ID<CommandInvocation>
  ) throws(Refusal) -> CommandReply? {
    guard let clientID = draft.clientID, let earlier = try reply(to: id, clientID) else { return nil }
    guard earlier.audience == draft.audience, earlier.text ?? draft.text == draft.text else { throw .clientIDReused }
    return earlier
  }

  /// A use that takes one more reply. The user must still be in the conversation, with the right to write for a reply to
  /// all.
  fileprivate func replyable(
    _ id: ID<CommandInvocation>, to audience: CommandReply.Audience
  ) throws(Refusal) -> CommandInvocation {
    guard let invocation = try invocation(id), now < invocation.expiresAt else { throw .gone }
    guard invocation.replies.count < CommandInvocation.maxReplies else {
      throw .tooMany(limit: CommandInvocation.maxReplies)
    }
    let user = Caller(user: invocation.user, role: nil, scope: .write, session: nil)
    let rights: Rights
    do throws(Refusal) { rights = try reloadAuthor(user, in: invocation.conversation).rights } catch .notFound {
      throw .gone
    } catch .unauthenticated {
      throw .gone
    }
    guard try mayRead(invocation.bot, invocation.conversation), try activeRole(of: invocation.bot) == .bot else {
      throw .gone
    }
    if audience == .all, !rights.contains(.write) { throw .forbidden }
    return invocation
  }
}

extension StoredCommand {
  /// Nil if the key of the current secret is missing.
  fileprivate func openSecrets(_ box: SealedBox) throws(Refusal) -> [[UInt8]]? {
    var opened: [[UInt8]] = []
    for (index, sealed) in secrets.enumerated() {
      let secret: [UInt8]?
      do { secret = try box.open(sealed, for: CommandSecret.context(of: command.owner)) } catch { throw .unavailable }
      if let secret { opened.append(secret) } else if index == 0 { return nil }
    }
    return opened
  }
}

extension CommandInvocationDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> CommandInvocationDraft {
    var check = FieldChecks()
    check { () throws(Refusal) in
      guard SlashCommand.isName(name) else { throw .invalid("name", .invalid) }
    }
    check { () throws(Refusal) in try Texts.checkMessage(text, bounds, canBeEmpty: true) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return self
  }
}

extension CommandReplyDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> CommandReplyDraft {
    var check = FieldChecks()
    check { () throws(Refusal) in try Texts.checkMessage(text, bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return self
  }
}
