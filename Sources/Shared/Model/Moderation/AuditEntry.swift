public import ParleyJSON

/// Action of staff or moderators in the audit log.
public struct AuditEntry: Sendable, Hashable {
  /// The id of the entry.
  public var id: ID<AuditEntry>
  /// The time of the action, in milliseconds since 1970.
  public var at: Int64
  /// The user that acted; for an action of the operator, an owner.
  public var actor: ID<User>
  /// The kind of the action.
  public var kind: AuditedAction
  /// Id of the affected object; 0 for the site.
  public var subject: Int
  /// The forum of the action.
  public var forum: ID<Forum>?
  /// The reason that the actor has given, or the name of a deleted object; nil without either.
  public var reason: String?
  /// The changed fields, an array of the objects of `Record.changes`.
  public var changes: JSONRaw?
  /// The messages of a bulk removal, for the removal and for its end.
  public var removal: Removed?

  /// The messages of a bulk removal.
  public struct Removed: Sendable, Hashable {
    /// Nil for all users of an invite.
    public let author: ID<User>?
    /// Messages removed or restored so far.
    public let count: Int

    /// The progress of a bulk removal.
    public init(author: ID<User>?, count: Int) {
      self.author = author
      self.count = count
    }
  }

  /// An entry of the audit log; `at` is in milliseconds since 1970, `subject` is 0 for the site.
  public init(
    id: ID<AuditEntry>, at: Int64, actor: ID<User>, kind: AuditedAction, subject: Int, forum: ID<Forum>?,
    reason: String?, changes: JSONRaw?, removal: Removed?
  ) {
    self.id = id
    self.at = at
    self.actor = actor
    self.kind = kind
    self.subject = subject
    self.forum = forum
    self.reason = reason
    self.changes = changes
    self.removal = removal
  }
}

/// Audited actions of staff and moderators. The words are stored.
public enum AuditedAction: String, Sendable, Hashable, CaseIterable {
  /// A pending user may sign in.
  case userApproved = "user.approved"
  /// A pending user was refused.
  case userRefused = "user.refused"
  /// The profile of another user was changed.
  case userChanged = "user.changed"
  /// A user may no longer sign in.
  case userDisabled = "user.disabled"
  /// A disabled user may sign in again.
  case userEnabled = "user.enabled"
  /// A user has deactivated their account.
  case userDeactivated = "user.deactivated"
  /// A user has left the site; the messages stay.
  case userLeft = "user.left"
  /// A user was erased with all messages.
  case userErased = "user.erased"
  /// An owner destroyed all data of a user, a message or a file.
  case userDestroyed = "user.destroyed"
  /// A link to set a new password was created.
  case passwordReset = "user.reset"
  /// Staff removed the authenticator app of a user.
  case secondFactorReset = "user.second_factor_reset"
  /// Staff took all ways to sign in from a user whose account was stolen.
  case userRecovered = "user.recovered"
  /// Staff ended the sessions and tokens of a user.
  case sessionsEnded = "user.sessions_ended"
  /// A user has another role on the site.
  case roleChanged = "user.role"
  /// A bot was created.
  case botCreated = "bot.created"
  /// A token of a bot was created.
  case botTokenCreated = "bot.token_created"
  /// A token of a bot was revoked.
  case botTokenRevoked = "bot.token_revoked"
  /// An incoming webhook was created.
  case webhookCreated = "webhook.created"
  /// An incoming webhook was changed.
  case webhookChanged = "webhook.changed"
  /// The webhook has a new secret.
  case webhookRenewed = "webhook.renewed"
  /// An incoming webhook was deleted.
  case webhookDeleted = "webhook.deleted"
  /// Outgoing webhooks.
  case endpointCreated = "endpoint.created"
  /// An outgoing webhook was changed.
  case endpointChanged = "endpoint.changed"
  /// An outgoing webhook was enabled.
  case endpointEnabled = "endpoint.enabled"
  /// An outgoing webhook was disabled.
  case endpointDisabled = "endpoint.disabled"
  /// An outgoing webhook has a new secret.
  case endpointRenewed = "endpoint.renewed"
  /// An outgoing webhook was deleted.
  case endpointDeleted = "endpoint.deleted"
  /// Slash commands.
  case commandCreated = "command.created"
  /// A slash command was changed.
  case commandChanged = "command.changed"
  /// A slash command was enabled.
  case commandEnabled = "command.enabled"
  /// A slash command was disabled.
  case commandDisabled = "command.disabled"
  /// A slash command has a new secret.
  case commandRenewed = "command.renewed"
  /// A slash command was deleted.
  case commandDeleted = "command.deleted"
  /// Apps that users may connect.
  case appCreated = "app.created"
  /// An app of OAuth was changed.
  case appChanged = "app.changed"
  /// An app was enabled.
  case appEnabled = "app.enabled"
  /// An app was disabled.
  case appDisabled = "app.disabled"
  /// The app has a new secret.
  case appRenewed = "app.renewed"
  /// An app was deleted.
  case appDeleted = "app.deleted"
  /// A moderator has warned a user.
  case userWarned = "user.warned"
  /// A user may not write.
  case userSilenced = "user.silenced"
  /// A silence was ended early.
  case silenceLifted = "user.silence_lifted"
  /// A user may not sign in, or not enter a forum.
  case userBanned = "user.banned"
  /// A ban was ended early.
  case banLifted = "user.ban_lifted"
  /// An invite was revoked.
  case inviteRevoked = "invite.revoked"
  /// A moderator has removed a message.
  case messageRemoved = "message.removed"
  /// A removed message was restored.
  case messageRestored = "message.restored"
  /// A message was destroyed on the disk.
  case messageDestroyed = "message.destroyed"
  /// A moderator moved the message of another user, with its replies, to a new topic.
  case messageMoved = "message.moved"
  /// A moderator deleted an earlier text of another user's message.
  case revisionDeleted = "message.revision_deleted"
  /// A file was destroyed on the disk.
  case fileDestroyed = "file.destroyed"
  /// A moderator closed the poll of another user. The subject is its message.
  case pollClosed = "poll.closed"
  /// All messages of a user since a time.
  case removalMade = "removal.made"
  /// A bulk removal was undone.
  case removalUndone = "removal.undone"
  /// A moderator has taken a report.
  case reportAssigned = "report.assigned"
  /// A report was resolved with an action.
  case reportActed = "report.acted"
  /// A report was resolved without an action.
  case reportDismissed = "report.dismissed"
  /// A resolved report is open again.
  case reportReopened = "report.reopened"
  /// A held post was published, or not.
  case postApproved = "post.approved"
  /// A post that waited for approval was rejected.
  case postRejected = "post.rejected"
  /// A moderation rule was created.
  case ruleCreated = "rule.created"
  /// A moderation rule was changed.
  case ruleChanged = "rule.changed"
  /// A moderation rule was deleted.
  case ruleDeleted = "rule.deleted"
  /// A group of users was created.
  case userGroupCreated = "user_group.created"
  /// A group of users was changed.
  case userGroupChanged = "user_group.changed"
  /// A group of users was deleted.
  case userGroupDeleted = "user_group.deleted"
  /// A user was added to a group.
  case userGroupMemberAdded = "user_group.member_added"
  /// A user was removed from a group.
  case userGroupMemberRemoved = "user_group.member_removed"
  /// Settings of the site were changed.
  case settingsChanged = "settings.changed"
  /// The operator imported a community.
  case siteImported = "site.imported"
  /// A backup was requested.
  case backupStarted = "backup.started"
  /// A backup was deleted.
  case backupDeleted = "backup.deleted"
  /// By the operator, who has no account: the actor is an owner.
  case siteRestored = "site.restored"
  /// A forum was changed.
  case forumChanged = "forum.changed"
  /// A forum was deleted.
  case forumDeleted = "forum.deleted"
  /// Staff without read access joined a forum.
  case forumEntered = "forum.entered"
  /// A user has another role in a forum.
  case memberChanged = "forum.member_changed"
  /// A user was removed from a forum.
  case memberRemoved = "forum.member_removed"
  /// A moderator has changed a topic.
  case topicChanged = "topic.changed"
  /// The topic of another user. The reason is its title.
  case topicDeleted = "topic.deleted"
  /// Slow mode or lock of a conversation outside of forums was changed.
  case conversationChanged = "conversation.changed"
}

/// Filter for audit entries.
public struct AuditFilter: Sendable {
  /// The user that acted; nil for all users.
  public var actor: ID<User>?
  /// The id of the affected object; nil for all objects.
  public var subject: Int?
  /// The kind of the action; nil for all kinds.
  public var kind: AuditedAction?
  /// The forum of the action; nil for the whole site.
  public var forum: ID<Forum>?
  /// Exclusive bounds, in milliseconds.
  public var after: Int64?
  /// The end of the time range, exclusive, in milliseconds since 1970; nil for no end.
  public var before: Int64?

  /// A filter that all entries pass.
  public init() {}
}

extension AuditEntry: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("at", Timestamp(at))
      json.field("actor_id", actor)
      json.field("kind", kind.rawValue)
      json.field("subject_id", subject == 0 ? nil : "\(subject)")
      json.field("forum_id", forum)
      json.field("reason", reason)
      if let changes { json.field("changes", changes) }
      if let removal {
        json.field("author_id", removal.author)
        json.field("messages", removal.count)
      }
    }
  }
}
