// Deletion. A deleted message becomes a tombstone at the same `seq`. The tombstone keeps author, conversation and time,
// and none of the content. Actions of other users stay in `action`: removing them would take an event each.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Deletes a message for good, for its author. On a message that a moderator removed it drops the seal and leaves the
  /// tombstone unchanged, so that an author cannot disguise a removal as a deletion of their own.
  ///
  /// - Returns: the new revision of the message.
  @discardableResult
  public func delete(_ id: ID<Message>, by actor: ID<User>, reason: String? = nil) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard message.deletion == nil else {
      try breakSeal(of: id)
      return message.revision
    }
    return try entomb(message, as: .author, by: actor, reason: reason)
  }

  /// Turns a live message into a tombstone.
  func entomb(
    _ message: MessageState, as deletion: Deletion, by actor: ID<User>, reason: String? = nil,
    movedTo: ID<Message>? = nil
  ) throws(Refusal) -> Int {
    if let entry = try searchEntry(of: message.id) { searchChanges.append(.remove(entry)) }
    try removeRows(of: message.id)
    // The copy of a moved message takes them over.
    if deletion != .moved { try removeNotifications(message.id, by: actor) }
    try detachFiles(of: message.id)
    // A removed message can be restored with its votes.
    if deletion != .moderator { try removePoll(of: message.id) }
    try removePresses(on: message.id)
    try dropFingerprint(of: message)
    try run { connection in
      try connection.execute(
        """
        update message
        set text = null, entities = null, annotations = null, sent_at = null, buttons = null, repost_of = null,
          deletion = $1, deleted_at = $2, deleted_by = $3, reason = $4, moved_to = $5, revision = revision + 1
        where id = $6
        """, deletion.rawValue, Int(now), actor.number, reason, movedTo?.number, message.id.number)
    }
    if message.isFirst { try setTags(of: message.conversation, [], by: actor) }
    try clearSolution(message.id, of: message.conversation, by: actor)
    try recordDestruction()
    return try logChange(.deleted, of: message, by: actor)
  }
}
