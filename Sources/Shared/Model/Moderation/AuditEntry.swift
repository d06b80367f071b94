public import ParleyJSON

/// Something that was done by those who look after the place or keep order.
public struct AuditEntry: Sendable, Hashable {
  public var id: ID<AuditEntry>
  public var at: Int64
  public var actor: ID<User>
  public var kind: AuditedAction
  /// The thing that it was done to; 0 for the place.
  public var subject: Int
  /// The forum that it was done in.
  public var forum: ID<Forum>?
  public var reason: String?

  public init(
    id: ID<AuditEntry>, at: Int64, actor: ID<User>, kind: AuditedAction, subject: Int, forum: ID<Forum>?,
    reason: String?
  ) {
    self.id = id
    self.at = at
    self.actor = actor
    self.kind = kind
    self.subject = subject
    self.forum = forum
    self.reason = reason
  }
}

/// What those who look after the place or keep order do, as the audit names it. The words are stored.
public enum AuditedAction: String, Sendable, Hashable, CaseIterable {
  case userApproved = "user.approved"
  case userRefused = "user.refused"
  case userChanged = "user.changed"
  case userDisabled = "user.disabled"
  case userEnabled = "user.enabled"
  case userDeactivated = "user.deactivated"
  case userLeft = "user.left"
  case userErased = "user.erased"
  case passwordReset = "user.reset"
  case roleChanged = "user.role"
  case userWarned = "user.warned"
  case userSilenced = "user.silenced"
  case silenceLifted = "user.silence_lifted"
  case userBanned = "user.banned"
  case banLifted = "user.ban_lifted"
  case inviteRevoked = "invite.revoked"
  case messageRemoved = "message.removed"
  case messageRestored = "message.restored"
  /// All of a user's messages since a time, at once.
  case removalMade = "removal.made"
  case removalUndone = "removal.undone"
  case reportAssigned = "report.assigned"
  case reportActed = "report.acted"
  case reportDismissed = "report.dismissed"
  case reportReopened = "report.reopened"
  case settingsChanged = "settings.changed"
  case backupStarted = "backup.started"
  case forumChanged = "forum.changed"
  case forumDeleted = "forum.deleted"
  /// One of the staff made themselves a member of a private forum.
  case forumEntered = "forum.entered"
  case memberRemoved = "forum.member_removed"
  case topicChanged = "topic.changed"
  /// A conversation apart from forums was slowed down or locked, or is so no longer.
  case conversationChanged = "conversation.changed"
}

/// Which entries are asked for.
public struct AuditFilter: Sendable {
  public var actor: ID<User>?
  public var subject: Int?
  public var kind: AuditedAction?
  public var forum: ID<Forum>?
  /// Later, and earlier, than these; in milliseconds.
  public var after: Int64?
  public var before: Int64?

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
    }
  }
}
