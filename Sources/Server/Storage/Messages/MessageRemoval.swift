// Removal by a moderator. The message becomes a tombstone for all users. Its content is sealed for a limited time and
// can be restored until then.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// The time for which a removed message can be restored, in milliseconds.
  public static let sealedTime: Int64 = 30 * 86_400_000

  /// Turns a message into a tombstone and seals its content. Does nothing on a tombstone.
  ///
  /// - Returns: the new revision of the message.
  @discardableResult
  public func remove(
    _ id: ID<Message>, by moderator: ID<User>, reason: String?, partOf removal: ID<Removal>? = nil,
    sealedFor time: Int64 = sealedTime
  ) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard message.deletion == nil else { return message.revision }
    try seal(id, until: now + time, partOf: removal)
    return try entomb(message, as: .moderator, by: moderator, reason: reason)
  }

  /// Restores a message that a moderator removed. Does nothing on a live message.
  ///
  /// - Parameter isReader: whether a user can read a message. Others get their notification back without an event.
  /// - Returns: the new revision of the message.
  @discardableResult
  public func restore(
    _ id: ID<Message>, by moderator: ID<User>,
    readableBy isReader: (ID<User>, MessagePosition) throws(Refusal) -> Bool = { _, _ throws(Refusal) in true }
  ) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard let deletion = message.deletion else { return message.revision }
    guard deletion == .moderator, let seal = try seal(of: id) else { throw .gone }
    guard message.isOpen else { throw .notFound }
    try run { connection in
      try connection.execute(
        """
        update message
        set text = $1, entities = $2, annotations = $3, sent_at = $4, deletion = null, deleted_at = null,
          deleted_by = null, reason = null, buttons = $5, repost_of = $6, revision = revision + 1
        where id = $7
        """, seal.text.markdown, seal.text.entities, seal.annotations?.json, seal.sentAt, seal.buttons,
        seal.repostOf, id.number)
    }
    try addRows(of: seal, to: id, in: message.conversation)
    try restore(seal.notifications, of: id, isReader)
    try attach(try attachedFiles(of: id, in: "sealed_attachment"), to: id)
    try breakSeal(of: id)
    // The seal has the hashtags in another order.
    if message.isFirst {
      try setTags(of: message.conversation, try hashtags(in: seal.text.entities), by: moderator)
    }
    if seal.isSolution { try restoreSolution(id, of: message.conversation, by: moderator) }
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    return try logChange(.restored, of: message, by: moderator)
  }

  private func addRows(of seal: Seal, to id: ID<Message>, in conversation: ID<Conversation>) throws(Refusal) {
    try addRows(of: seal.text, to: id, in: conversation)
    if let annotations = seal.annotations {
      try addRows(of: annotations.types, annotations.location, to: id, in: conversation)
    }
    for earlier in seal.revisions {
      try run { connection in
        try connection.execute(
          """
          insert into revision (message_id, revision, text, entities, edited_at, edited_by)
          values ($1, $2, $3, $4, $5, $6)
          """, id.number, earlier.revision, earlier.text, earlier.entities, earlier.editedAt, earlier.editedBy)
      }
    }
  }

  private func restore(
    _ notifications: [Seal.SealedNotification], of id: ID<Message>,
    _ isReader: (ID<User>, MessagePosition) throws(Refusal) -> Bool
  ) throws(Refusal) {
    guard !notifications.isEmpty, let position = try position(of: id) else { return }
    for notification in notifications {
      // The recipient may have been deleted or have read on, and a job may not have removed the notifications of many recipients yet.
      let isRestored = try run { connection in
        try connection.execute(
          """
          insert into notification (id, user_id, kind, conversation_id, message_id, actor_id, created_at, read_at)
          select $1, id, $2, $3, $4, $5, $6, coalesce($7, (
            select $8
            from read_position r
            where r.user_id = account.id and r.conversation_id = $9 and r.read_seq >= $10
          ))
          from account
          where id = $11 and state = 'active'
          on conflict (message_id, user_id) where message_id is not null do nothing
          """, notification.id, notification.kind, notification.conversation, id.number, notification.actor,
          notification.createdAt, notification.readAt, Int(now), position.conversation.number, position.seq,
          notification.user) == 1
      }
      guard isRestored, try isReader(ID(notification.user), position) else { continue }
      try log(
        .notificationCreated, in: .user(ID(notification.user)), subject: notification.id, revision: 0,
        actor: notification.actor ?? 0)
    }
  }
}
