// Deletion. A message never leaves its place: it becomes a tombstone, which keeps who, where and when, and nothing of what
// was said. The readPositions that others set on it stay in `action`: they are not its author's words, and taking them back would
// be an event each.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// The author's verb: for good. On what a moderator has removed it takes the seal away and leaves the tombstone as it
  /// is, so that nobody can pass off a removal as a change of mind.
  ///
  /// - Returns: the message's revision now.
  @discardableResult
  public func delete(_ id: ID<Message>, by actor: ID<User>, reason: String? = nil) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard message.deletion == nil else {
      try breakSeal(of: id)
      return message.revision
    }
    return try entomb(message, as: .author, by: actor, reason: reason)
  }

  /// Makes a tombstone of a live message.
  func entomb(
    _ message: MessageState, as deletion: Deletion, by actor: ID<User>, reason: String? = nil,
    movedTo: ID<Message>? = nil
  ) throws(Refusal) -> Int {
    if let entry = try searchEntry(of: message.id) { searchChanges.append(.remove(entry)) }
    try removeRows(of: message.id)
    try removeNotifications(message.id, by: actor)
    try detachFiles(of: message.id)
    try forgetFingerprint(of: message)
    try run { connection in
      try connection.execute(
        """
        update message
        set text = null, entities = null, annotations = null, sent_at = null, deletion = $1, deleted_at = $2,
          deleted_by = $3, reason = $4, moved_to = $5, revision = revision + 1
        where id = $6
        """, deletion.rawValue, Int(now), actor.number, reason, movedTo?.number, message.id.number)
    }
    try recordDestruction()
    return try logChange(.messageDeleted, of: message, by: actor)
  }
}
