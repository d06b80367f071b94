// The queue of Web Push. Rows are deleted after the push service has answered, so a message is sent at least once, whenever the
// server stops.
//
// Notifications are not queued when they are made, which would burden each post: once a second the worker looks at those after
// the last one that it has seen, and adds all their rows with one statement.
//
// A row is a topic on a device. A later notification of the same conversation takes the place of the earlier one, also at the
// push service and on the screen. After a message the row stays for a while and keeps the next one back.

public import ParleyModel
import ParleySQLite

/// A message that is due.
public struct DuePush: Sendable, Hashable {
  public let id: Int
  public let topic: String
  public let notification: ID<Notification>
  public let urgency: Int
  public let createdAt: Int64
  public let attempts: Int
  public let isShort: Bool
  public let subscription: StoredPushSubscription

  /// The conversation of the topic.
  public var conversation: ID<Conversation>? {
    topic.hasPrefix(Self.conversationPrefix) ? ID(String(topic.dropFirst(Self.conversationPrefix.count))) : nil
  }

  fileprivate static let conversationPrefix = "c"
}

/// Notifications that the queue has not seen, by their ids.
public struct PushWindow: Sendable, Hashable {
  /// The last one that was looked at.
  public let start: Int
  /// The last one of the window; `start` if there is none.
  public let end: Int
  /// The last one that was looked at, as stored.
  public let stored: Int
  /// Whether one of the users has a device.
  public let hasDevices: Bool
}

/// Bounds of the queue, in rows.
public struct PushQueueBounds: Sendable {
  public var ofUser = 200
  public var ofSite = 100_000

  public init() {}
}

extension Notification.Kind {
  /// RFC 8030 §5.3: whether a device wakes up for it.
  fileprivate var urgency: Int {
    switch self {
    case .direct, .mention, .reply, .signIn, .passkeyCopied: 2
    case .request, .report, .warning, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated,
      .recoveryCodeUsed, .endpointDisabled, .passkeyCreated, .passkeyDeleted, .identityLinked, .identityUnlinked,
      .alert:
      1
    case .room: 0
    }
  }
}

extension ReadTransaction {
  /// Messages that are due, longest first.
  public func duePushes(limit: Int) throws(Refusal) -> [DuePush] {
    try run { connection in try connection.all(Self.due, Int(now), limit) { row in try DuePush(row) } }
  }

  private static let due = SQL(
    """
    select \(StoredPushSubscription.columns), d.id as delivery_id, d.topic, d.notification_id, d.urgency, d.created_at,
      d.attempts, d.is_short
    from push_delivery d
    join push_subscription s on s.id = d.subscription_id
    join account a on a.id = s.user_id
    where d.notification_id is not null and d.due_at <= $1
    order by d.due_at, d.id
    limit $2
    """)

  /// The notifications that the queue has not seen, up to a limit.
  ///
  /// - Parameters:
  ///   - last: a notification that was looked at. The stored one may be an earlier one.
  ///   - time: earlier notifications are not sent.
  public func pushWindow(after last: Int, since time: Int64, limit: Int) throws(Refusal) -> PushWindow {
    try run { connection in
      let stored = try connection.first("select last_notification from push_state where id = 1") { try $0.int(0) } ?? 0
      let start = max(last, stored)
      let found = try connection.first(
        """
        select max(id)
        from (
          select id
          from notification
          where id > $1
          order by id
          limit $2
        )
        """, start, limit
      ) { try $0.optionalInt(0) }
      guard let end = found ?? nil else {
        return PushWindow(start: start, end: start, stored: stored, hasDevices: false)
      }
      let hasDevices = try connection.first(Self.hasDevices, start, end, Int(time)) { try $0.bool(0) } ?? false
      return PushWindow(start: start, end: end, stored: stored, hasDevices: hasDevices)
    }
  }

  private static let hasDevices = SQL("select exists (select 1 \(notified(between: "$1", "$2", since: "$3")))")
  /// The notifications between two ids that were not read, and the devices that their users had before. The clock may have
  /// gone back since, so ids tell the order.
  fileprivate static func notified(between start: String, _ end: String, since time: String) -> String {
    """
    from notification n
    cross join push_subscription s on s.user_id = n.user_id
    where n.id > \(start) and n.id <= \(end) and n.created_at > \(time) and n.read_at is null and s.id < n.id
    """
  }

  /// The time of the newest message in the queue, sent or not. It is read once, after the start.
  public func newestPushTime() throws(Refusal) -> Int64? {
    let found = try run { connection in
      try connection.first("select max(created_at) from push_delivery") { try $0.optionalInt(0) }
    }
    return (found ?? nil).map { Int64($0) }
  }

  /// The number of messages that wait, of a user or of all.
  public func waitingPushCount(of user: ID<User>? = nil) throws(Refusal) -> Int {
    try run { connection in
      guard let user else {
        return try connection.first("select count(*) from push_delivery where notification_id is not null") {
          try $0.int(0)
        } ?? 0
      }
      return try connection.first(
        """
        select count(*)
        from push_subscription s
        join push_delivery d on d.subscription_id = s.id
        where s.user_id = $1 and d.notification_id is not null
        """, user.number
      ) { try $0.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  /// Queues notifications between two ids for all devices of their users. Notes that they were looked at. Returns the number
  /// of rows that were added or changed.
  ///
  /// - Parameter time: earlier notifications are not sent.
  public func enqueuePushes(after start: Int, upTo end: Int, since time: Int64) throws(Refusal) -> Int {
    try run { connection in
      let count = try connection.execute(Self.enqueue, Int(now), start, end, Int(time))
      try connection.execute("update push_state set last_notification = $1 where id = 1", end)
      return count
    }
  }

  /// A notification may be of a clock that was ahead.
  private static let enqueue = SQL(
    """
    insert into push_delivery (subscription_id, topic, notification_id, urgency, created_at, due_at)
    select s.id, iif(n.conversation_id is null, 'n' || n.id, '\(DuePush.conversationPrefix)' || n.conversation_id), n.id,
      case n.kind \(urgencies) end, min(n.created_at, $1), max(min(n.created_at, $1), coalesce(s.retry_at, 0))
    \(ReadTransaction.notified(between: "$2", "$3", since: "$4"))
    order by n.id
    on conflict (subscription_id, topic) do update
    set notification_id = excluded.notification_id, urgency = excluded.urgency, created_at = excluded.created_at,
      due_at = max(due_at, excluded.due_at)
    """)
  private static let urgencies = Notification.Kind.allCases
    .map { "when '\($0.rawValue)' then \($0.urgency)" }
    .joined(separator: " ")

  /// Deletes messages of users beyond a bound: the least urgent first, then the oldest. Returns their rows.
  public func trimPushes(of users: Set<ID<User>>, to bound: Int) throws(Refusal) -> Set<Int> {
    var trimmed: Set<Int> = []
    for user in users {
      let excess = try waitingPushCount(of: user) - bound
      guard excess > 0 else { continue }
      trimmed.formUnion(
        try run { connection in
          try connection.all(
            """
            delete from push_delivery
            where id in (
              select d.id
              from push_subscription s
              join push_delivery d on d.subscription_id = s.id
              where s.user_id = $1 and d.notification_id is not null
              order by d.urgency, d.created_at, d.id
              limit $2
            )
            returning id
            """, user.number, excess
          ) { row in try row.int(0) }
        })
    }
    return trimmed
  }

  /// Deletes messages of the site beyond a bound in the same order, up to a chunk. Returns their rows, and the number of those
  /// that wait.
  public func trimPushes(to bound: Int) throws(Refusal) -> (rows: Set<Int>, left: Int) {
    let count = try waitingPushCount()
    let excess = min(count - bound, Self.notificationChunk)
    guard excess > 0 else { return ([], count) }
    let rows = try run { connection in
      try connection.all(
        """
        delete from push_delivery
        where id in (
          select id
          from push_delivery
          where notification_id is not null
          order by urgency, created_at, id
          limit $1
        )
        returning id
        """, excess
      ) { row in try row.int(0) }
    }
    return (Set(rows), count - rows.count)
  }

  /// Moves all that waits to an earlier time: the clock has gone back.
  public func advancePushes(by time: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update push_delivery set due_at = due_at - $1, created_at = min(created_at, $2) where due_at > $2", Int(time),
        Int(now))
      try connection.execute(
        "update push_subscription set retry_at = retry_at - $1 where retry_at > $2", Int(time), Int(now))
    }
  }

  /// Moves messages to a later time.
  public func postpone(_ pushes: [(push: DuePush, until: Int64)]) throws(Refusal) {
    for (push, until) in pushes {
      try run { connection in
        try connection.execute(
          "update push_delivery set due_at = max(due_at, $1) where id = $2", Int(until), push.id)
      }
    }
  }

  /// Deletes messages that are not to be sent, unless a later notification has taken their place.
  public func drop(_ pushes: [DuePush]) throws(Refusal) {
    for push in pushes {
      try run { connection in
        try connection.execute(
          "delete from push_delivery where id = $1 and notification_id = $2", push.id, push.notification.number)
      }
    }
  }

  /// Notes that the push service has accepted a message. The next one of the topic waits until `next`.
  public func recordSent(_ push: DuePush, next: Int64) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update push_delivery
        set notification_id = nullif(notification_id, $1), due_at = $2, attempts = 0, is_short = 0
        where id = $3
        """, push.notification.number, Int(next), push.id)
    }
    try noteSent(push.subscription.id)
  }

  /// Notes that the push service refused a message as too long.
  public func shorten(_ push: DuePush) throws(Refusal) {
    try run { connection in
      try connection.execute("update push_delivery set is_short = 1 where id = $1", push.id)
    }
  }

  /// Notes a failed attempt.
  ///
  /// - Parameter service: until then the push service takes no message for the device.
  public func retry(_ push: DuePush, at time: Int64, service: Int64?) throws(Refusal) {
    try run { connection in
      try connection.execute(
        "update push_delivery set attempts = attempts + 1, due_at = $1 where id = $2", Int(time), push.id)
      guard let service else { return }
      try connection.execute(
        "update push_subscription set retry_at = $1 where id = $2", Int(service), push.subscription.id.number)
      try connection.execute(
        "update push_delivery set due_at = max(due_at, $1) where subscription_id = $2", Int(service),
        push.subscription.id.number)
    }
  }

  /// Deletes topics that no longer keep a message back.
  public func removeSentPushes(limit: Int) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from push_delivery
        where id in (
          select id
          from push_delivery
          where notification_id is null and due_at <= $1
          order by due_at, id
          limit $2
        )
        """, Int(now), limit)
    }
  }
}

extension DuePush {
  fileprivate init(_ row: borrowing Row) throws {
    subscription = try StoredPushSubscription(row)
    id = try row.int("delivery_id")
    topic = try row.text("topic")
    notification = ID(try row.int("notification_id"))
    urgency = try row.int("urgency")
    createdAt = Int64(try row.int("created_at"))
    attempts = try row.int("attempts")
    isShort = try row.bool("is_short")
  }
}
