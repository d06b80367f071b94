// Subscriptions of Web Push, and the key of the site. A subscription ends with its session, by a foreign key.

public import ParleyModel
import ParleySQLite

/// A subscription with all that a request to its push service needs.
public struct StoredPushSubscription: Sendable, Hashable {
  public let id: ID<PushSubscription>
  public let user: ID<User>
  public let session: ID<Session>
  public let endpoint: String
  public let point: [UInt8]
  public let auth: [UInt8]
  /// The language of the device, else that of the user.
  public let language: String?
}

/// A new subscription.
public struct NewPushSubscription: Sendable {
  public let user: ID<User>
  public let session: ID<Session>
  public let name: String
  public let endpoint: String
  public let point: [UInt8]
  public let auth: [UInt8]
  public let language: String?

  public init(
    user: ID<User>, session: ID<Session>, name: String, endpoint: String, point: [UInt8], auth: [UInt8],
    language: String?
  ) {
    (self.user, self.session, self.name) = (user, session, name)
    (self.endpoint, self.point, self.auth) = (endpoint, point, auth)
    self.language = language
  }
}

extension ReadTransaction {
  /// The sealed secret of the key that signs requests to push services.
  public func pushKey() throws(Refusal) -> [UInt8]? {
    try run { connection in try connection.first("select secret from push_key where id = 1") { try $0.bytes(0) } }
  }

  /// Subscriptions of a user, in the order of their creation.
  public func pushSubscriptions(
    of user: ID<User>, _ slice: ListSlice, current: ID<Session>?
  ) throws(Refusal) -> [PushSubscription] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select id, name, endpoint, created_at, last_sent_at, session_id
          from push_subscription
          where user_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in try PushSubscription(row, current: current) }
    }
  }

  public func pushSubscription(
    _ id: ID<PushSubscription>, of user: ID<User>, current: ID<Session>?
  ) throws(Refusal) -> PushSubscription? {
    try run { connection in
      try connection.first(
        """
        select id, name, endpoint, created_at, last_sent_at, session_id
        from push_subscription
        where id = $1 and user_id = $2
        """, id.number, user.number
      ) { row in try PushSubscription(row, current: current) }
    }
  }

  public func storedPushSubscription(
    _ id: ID<PushSubscription>, of user: ID<User>
  ) throws(Refusal) -> StoredPushSubscription? {
    try run { connection in
      try connection.first(Self.storedSubscription, id.number, user.number) { row in try StoredPushSubscription(row) }
    }
  }

  private static let storedSubscription = SQL(
    """
    select \(StoredPushSubscription.columns)
    from push_subscription s
    join account a on a.id = s.user_id
    where s.id = $1 and s.user_id = $2
    """)

  public func pushSubscriptionCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from push_subscription where user_id = $1", user.number) { try $0.int(0) }
        ?? 0
    }
  }

  /// The subscription with this URL, and its user.
  public func pushSubscription(
    at endpoint: String
  ) throws(Refusal) -> (id: ID<PushSubscription>, user: ID<User>)? {
    try run { connection in
      try connection.first("select id, user_id from push_subscription where endpoint = $1", endpoint) { row in
        (id: ID(try row.int(0)), user: ID(try row.int(1)))
      }
    }
  }
}

extension WriteTransaction {
  /// Replaces the key. Subscriptions of the earlier one take no message of the new one, so they end.
  public func setPushKey(_ secret: [UInt8]) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from push_subscription where id > 0")
      try connection.execute(
        """
        insert into push_key (id, secret, created_at)
        values (1, $1, $2)
        on conflict (id) do update
        set secret = excluded.secret, created_at = excluded.created_at
        """, secret, Int(now))
    }
  }

  public func add(_ subscription: NewPushSubscription) throws(Refusal) -> ID<PushSubscription> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into push_subscription (id, user_id, session_id, name, endpoint, point, auth, language, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, id, subscription.user.number, subscription.session.number, subscription.name, subscription.endpoint,
        subscription.point, subscription.auth, subscription.language, Int(now))
    }
    return ID(id)
  }

  /// Replaces session, name and keys of a subscription with the same URL.
  public func change(
    _ id: ID<PushSubscription>, to subscription: NewPushSubscription
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update push_subscription
        set session_id = $1, name = $2, point = $3, auth = $4, language = $5
        where id = $6
        """, subscription.session.number, subscription.name, subscription.point, subscription.auth,
        subscription.language, id.number)
    }
  }

  /// Deletes a subscription with its queue. Returns whether there was one.
  @discardableResult
  public func deletePushSubscription(_ id: ID<PushSubscription>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute("delete from push_subscription where id = $1", id.number) == 1
    }
  }

  public func noteSent(_ id: ID<PushSubscription>) throws(Refusal) {
    try run { connection in
      try connection.execute("update push_subscription set last_sent_at = $1 where id = $2", Int(now), id.number)
    }
  }
}

extension StoredPushSubscription {
  /// Columns of `push_subscription s` and its user `account a`. A client may have stored anything as preferences.
  static let columns = """
    s.id, s.user_id, s.session_id, s.endpoint, s.point, s.auth,
    coalesce(s.language, cast(json_extract(a.preferences, '$.language') as text))
    """

  init(_ row: borrowing Row) throws {
    id = ID(try row.int(0))
    user = ID(try row.int(1))
    session = ID(try row.int(2))
    endpoint = try row.text(3)
    point = try row.bytes(4)
    auth = try row.bytes(5)
    language = try row.optionalText(6)
  }
}

extension PushSubscription {
  fileprivate init(_ row: borrowing Row, current: ID<Session>?) throws {
    let host = try row.text(2).split(separator: "/").dropFirst().first.map(String.init) ?? ""
    self.init(
      id: ID(try row.int(0)), name: try row.text(1), service: host, createdAt: Int64(try row.int(3)),
      lastSentAt: try row.optionalInt(4).map { Int64($0) }, isCurrent: try row.int(5) == current?.number)
  }
}
