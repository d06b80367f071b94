// Editing and deleting messages and their revisions.

public import ParleyModel
import Storage

extension Community {
  /// Edits the text, the attachments, their descriptions or the buttons of the caller's own message.
  public func editMessage(
    _ id: ID<Message>, _ change: MessageChange, by caller: Caller
  ) async throws(Refusal) -> MessageView {
    let editor = try caller.requireUser(.write)
    if let attachments = change.attachments { try attachments.check(bounds) }
    let buttons = try change.buttons?.checked()
    var text: ParsedText?
    // Whether the text may be empty depends on the attachments, which are read in the transaction.
    if let changed = change.text { text = try await ParsedText.of(changed, bounds, canBeEmpty: true) }
    let bounds = bounds
    let descriptions = try change.descriptions.map { it throws(Refusal) in try it.checkedDescriptions(bounds) }
    let rules = try await compiledRules()
    return try await store.write { [text] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller), found.message.kind == .message else { throw .forbidden }
      guard !found.rights.isDisjoint(with: [.write, .reply]) else {
        throw try tx.refusal(of: editor, in: found.message.conversation, found.standing.isSilenced)
      }
      guard let content = found.message.content else { throw .gone }
      guard content.repostOf == nil else { throw .forbidden }
      if buttons?.isEmpty == false { try caller.checkMayHaveButtons() }
      let isTextVisible = (text?.markdown ?? content.text).isVisible
      let files = change.attachments ?? content.attachments
      let hasFiles = !files.isEmpty
      try descriptions?.checkCount(of: files)
      // An older text may be blank: a change of other fields does not concern it.
      let isConcerned = change.text != nil || change.attachments != nil || descriptions != nil
      guard !isConcerned || isTextVisible || hasFiles || found.message.isMachineOnly else {
        throw .invalid("text", .tooShort(min: 1))
      }
      if let attachments = change.attachments {
        guard try tx.mayAttach(attachments, caller) else { throw .invalid("attachments", .unknown) }
      }
      if isConcerned {
        var more = PostCounts.none
        if let text {
          let before = try tx.linkAndMentionCount(of: id)
          more.links = max(0, text.linkCount - before.links)
          more.mentions = max(0, text.mentionCount - before.mentions)
        }
        if try !tx.isPrivateChannel(found.message.conversation, found.standing),
          let probation = try tx.probation(of: caller, in: found.standing, adding: more)
        {
          try tx.store(probation, of: editor)
        }
      }
      let conversation = found.message.conversation
      var rule: ModerationRule?
      if isConcerned {
        let shown: ParsedText = if let text { text } else { try .again(content.text, bounds) }
        rule = try tx.rule(
          of: rules, matching: shown, options: content.poll?.options.map(\.text) ?? [],
          attachments: files, descriptions: descriptions ?? content.descriptions, by: caller, in: found.standing)
        // A published message is not held.
        if let rule, rule.action != .report { throw .contentRefused }
      }
      // An edit sends no notifications; existing mentions of `@room` and of groups stay.
      let notified = try content.notified()
      let resolved = try text.map { text throws(Refusal) in
        try tx.resolved(text, in: conversation, allowsRoomMention: notified.room, groups: notified.groups)
      }
      let revision = try tx.edit(
        id, to: resolved, attachments: change.attachments, descriptions: descriptions, buttons: buttons, by: editor,
        ifRevision: change.ifRevision)
      if revision != found.message.revision, let resolved, found.standing.kind == .topic {
        let seq = found.message.seq
        for user in resolved.mentions { try tx.takePart(user, inTopic: conversation, since: seq, by: editor) }
      }
      if let rule, revision != found.message.revision, let edited = try tx.message(id) {
        try tx.report(edited, in: try tx.forum(of: conversation), rule, bounds)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  /// Deletes the caller's own message permanently.
  public func deleteMessage(_ id: ID<Message>, by caller: Caller) async throws(Refusal) -> MessageView {
    let actor = try caller.requireUser(.write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller), found.message.kind == .message else { throw .forbidden }
      try tx.deleteOwn(found.message, by: actor)
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  /// Deletes one earlier revision. Allowed for its author and moderators.
  public func deleteRevision(
    _ revision: Int, of id: ID<Message>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard found.isBy(caller) || found.rights.contains(.moderate) else { throw .forbidden }
      _ = try tx.deleteRevision(revision, of: id, by: actor)
      guard !found.isBy(caller) else { return }
      let forum = try tx.forum(of: found.message.conversation)
      try tx.audit(.revisionDeleted, by: actor, subject: id.number, in: forum)
    }
  }
}

extension Message.Content {
  /// Whether the message has notified `@room`, and the groups that it has notified.
  fileprivate func notified() throws(Refusal) -> (room: Bool, groups: Set<ID<UserGroup>>) {
    do {
      return (try namesRoom(), try mentionedGroups())
    } catch {
      throw .unavailable
    }
  }
}
