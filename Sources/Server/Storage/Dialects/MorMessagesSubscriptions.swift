// Subscriptions of MorMessages.

public import ParleyModel
import ParleySQLite

/// The topic of a WebSocket of MorMessages, for an hour.
public struct MorMessagesSubscription: Sendable, Hashable {
  /// A UUID.
  public let id: String
  public let user: ID<User>
  public let forum: ID<Forum>
  /// The forum as the client named it.
  public let topic: String
  /// Milliseconds since 1970.
  public var expiresAt: Int64

  /// An hour, in milliseconds.
  public static let lifetime: Int64 = 3_600_000

  public init(id: String, user: ID<User>, forum: ID<Forum>, topic: String, expiresAt: Int64) {
    self.id = id
    self.user = user
    self.forum = forum
    self.topic = topic
    self.expiresAt = expiresAt
  }
}

extension MorMessagesSubscription {
  fileprivate static let columns = "uuid, user_id, forum_id, topic, expires_at"

  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      id: try row.text("uuid"), user: ID(try row.int("user_id")), forum: ID(try row.int("forum_id")),
      topic: try row.text("topic"), expiresAt: Int64(try row.int("expires_at")))
  }
}

extension ReadTransaction {
  /// A subscription that has not expired.
  public func morMessagesSubscription(_ id: String) throws(Refusal) -> MorMessagesSubscription? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(MorMessagesSubscription.columns)
          from mormessages_subscription
          where uuid = $1 and expires_at > $2
          """), id, Int(now)
      ) { row in try MorMessagesSubscription(row) }
    }
  }

  /// The subscriptions of a user that have not expired, the earliest end first.
  public func morMessagesSubscriptions(of user: ID<User>) throws(Refusal) -> [MorMessagesSubscription] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(MorMessagesSubscription.columns)
          from mormessages_subscription
          where user_id = $1 and expires_at > $2
          order by expires_at, uuid
          """), user.number, Int(now)
      ) { row in try MorMessagesSubscription(row) }
    }
  }
}

extension WriteTransaction {
  public func add(_ subscription: MorMessagesSubscription) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into mormessages_subscription (uuid, user_id, forum_id, topic, expires_at)
        values ($1, $2, $3, $4, $5)
        """, subscription.id, subscription.user.number, subscription.forum.number, subscription.topic,
        Int(subscription.expiresAt))
    }
  }

  /// Stores the end of a subscription.
  public func renew(_ subscription: MorMessagesSubscription) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update mormessages_subscription
        set expires_at = $1
        where uuid = $2
        """, Int(subscription.expiresAt), subscription.id)
    }
  }

  public func deleteMorMessagesSubscription(_ id: String, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from mormessages_subscription
        where uuid = $1 and user_id = $2
        """, id, user.number)
    }
  }

  /// Deletes expired subscriptions. Returns whether more remain.
  func removeExpiredSubscriptions(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from mormessages_subscription
        where uuid in (
          select uuid
          from mormessages_subscription
          where expires_at <= $1
          order by expires_at
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }
}
