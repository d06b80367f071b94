// A moderator's removal. For everyone the message is a tombstone; what it said is sealed for a while, so that it can be
// restored.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// How long what was removed can be restored, in milliseconds.
  public static let sealedTime: Int64 = 30 * 86_400_000

  /// Makes a tombstone of a message and seals what it said. Of a tombstone nothing is left to remove.
  ///
  /// - Returns: the message's revision now.
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

  /// Puts back what a moderator removed, as it was. Of a live message nothing is to restore.
  ///
  /// - Returns: the message's revision now.
  @discardableResult
  public func restore(_ id: ID<Message>, by moderator: ID<User>) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard let deletion = message.deletion else { return message.revision }
    guard deletion == .moderator, let seal = try seal(of: id) else { throw .gone }
    guard message.isOpen else { throw .notFound }
    try run { connection in
      try connection.execute(
        """
        update message
        set text = $1, entities = $2, annotations = $3, sent_at = $4, deletion = null, deleted_at = null,
          deleted_by = null, reason = null, revision = revision + 1
        where id = $5
        """, seal.text.markdown, seal.text.entities, seal.annotations?.json, seal.sentAt, id.number)
    }
    try addRows(of: seal, to: id, in: message.conversation)
    try attach(try sealedAttachments(of: id), to: id)
    try breakSeal(of: id)
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    return try logChange(.messageRestored, of: message, by: moderator)
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
    for notice in seal.notices {
      // Whoever it waited for may be gone by now, and what waits for many may not be gone yet.
      let isBack = try run { connection in
        try connection.execute(
          """
          insert into notification (id, user_id, kind, conversation_id, message_id, actor_id, created_at, read_at)
          select $1, id, $2, $3, $4, $5, $6, $7
          from account
          where id = $8 and state = 'active'
          on conflict (message_id, user_id) where message_id is not null do nothing
          """, notice.id, notice.kind, notice.conversation, id.number, notice.actor, notice.createdAt, notice.readAt,
          notice.user) == 1
      }
      guard isBack else { continue }
      try log(.notificationCreated, in: .user(ID(notice.user)), subject: notice.id, revision: 0, actor: notice.actor ?? 0)
    }
  }
}
