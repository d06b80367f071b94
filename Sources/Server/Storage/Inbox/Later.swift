// Conversations that a user has put off. A row ends without a write: at its time, when the read position moves, and by an
// unread notification about the conversation. Housekeeping deletes rows past their time.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The conversations that the inbox of a user omits now.
  public func later(of user: ID<User>) throws(Refusal) -> [Later] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select conversation_id, until
          from later
          where \(Self.isLater)
          order by conversation_id
          """), Int(now), user.number
      ) { row in Later(ID(try row.int(0)), until: Int64(try row.int(1))) }
    }
  }

  /// Condition of a row of `later` that holds at `$1` for the user `$2`.
  static let isLater = """
    later.until > $1 and later.user_id = $2
    and later.read_seq >= coalesce((
      select read_seq
      from read_position
      where user_id = later.user_id and conversation_id = later.conversation_id
    ), 0)
    and not exists (
      select 1
      from notification i
      where i.user_id = later.user_id and i.conversation_id = later.conversation_id and i.read_at is null
      and i.id > later.notification_id
    )
    """
}

extension WriteTransaction {
  /// Condition of a notification of the user `$2` at `$1`.
  static let isNotLater = """
    and not exists (
      select 1
      from later
      where later.conversation_id = notification.conversation_id and \(isLater)
    )
    """

  /// Puts off a conversation, or ends that with nil. Nothing changes if none was put off.
  public func setLater(until: Int64?, _ conversation: ID<Conversation>, of user: ID<User>) throws(Refusal) {
    let count = try run { connection in
      if let until {
        try connection.execute(
          """
          insert into later (user_id, conversation_id, until, read_seq, notification_id)
          values (
            $1, $2, $3,
            coalesce((select read_seq from read_position where user_id = $1 and conversation_id = $2), 0),
            coalesce((select max(id) from notification where user_id = $1), 0)
          )
          on conflict (user_id, conversation_id) do update
          set until = excluded.until, read_seq = excluded.read_seq, notification_id = excluded.notification_id
          """, user.number, conversation.number, Int(until))
      } else {
        try connection.execute(
          """
          delete from later
          where user_id = $1 and conversation_id = $2
          """, user.number, conversation.number)
      }
    }
    guard count > 0 else { return }
    try log(.laterChanged, in: .user(user), subject: conversation.number, revision: 0, actor: user.number)
  }

  /// Deletes rows past their time. Returns whether more remain.
  func removeEndedLater(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from later
        where (user_id, conversation_id) in (
          select user_id, conversation_id
          from later
          where until <= $1
          order by until
          limit $2
        )
        """, Int(now), limit) == limit
    }
  }
}
