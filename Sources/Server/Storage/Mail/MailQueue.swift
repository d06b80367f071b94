// The queue of mail. Rows are deleted or marked after the mail server has answered, so a mail is sent at least once, whenever
// the server stops.
//
// Notifications are not queued when they are made, which would burden each post: after a while the worker looks at unread
// ones. A row is a topic of a user. After a mail the row stays for a while and keeps the next one back.

public import ParleyModel
import ParleySQLite

/// The kinds of mail.
public enum MailKind: String, Sendable, Hashable, CaseIterable {
  case notification
  case reset
  case confirmation
  case passwordChanged = "password_changed"
  case addressChanged = "address_changed"
  case roleChanged = "role_changed"
  case weeklyDigest = "weekly_digest"
  /// About a reply by mail that was not posted as it was written.
  case replyNotice = "reply_notice"
}

/// A mail that is due.
public struct DueMail: Sendable, Hashable {
  public let id: Int
  public let user: ID<User>
  public let kind: MailKind
  public let conversation: ID<Conversation>?
  public let notification: ID<Notification>?
  /// Overrides the confirmed address of the user.
  public let address: String?
  public let createdAt: Int64
  public let attempts: Int
  /// The reason of a notice about a reply.
  public let detail: String?
}

/// The subject of a mail.
public enum MailTopic: Sendable, Hashable {
  case conversation(ID<Conversation>)
  case notification(ID<Notification>)
  case account(MailKind)
  case replyNotice(String)

  fileprivate var text: String {
    switch self {
    case .conversation(let id): "c\(id)"
    case .notification(let id): "n\(id)"
    case .account(let kind): kind.rawValue
    case .replyNotice: MailKind.replyNotice.rawValue
    }
  }

  fileprivate var kind: MailKind {
    switch self {
    case .conversation, .notification: .notification
    case .account(let kind): kind
    case .replyNotice: .replyNotice
    }
  }
}

/// A notification that was not read in time.
public struct UnreadNotification: Sendable, Hashable {
  public let id: ID<Notification>
  public let user: ID<User>
  public let kind: Notification.Kind
  public let conversation: ID<Conversation>?
}

extension ReadTransaction {
  /// Mails that are due, longest first.
  public func dueMails(limit: Int) throws(Refusal) -> [DueMail] {
    try run { connection in
      try connection.all(
        """
        select id, user_id, kind, conversation_id, notification_id, address, created_at, attempts, detail
        from mail_delivery
        where sent_at is null and due_at <= $1
        order by due_at, id
        limit $2
        """, Int(now), limit
      ) { row in
        DueMail(
          id: try row.int(0), user: ID(try row.int(1)), kind: try row.word(2),
          conversation: try row.optionalInt(3).map { ID($0) }, notification: try row.optionalInt(4).map { ID($0) },
          address: try row.optionalText(5), createdAt: Int64(try row.int(6)), attempts: try row.int(7),
          detail: try row.optionalText(8))
      }
    }
  }

  /// The number of mails that wait, of a user or of all.
  public func waitingMailCount(of user: ID<User>? = nil) throws(Refusal) -> Int {
    try run { connection in
      guard let user else {
        return try connection.first("select count(*) from mail_delivery where sent_at is null") { try $0.int(0) } ?? 0
      }
      return try connection.first(
        "select count(*) from mail_delivery where user_id = $1 and sent_at is null", user.number
      ) { try $0.int(0) } ?? 0
    }
  }

  /// The time of the newest mail that waits. It is read once, after the start.
  public func newestMailTime() throws(Refusal) -> Int64? {
    let found = try run { connection in
      try connection.first("select max(created_at) from mail_delivery where sent_at is null") { try $0.optionalInt(0) }
    }
    return (found ?? nil).map { Int64($0) }
  }

  /// The sealed key of links that unsubscribe.
  public func mailKey() throws(Refusal) -> [UInt8]? {
    try run { connection in
      try connection.first("select key from mail_state where id = 1") { try $0.optionalBytes(0) } ?? nil
    }
  }

  /// The last notification that was looked at for mail, and the last one of the next `limit` that was created up to `time`.
  public func mailWindow(until time: Int64, limit: Int) throws(Refusal) -> (last: Int, end: Int) {
    try run { connection in
      let last = try connection.first("select last_notification from mail_state where id = 1") { try $0.int(0) } ?? 0
      let end = try connection.first(
        """
        select max(id)
        from (
          select id, created_at
          from notification
          where id > $1
          order by id
          limit $2
        )
        where created_at <= $3
        """, last, limit, Int(time)
      ) { try $0.optionalInt(0) }
      return (last, (end ?? nil) ?? last)
    }
  }

  /// Unread notifications of users with an address, between two ids. Returns also the last id that was looked at.
  public func unreadNotifications(
    after last: Int, upTo end: Int, since time: Int64, limit: Int
  ) throws(Refusal) -> (found: [UnreadNotification], last: Int) {
    let found = try run { connection in
      try connection.all(
        """
        select n.id, n.user_id, n.kind, n.conversation_id
        from notification n
        cross join email e on e.user_id = n.user_id
        where n.id > $1 and n.id <= $2 and n.created_at > $3 and n.read_at is null and e.address is not null
          and e.stopped_at is null
        order by n.id
        limit $4
        """, last, end, Int(time), limit
      ) { row in
        UnreadNotification(
          id: ID(try row.int(0)), user: ID(try row.int(1)), kind: try row.word(2),
          conversation: try row.optionalInt(3).map { ID($0) })
      }
    }
    return (found, found.count < limit ? end : found[found.count - 1].id.number)
  }

  /// The unread notifications of a user in a conversation, in their order.
  public func unreadNotifications(
    of user: ID<User>, in conversation: ID<Conversation>, limit: Int
  ) throws(Refusal) -> [ID<Notification>] {
    try run { connection in
      try connection.all(
        """
        select id
        from notification
        where user_id = $1 and conversation_id = $2 and read_at is null
        order by message_id, id
        limit $3
        """, user.number, conversation.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension WriteTransaction {
  public func setMailKey(_ key: [UInt8]) throws(Refusal) {
    try run { connection in try connection.execute("update mail_state set key = $1 where id = 1", key) }
  }

  /// Notes that notifications up to this id were looked at.
  public func setMailCursor(_ last: Int) throws(Refusal) {
    try run { connection in
      try connection.execute("update mail_state set last_notification = $1 where id = 1", last)
    }
  }

  /// Queues a mail, unless the topic has one that waits, or one that keeps it back: it was sent a short while ago, and the
  /// user has not read its subject.
  public func enqueueMail(_ topic: MailTopic, of user: ID<User>, to address: String? = nil) throws(Refusal) {
    var (conversation, notification): (Int?, Int?) = (nil, nil)
    var detail: String?
    switch topic {
    case .conversation(let id): conversation = id.number
    case .notification(let id): notification = id.number
    case .account: break
    case .replyNotice(let reason): detail = reason
    }
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into mail_delivery (
          id, user_id, topic, kind, conversation_id, notification_id, address, created_at, due_at, detail)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
        on conflict (user_id, topic) do update
        set id = excluded.id, notification_id = excluded.notification_id, address = excluded.address,
          detail = excluded.detail,
          created_at = excluded.created_at, due_at = excluded.due_at, attempts = 0, sent_at = null
        where sent_at is not null
          and (
            due_at <= excluded.created_at
            or exists (
              select 1
              from notification n
              where n.id = mail_delivery.notification_id and n.read_at is not null
            )
          )
        """, id, user.number, topic.text, topic.kind.rawValue, conversation, notification, address, Int(now),
        detail)
    }
  }

  /// Queues a notice for a user who has an address. It goes to the present address, whatever changes until it is sent.
  public func mailNotification(_ topic: MailTopic, of user: ID<User>) throws(Refusal) {
    let address = try run { connection in
      try connection.first("select address from email where user_id = $1 and stopped_at is null", user.number) { row in
        try row.optionalText(0)
      } ?? nil
    }
    if let address { try enqueueMail(topic, of: user, to: address) }
  }

  /// Notes that the mail server has accepted a mail.
  ///
  /// - Parameters:
  ///   - notification: the last one that the mail has.
  ///   - next: until then the topic gets no other mail; nil for none.
  public func recordSent(
    _ mail: DueMail, notification: ID<Notification>?, next: Int64?
  ) throws(Refusal) {
    try run { connection in
      if let next {
        try connection.execute(
          "update mail_delivery set sent_at = $1, due_at = $2, notification_id = $3 where id = $4", Int(now), Int(next),
          (notification ?? mail.notification)?.number, mail.id)
      } else {
        try connection.execute("delete from mail_delivery where id = $1", mail.id)
      }
      try connection.execute(
        "update email set refusals = 0 where user_id = $1 and refusals > 0 and stopped_at is null", mail.user.number)
    }
  }

  public func retry(_ mail: DueMail, at time: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update mail_delivery set attempts = attempts + 1, due_at = $1 where id = $2", Int(time), mail.id)
    }
  }

  public func drop(_ mail: DueMail) throws(Refusal) {
    try run { connection in try connection.execute("delete from mail_delivery where id = $1", mail.id) }
  }

  /// Moves all that waits to an earlier time: the clock has gone back.
  public func advanceMails(by time: Int64) throws(Refusal) {
    for isSent in [false, true] {
      try run { connection in
        try connection.execute(isSent ? Self.advanceSent : Self.advanceWaiting, Int(time), Int(now))
      }
    }
  }

  private static let advanceWaiting = advance(where: "sent_at is null")
  private static let advanceSent = advance(where: "sent_at is not null")

  private static func advance(where condition: String) -> SQL {
    SQL(
      """
      update mail_delivery
      set due_at = due_at - $1, created_at = min(created_at, $2)
      where \(condition) and due_at > $2
      """)
  }

  /// Deletes mails beyond a bound, of a user or of all: the least urgent first, then the oldest. Returns their number.
  public func trimMails(of user: ID<User>? = nil, to bound: Int) throws(Refusal) -> Int {
    let excess = try waitingMailCount(of: user) - bound
    var left = excess
    for (all, ofUser) in Self.trims where left > 0 {
      left -= try run { connection in
        guard let user else { return try connection.execute(all, left) }
        return try connection.execute(ofUser, user.number, left)
      }
    }
    return max(excess, 0)
  }

  private static let trims = MailQueue.lossOrder.map {
    (all: trim(where: $0, limit: "$1"), ofUser: trim(where: "user_id = $1 and \($0)", limit: "$2"))
  }

  private static func trim(where condition: String, limit: String) -> SQL {
    SQL(
      """
      delete from mail_delivery
      where id in (
        select id
        from mail_delivery
        where sent_at is null and \(condition)
        order by created_at, id
        limit \(limit)
      )
      """)
  }

  /// Deletes topics that no longer keep a mail back, and mail that has waited too long.
  ///
  /// - Returns: whether more remain.
  func removeOldMails(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from mail_delivery
        where id in (
          select id
          from mail_delivery
          where sent_at is not null and due_at <= $1
          order by due_at, id
          limit $2
        )
        """, Int(now), limit)
      let sent = connection.changes
      try connection.execute(
        """
        delete from mail_delivery
        where id in (
          select id
          from mail_delivery
          where sent_at is null and created_at <= $1
          order by created_at, id
          limit $2
        )
        """, Int(now - MailQueue.maxAge), limit)
      return max(sent, connection.changes) == limit
    }
  }
}

public enum MailQueue {
  /// Losses of a full queue, in order: digests, notifications, which the inbox has, too, and at last security notices and links.
  fileprivate static let lossOrder = [
    "kind = 'weekly_digest'", "kind in ('notification', 'reply_notice') and address is null", "true",
  ]

  /// In milliseconds: a mail that could not be sent for this time is dropped.
  public static let maxAge: Int64 = 86_400_000
}

/// Bounds of the queue, in mails.
public struct MailQueueBounds: Sendable {
  public var ofUser = 100
  public var ofSite = 50_000

  public init() {}
}
