// Positions of users in lists, for clients of App.net and pnut.

public import ParleyModel
import ParleySQLite

public struct DialectMarker: Sendable, Hashable {
  public let name: String
  public var message: ID<Message>
  public var lastRead: ID<Message>
  /// The shown part of the message, up to 100.
  public var percentage: Int
  /// Milliseconds since 1970.
  public var updatedAt: Int64
  /// Increases with each change.
  public var version: Int

  public init(
    name: String, message: ID<Message>, lastRead: ID<Message>, percentage: Int, updatedAt: Int64, version: Int
  ) {
    self.name = name
    self.message = message
    self.lastRead = lastRead
    self.percentage = percentage
    self.updatedAt = updatedAt
    self.version = version
  }
}

extension ReadTransaction {
  public func dialectMarker(_ name: String, of user: ID<User>) throws(Refusal) -> DialectMarker? {
    try run { connection in
      try connection.first(
        """
        select message_id, last_read_id, percentage, updated_at, version
        from dialect_marker
        where user_id = $1 and name = $2
        """, user.number, name
      ) { row in
        DialectMarker(
          name: name, message: ID(try row.int(0)), lastRead: ID(try row.int(1)), percentage: try row.int(2),
          updatedAt: Int64(try row.int(3)), version: try row.int(4))
      }
    }
  }

  public func dialectMarkerCount(of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from dialect_marker where user_id = $1", user.number) { row in
        try row.int(0)
      }
    } ?? 0
  }
}

extension WriteTransaction {
  public func set(_ marker: DialectMarker, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into dialect_marker (user_id, name, message_id, last_read_id, percentage, updated_at, version)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (user_id, name) do update
        set message_id = excluded.message_id, last_read_id = excluded.last_read_id, percentage = excluded.percentage,
          updated_at = excluded.updated_at, version = excluded.version
        """, user.number, marker.name, marker.message.number, marker.lastRead.number, marker.percentage,
        Int(marker.updatedAt), marker.version)
    }
  }

  /// Removes the marker with the earliest change.
  public func removeOldestDialectMarker(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from dialect_marker
        where user_id = $1 and name = (
          select name
          from dialect_marker
          where user_id = $1 and updated_at = (select min(updated_at) from dialect_marker where user_id = $1)
          limit 1
        )
        """, user.number)
    }
  }

  public func removeDialectMarker(_ name: String, of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from dialect_marker where user_id = $1 and name = $2", user.number, name)
    }
  }
}
