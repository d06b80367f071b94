// The last read posts of timelines.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The position of a user, and the sort key of its post; nil before the first move.
  public func timelinePosition(of user: ID<User>) throws(Refusal) -> (position: TimelinePosition, key: ListKey)? {
    try run { connection in
      try connection.first(
        """
        select message_at, message_id, read_at
        from timeline_position
        where user_id = $1
        """, user.number
      ) { row in
        let message = try row.int(1)
        return (
          TimelinePosition(message: ID(message), readAt: Int64(try row.int(2))), ListKey([try row.int(0), message])
        )
      }
    }
  }

  /// The number of messages by others.
  public func count(of messages: [ID<Message>], notBy user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from message
        where id in (select value from json_each($1)) and author_id <> $2
        """, messages.map(\.number).jsonText, user.number
      ) { row in try row.int(0) } ?? 0
    }
  }
}

extension WriteTransaction {
  /// Moves the position of a user forward to a post. It never moves back.
  public func moveTimelinePosition(of user: ID<User>, to message: ID<Message>) throws(Refusal) {
    let hasMoved = try run { connection in
      try connection.execute(
        """
        insert into timeline_position (user_id, message_at, message_id, read_at)
        select $1, coalesce(latest_at, created_at), id, $2
        from message
        where id = $3
        on conflict (user_id) do update
        set message_at = excluded.message_at, message_id = excluded.message_id, read_at = excluded.read_at
        where (excluded.message_at, excluded.message_id) > (message_at, message_id)
        """, user.number, Int(now), message.number) == 1
    }
    if hasMoved { try log(.timelineRead, in: .user(user), subject: user.number, revision: 0, actor: user.number) }
  }
}
