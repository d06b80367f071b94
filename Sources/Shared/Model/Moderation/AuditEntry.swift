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
  case userApproved = "user.approved"
  case userRefused = "user.refused"
  case userChanged = "user.changed"
  case userDisabled = "user.disabled"
  case userEnabled = "user.enabled"
  case userDeactivated = "user.deactivated"
  case userLeft = "user.left"
  case userErased = "user.erased"
  /// An owner destroyed all data of a user, a message or a file.
  case userDestroyed = "user.destroyed"
  case passwordReset = "user.reset"
  /// Staff removed the authenticator app of a user.
  case secondFactorReset = "user.second_factor_reset"
  /// Staff took all ways to sign in from a user whose account was stolen.
  case userRecovered = "user.recovered"
  /// Staff ended the sessions and tokens of a user.
  case sessionsEnded = "user.sessions_ended"
  case roleChanged = "user.role"
  case botCreated = "bot.created"
  case botTokenCreated = "bot.token_created"
  case botTokenRevoked = "bot.token_revoked"
  case webhookCreated = "webhook.created"
  case webhookChanged = "webhook.changed"
  /// The webhook has a new secret.
  case webhookRenewed = "webhook.renewed"
  case webhookDeleted = "webhook.deleted"
  /// Outgoing webhooks.
  case endpointCreated = "endpoint.created"
  case endpointChanged = "endpoint.changed"
  case endpointEnabled = "endpoint.enabled"
  case endpointDisabled = "endpoint.disabled"
  case endpointRenewed = "endpoint.renewed"
  case endpointDeleted = "endpoint.deleted"
  /// Slash commands.
  case commandCreated = "command.created"
  case commandChanged = "command.changed"
  case commandEnabled = "command.enabled"
  case commandDisabled = "command.disabled"
  case commandRenewed = "command.renewed"
  case commandDeleted = "command.deleted"
  /// Apps that users may connect.
  case appCreated = "app.created"
  case appChanged = "app.changed"
  case appEnabled = "app.enabled"
  case appDisabled = "app.disabled"
  /// The app has a new secret.
  case appRenewed = "app.renewed"
  case appDeleted = "app.deleted"
  case userWarned = "user.warned"
  case userSilenced = "user.silenced"
  case silenceLifted = "user.silence_lifted"
  case userBanned = "user.banned"
  case banLifted = "user.ban_lifted"
  case inviteRevoked = "invite.revoked"
  case messageRemoved = "message.removed"
  case messageRestored = "message.restored"
  case messageDestroyed = "message.destroyed"
  /// A moderator moved the message of another user, with its replies, to a new topic.
  case messageMoved = "message.moved"
  /// A moderator deleted an earlier text of another user's message.
  case revisionDeleted = "message.revision_deleted"
  case fileDestroyed = "file.destroyed"
  /// A moderator closed the poll of another user. The subject is its message.
  case pollClosed = "poll.closed"
  /// All messages of a user since a time.
  case removalMade = "removal.made"
  case removalUndone = "removal.undone"
  case reportAssigned = "report.assigned"
  case reportActed = "report.acted"
  case reportDismissed = "report.dismissed"
  case reportReopened = "report.reopened"
  /// A held post was published, or not.
  case postApproved = "post.approved"
  case postRejected = "post.rejected"
  case ruleCreated = "rule.created"
  case ruleChanged = "rule.changed"
  case ruleDeleted = "rule.deleted"
  case userGroupCreated = "user_group.created"
  case userGroupChanged = "user_group.changed"
  case userGroupDeleted = "user_group.deleted"
  case userGroupMemberAdded = "user_group.member_added"
  case userGroupMemberRemoved = "user_group.member_removed"
  case settingsChanged = "settings.changed"
  /// The operator imported a community.
  case siteImported = "site.imported"
  case backupStarted = "backup.started"
  case backupDeleted = "backup.deleted"
  /// By the operator, who has no account: the actor is an owner.
  case siteRestored = "site.restored"
  case forumChanged = "forum.changed"
  case forumDeleted = "forum.deleted"
  /// Staff without read access joined a forum.
  case forumEntered = "forum.entered"
  case memberChanged = "forum.member_changed"
  case memberRemoved = "forum.member_removed"
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
