// Notifications. Each is one row, written in the transaction of its cause, and one event in the recipient's stream. It
// holds no text and is deleted with its message.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Notifications of a user, newest first.
  public func inbox(
    of user: ID<User>, kind: Notification.Kind? = nil, isUnread: Bool = false, _ slice: ListSlice
  ) throws(Refusal) -> [Notification] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select i.id, i.kind, i.conversation_id, i.message_id, i.report_id, i.sanction_id, i.actor_id, i.created_at,
            i.read_at, i.session_id, i.alert
          from notification i
          left join message m on m.id = i.message_id
          where i.user_id = $1 and i.id \(page.comparison) $2 and ($3 is null or i.kind = $3) and m.deletion is null
          \(isUnread ? "and i.read_at is null" : "")
          order by i.id \(page.order)
          limit $4
          """), user.number, page.number(), kind?.rawValue, slice.limit, read: Notification.init)
    }
  }

  /// Notifications by id; missing ones are omitted.
  public func inbox(_ ids: [ID<Notification>]) throws(Refusal) -> [Notification] {
    var found: [Notification] = []
    try run { connection in
      try Self.entries.each(ids.map(\.number), connection) { row in found.append(try Notification(row)) }
    }
    return found
  }

  private static let entries = ListQuery { list in
    """
    select id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at, session_id, alert
    from notification
    where id in (\(list))
    """
  }
}

extension WriteTransaction {
  /// Maximum number of notifications changed per closure: each is three rows with its event.
  public static let notificationChunk = 500

  /// Adds a notification; at most one per message and recipient.
  ///
  /// - Parameter candidate: the user as read in this transaction.
  public func addNotification(
    _ kind: Notification.Kind, of user: ID<User>, in conversation: ID<Conversation>? = nil,
    message: ID<Message>? = nil, report: ID<Report>? = nil, sanction: ID<Sanction>? = nil, session: ID<Session>? = nil,
    alert: String? = nil, by actor: ID<User>?, as candidate: NotificationCandidate? = nil
  ) throws(Refusal) {
    let id = nextID()
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into notification (id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id,
          created_at, session_id, alert)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (message_id, user_id) where message_id is not null do nothing
        """, id, user.number, kind.rawValue, conversation?.number, message?.number, report?.number,
        sanction?.number, actor?.number, Int(now), session?.number, alert) == 1
    }
    guard isNew else { return }
    if kind.isSecurity { try mailNotification(.notification(ID(id)), of: user) }
    try log(
      .notificationCreated, in: .user(user), subject: id, revision: 0, actor: (actor ?? user).number,
      after: candidate?.offset)
  }

  /// Marks notifications as read up to `entry`. Returns whether more may remain.
  ///
  /// - Parameter keepsLater: omits conversations that the user has put off.
  public func markNotificationsRead(
    of user: ID<User>, upTo entry: ID<Notification>, keepsLater: Bool = false, limit: Int = notificationChunk
  ) throws(Refusal) -> Bool {
    let read = try run { connection in
      try connection.all(
        SQL(
          """
          update notification
          set read_at = $1
          where id in (
            select id
            from notification
            where user_id = $2 and id <= $3 and read_at is null
            \(keepsLater ? Self.isNotLater : "")
            order by id
            limit $4
          )
          returning id
          """), Int(now), user.number, entry.number, limit
      ) { row in try row.int(0) }
    }
    guard let last = read.max() else { return false }
    try log(.notificationRead, in: .user(user), subject: last, revision: 0, actor: user.number)
    return read.count == limit
  }

  /// Marks notifications for messages of a conversation as read, up to `message`. Returns whether more may remain.
  public func markNotificationsRead(
    of user: ID<User>, in conversation: ID<Conversation>, upTo message: ID<Message>, limit: Int = notificationChunk
  ) throws(Refusal) -> Bool {
    let count = try run { connection in
      try connection.execute(
        """
        update notification
        set read_at = $1
        where id in (
          select id
          from notification
          where user_id = $2 and conversation_id = $3 and message_id <= $4 and read_at is null
          order by message_id
          limit $5
        )
        """, Int(now), user.number, conversation.number, message.number, limit)
    }
    guard count > 0 else { return false }
    try log(.notificationRead, in: .user(user), subject: conversation.number, revision: 0, actor: user.number)
    return count == limit
  }

  /// Marks the notifications of a report as read for these users, the moderators.
  public func markNotificationsRead(
    of users: [ID<User>], about report: ID<Report>, by actor: ID<User>
  ) throws(Refusal) {
    let readers = try run { connection in
      try connection.all(
        """
        update notification
        set read_at = $1
        where user_id in (select value from json_each($2)) and report_id = $3 and read_at is null
        returning user_id
        """, Int(now), users.map(\.number).jsonText, report.number
      ) { row in ID<User>(try row.int(0)) }
    }
    for user in readers.sorted() {
      try log(.notificationRead, in: .user(user), subject: report.number, revision: 0, actor: actor.number)
    }
  }

  /// Removes the notification of a request, which stays unread until the request is answered or cancelled.
  public func removeRequestNotification(
    of user: ID<User>, in conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    let count = try run { connection in
      try connection.execute(
        """
        delete from notification
        where user_id = $1 and conversation_id = $2 and message_id is null and kind = 'request'
        """, user.number, conversation.number)
    }
    guard count > 0 else { return }
    try log(.notificationRead, in: .user(user), subject: conversation.number, revision: 0, actor: actor.number)
  }

  /// Removes the notifications for a deleted message: one chunk at once, the rest in a stored job. Readers filter them
  /// out meanwhile.
  func removeNotifications(_ message: ID<Message>, by actor: ID<User>) throws(Refusal) {
    guard try removeNotificationChunk(message, limit: Self.notificationChunk, by: actor) else { return }
    _ = try startJob(
      kind: JobKind.notificationRemoval.name, subject: message.number, by: actor,
      state: NotificationRemoval(message: message, actor: actor))
  }

  /// Returns whether more may remain.
  func removeNotificationChunk(_ message: ID<Message>, limit: Int, by actor: ID<User>) throws(Refusal)
    -> Bool
  {
    let users = try run { connection in
      try connection.all(
        """
        delete from notification
        where id in (
          select id
          from notification
          where message_id = $1
          order by user_id
          limit $2
        )
        returning user_id
        """, message.number, limit
      ) { row in ID<User>(try row.int(0)) }
    }
    for user in users.sorted() {
      try log(.notificationRead, in: .user(user), subject: message.number, revision: 0, actor: actor.number)
    }
    return users.count == limit
  }
}

extension JobKind {
  /// Removes the notifications for a deleted message beyond the first chunk.
  public static let notificationRemoval = JobKind("notification-removal") {
    (tx, removal: inout NotificationRemoval) throws(Refusal) in
    // Restored meanwhile: its notifications stay.
    guard try tx.state(of: removal.message).deletion != nil else { return true }
    return try !tx.removeNotificationChunk(
      removal.message, limit: WriteTransaction.notificationChunk, by: removal.actor)
  }

  /// Notifies the members of a forum of an `@room` mention beyond the first chunk.
  public static let roomMentions = JobKind("room-mentions") {
    (tx, progress: inout RoomMentionProgress) throws(Refusal) in
    guard try tx.state(of: progress.message).deletion == nil else { return true }
    return try !tx.notifyNextChunk(&progress)
  }
}

extension WriteTransaction {
  /// Notifies the members of a forum of an `@room` mention: the first chunk at once, the rest in a stored job.
  public func notifyRoom(
    _ forum: ID<Forum>, for message: ID<Message>, in conversation: ID<Conversation>, by author: ID<User>
  ) throws(Refusal) {
    var progress = RoomMentionProgress(message: message, conversation: conversation, forum: forum, author: author)
    guard try notifyNextChunk(&progress) else { return }
    _ = try startJob(kind: JobKind.roomMentions.name, subject: message.number, by: author, state: progress)
  }

  /// Returns whether more may remain.
  fileprivate func notifyNextChunk(_ progress: inout RoomMentionProgress) throws(Refusal) -> Bool {
    let members = try roomMentionRecipients(
      of: progress.forum, by: progress.author, in: progress.conversation, after: progress.last,
      limit: Self.notificationChunk)
    for member in members {
      try addNotification(.room, of: member, in: progress.conversation, message: progress.message, by: progress.author)
    }
    progress.last = members.last ?? progress.last
    return members.count == Self.notificationChunk
  }
}

extension Notification {
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int("id")), kind: try row.word("kind"),
      conversation: try row.optionalInt("conversation_id").map { ID($0) },
      message: try row.optionalInt("message_id").map { ID($0) },
      report: try row.optionalInt("report_id").map { ID($0) },
      sanction: try row.optionalInt("sanction_id").map { ID($0) },
      session: try row.optionalInt("session_id").map { ID($0) }, alert: try row.optionalText("alert"),
      actor: try row.optionalInt("actor_id").map { ID($0) }, createdAt: Int64(try row.int("created_at")),
      readAt: try row.optionalInt("read_at").map { Int64($0) })
  }
}
