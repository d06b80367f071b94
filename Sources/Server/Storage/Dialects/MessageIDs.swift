// Ids of messages as positions in lists by time.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The time of the newest message up to an id, in milliseconds since 1970; nil before the first one. Ids grow with time.
  public func time(upTo message: ID<Message>) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select coalesce(latest_at, created_at)
        from message
        where id <= $1
        order by id desc
        limit 1
        """, message.number
      ) { row in try row.int(0) }
    }
  }
}
