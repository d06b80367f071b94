// Slash commands: the staff creates them, and each belongs to a bot, whose rights decide where it can be used.

import ParleyCrypto
public import ParleyModel
import Storage

/// The result of creating a command or its new secret.
public struct CreatedCommand: Sendable {
  public let command: SlashCommand
  /// Nil for a repeated request: the secret is returned only once.
  public let secret: [UInt8]?
}

enum CommandSecret {
  static func context(of owner: ID<User>) -> String { "slash command of \(owner)" }
}

extension Community {
  /// - Parameter origin: the origin of the site in the request.
  public func createCommand(
    _ draft: SlashCommandDraft, origin: String, by caller: Caller
  ) async throws(Refusal) -> CreatedCommand {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let fingerprint = try draft.fingerprint()
    let (secret, sealed) = try makeSecret(for: CommandSecret.context(of: actor))
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.command, by: actor, clientID) {
        guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
        guard let command = try tx.command(ID(earlier.subject)) else { throw .gone }
        return CreatedCommand(command: command, secret: nil)
      }
      // A command receives texts and posts as the bot after the end of the session.
      try tx.requireProof(of: caller)
      guard try tx.commandCount() < bounds.commands else { throw .tooMany(limit: bounds.commands) }
      try tx.check(bot: draft.bot, forums: draft.forums, for: caller)
      guard try !tx.hasCommand(named: draft.name) else { throw .taken("name") }
      let id = try tx.add(
        NewStoredCommand(
          draft, owner: actor, secret: sealed, token: try tx.token(of: caller, actor), origin: origin))
      if let clientID = draft.clientID {
        try tx.remember(.command, by: actor, clientID, subject: id.number, fingerprint: fingerprint)
      }
      try tx.audit(.commandCreated, by: actor, subject: id.number, reason: draft.name)
      return CreatedCommand(command: try tx.knownCommand(id), secret: secret)
    }
  }

  /// Changes a command of the caller. All staff may disable it.
  ///
  /// - Parameter origin: the origin of the site in the request.
  public func updateCommand(
    _ id: ID<SlashCommand>, _ change: SlashCommandChange, origin: String, by caller: Caller
  ) async throws(Refusal) -> SlashCommand {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let before = try tx.knownCommand(id)
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = before.changed(by: change)
      let enables = change.isEnabled == true && !before.isEnabled
      if after != before || enables {
        guard before.owner == actor else { throw .forbidden }
        if enables || after.reach != before.reach {
          try tx.requireProof(of: caller)
          try tx.setToken(try tx.token(of: caller, actor), of: id)
        }
      }
      if after != before {
        if after.reach != before.reach { try tx.check(bot: after.bot, forums: after.forums, for: caller) }
        if after.name != before.name, try tx.hasCommand(named: after.name) { throw .taken("name") }
        try tx.set(after, origin: origin)
        try tx.audit(.commandChanged, by: actor, subject: id.number, reason: after.name)
      }
      if enables {
        try tx.enable(id)
        try tx.audit(.commandEnabled, by: actor, subject: id.number, reason: after.name)
      }
      if change.isEnabled == false, try tx.disable(id, .request) {
        try tx.audit(.commandDisabled, by: actor, subject: id.number, reason: after.name)
      }
      return try tx.knownCommand(id).shown(to: caller)
    }
  }

  /// Replaces the secret of a command of the caller. The earlier one signs, too, for 24 hours.
  public func rotateCommandSecret(_ id: ID<SlashCommand>, by caller: Caller) async throws(Refusal) -> CreatedCommand {
    let actor = try caller.requireUser(.admin)
    let (secret, sealed) = try makeSecret(for: CommandSecret.context(of: actor))
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let command = try tx.knownCommand(id)
      guard command.owner == actor else { throw .forbidden }
      try tx.requireProof(of: caller)
      try tx.renewSecret(of: id, sealed: sealed)
      try tx.setToken(try tx.token(of: caller, actor), of: id)
      try tx.audit(.commandRenewed, by: actor, subject: id.number, reason: command.name)
      return CreatedCommand(command: try tx.knownCommand(id), secret: secret)
    }
  }

  /// Idempotent. All staff may delete a command.
  public func deleteCommand(_ id: ID<SlashCommand>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      guard let command = try tx.command(id) else { return }
      try tx.delete(id)
      try tx.audit(.commandDeleted, by: actor, subject: id.number, reason: command.name)
    }
  }
}

extension CommunityView {
  /// All commands, for staff.
  public func listCommands(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<SlashCommand> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.commands(slice).map { $0.shown(to: caller) }
      }
    }
  }

  public func getCommand(_ id: ID<SlashCommand>, for caller: Caller) throws(Refusal) -> SlashCommand {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try tx.knownCommand(id).shown(to: caller)
    }
  }

  /// The commands that the caller can use in a conversation, by name.
  public func listConversationCommands(
    in conversation: ID<Conversation>, for caller: Caller
  ) throws(Refusal) -> [UsableCommand] {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (rights, _) = try tx.rights(of: caller, in: conversation)
      guard rights.contains(.write), caller.role != .bot else { return [] }
      let forum = try tx.forum(of: conversation)
      var readers: [ID<User>: Bool] = [:]
      var usable: [UsableCommand] = []
      for stored in try tx.enabledCommands(limit: community.bounds.commands) where stored.isOffered(in: forum) {
        let bot = stored.command.bot
        let isReader = if let known = readers[bot] { known } else { try tx.mayRead(bot, conversation) }
        readers[bot] = isReader
        if isReader { usable.append(UsableCommand(stored.command)) }
      }
      return usable
    }
  }
}

extension StoredCommand {
  /// Whether the command is offered in the conversations of a forum, or outside of forums.
  func isOffered(in forum: ID<Forum>?) -> Bool {
    guard ownerState == .active, ownerRole.isStaff, botState == .active, botRole == .bot else { return false }
    guard let forums = command.forums else { return true }
    return forum.map { forums.contains($0) } ?? false
  }
}

extension ReadTransaction {
  fileprivate func knownCommand(_ id: ID<SlashCommand>) throws(Refusal) -> SlashCommand {
    guard let command = try command(id) else { throw .notFound }
    return command
  }

  /// Throws unless the bot and the forums exist. The bots of webhooks have no other task.
  fileprivate func check(bot: ID<User>, forums: [ID<Forum>]?, for caller: Caller) throws(Refusal) {
    var check = FieldChecks()
    check { () throws(Refusal) in
      guard let user = try user(bot), user.summary.role == .bot, user.standing?.state == .active else {
        throw .invalid("bot_id", .unknown)
      }
      guard try !isBotOfWebhook(bot) else { throw .invalid("bot_id", .invalid) }
    }
    check { () throws(Refusal) in
      for forum in forums ?? [] {
        do throws(Refusal) { try require(.see, caller, in: forum) } catch .notFound {
          throw .invalid("forums", .unknown)
        }
      }
    }
    try check.finish()
  }
}

extension Caller {
  /// The bot of a command, as the author of replies.
  init(botOfCommand bot: ID<User>) { self.init(user: bot, role: .bot, scope: .write, session: nil) }
}

extension SlashCommand: CalledProgram {}

extension SlashCommand {
  /// The fields that decide where texts are sent, and where the bot replies.
  fileprivate var reach: Reach { Reach(bot: bot, url: url, forums: forums) }

  fileprivate struct Reach: Hashable {
    let bot: ID<User>
    let url: String
    let forums: [ID<Forum>]?
  }

  fileprivate func changed(by change: SlashCommandChange) -> SlashCommand {
    var after = self
    after.name = change.name ?? name
    after.description = change.description ?? description
    after.usage = change.usage ?? usage
    after.bot = change.bot ?? bot
    after.url = change.url ?? url
    switch change.forums {
    case .unchanged: break
    case .cleared: after.forums = nil
    case .set(let forums): after.forums = forums
    }
    return after
  }
}

extension SlashCommandDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> SlashCommandDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in try CommandFields.checkName(name) }
    check { () throws(Refusal) in checked.description = try CommandFields.description(description) }
    check { () throws(Refusal) in checked.usage = try CommandFields.usage(usage) }
    check { () throws(Refusal) in try WebhookFields.checkURL(url, bounds) }
    check { () throws(Refusal) in
      checked.forums = try forums.map { forums throws(Refusal) in
        try CommandFields.forums(forums, bounds)
      }
    }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension SlashCommandChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> SlashCommandChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let name { try CommandFields.checkName(name) } }
    check { () throws(Refusal) in
      if let description { checked.description = try CommandFields.description(description) }
    }
    check { () throws(Refusal) in if let usage { checked.usage = try CommandFields.usage(usage) } }
    check { () throws(Refusal) in if let url { try WebhookFields.checkURL(url, bounds) } }
    check { () throws(Refusal) in
      if case .set(let forums) = forums { checked.forums = .set(try CommandFields.forums(forums, bounds)) }
    }
    try check.finish()
    return checked
  }
}

private enum CommandFields {
  static func checkName(_ name: String) throws(Refusal) {
    guard !name.isEmpty else { throw .invalid("name", .tooShort(min: 1)) }
    guard name.utf8.count <= SlashCommand.maxNameBytes else {
      throw .invalid("name", .tooLong(limit: SlashCommand.maxNameBytes))
    }
    guard SlashCommand.isName(name) else { throw .invalid("name", .invalid) }
  }

  static func description(_ text: String) throws(Refusal) -> String {
    try Texts.line(text, "description", scalars: SlashCommand.maxDescriptionScalars, atLeast: 0)
  }

  static func usage(_ text: String) throws(Refusal) -> String {
    try Texts.line(text, "usage", scalars: SlashCommand.maxUsageScalars, atLeast: 0)
  }

  /// Without repetitions, in order.
  static func forums(_ forums: [ID<Forum>], _ bounds: Bounds) throws(Refusal) -> [ID<Forum>] {
    guard !forums.isEmpty else { throw .invalid("forums", .tooShort(min: 1)) }
    guard forums.count <= bounds.commandForums else {
      throw .invalid("forums", .tooMany(limit: bounds.commandForums))
    }
    return Set(forums).sorted()
  }
}
