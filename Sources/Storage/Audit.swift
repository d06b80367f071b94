public import Model
import SQLite

/// What those who look after the place or keep order did, as the audit names it. The words are stored.
public enum AuditedAction: String, Sendable, Hashable, CaseIterable {
  case personApproved = "user.approved"
  case personRefused = "user.refused"
  case personChanged = "user.changed"
  case personDisabled = "user.disabled"
  case personEnabled = "user.enabled"
  case personDeactivated = "user.deactivated"
  case personLeft = "user.left"
  case personErased = "user.erased"
  case passwordReset = "user.reset"
  case roleChanged = "user.role"
  case inviteRevoked = "invite.revoked"
  case messageRemoved = "message.removed"
  case messageRestored = "message.restored"
  case settingsChanged = "settings.changed"
  case forumChanged = "forum.changed"
  case forumDeleted = "forum.deleted"
  /// One of the staff made themselves a member of a private forum.
  case forumEntered = "forum.entered"
  case memberRemoved = "forum.member_removed"
  case topicChanged = "topic.changed"
}

extension WriteTransaction {
  /// `subject` is the thing that it was done to; 0 for the place.
  public func audit(
    _ action: AuditedAction, by actor: ID<Account>, subject: Int, reason: String? = nil
  ) throws(Refusal) {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into audit (id, at, actor_id, action, subject, reason)
        values ($1, $2, $3, $4, $5, $6)
        """, id, Int(now), actor.number, action.rawValue, subject, reason)
    }
  }
}
