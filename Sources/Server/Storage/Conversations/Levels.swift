public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// The notification level that the user set for a conversation; nil if unset.
  public func level(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Level? {
    try level(of: user, at: conversation.number)
  }

  public func level(of user: ID<User>, in forum: ID<Forum>) throws(Refusal) -> Level? {
    try level(of: user, at: forum.number)
  }

  fileprivate func level(of user: ID<User>, at scope: Int) throws(Refusal) -> Level? {
    try run { connection in
      try connection.first(
        """
        select level
        from level
        where user_id = $1 and scope_id = $2
        """, user.number, scope
      ) { row in try row.word(0) }
    }
  }
}

extension WriteTransaction {
  /// Sets or, with nil, resets a level. An unchanged level is not written.
  public func setLevel(_ level: Level?, of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) {
    try setLevel(level, of: user, at: conversation.number)
  }

  public func setLevel(_ level: Level?, of user: ID<User>, in forum: ID<Forum>) throws(Refusal) {
    try setLevel(level, of: user, at: forum.number)
  }

  /// Sets `everything` for an author of a topic, unless the user has set a level.
  public func follow(_ topic: ID<Conversation>, by user: ID<User>) throws(Refusal) {
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into level (user_id, scope_id, level)
        values ($1, $2, $3)
        on conflict (user_id, scope_id) do nothing
        """, user.number, topic.number, Level.everything.rawValue) == 1
    }
    guard isNew else { return }
    try log(.levelChanged, in: .user(user), subject: topic.number, revision: 0, actor: user.number)
  }

  private func setLevel(_ level: Level?, of user: ID<User>, at scope: Int) throws(Refusal) {
    guard try self.level(of: user, at: scope) != level else { return }
    try run { connection in
      if let level {
        try connection.execute(
          """
          insert into level (user_id, scope_id, level)
          values ($1, $2, $3)
          on conflict (user_id, scope_id) do update
          set level = excluded.level
          """, user.number, scope, level.rawValue)
      } else {
        try connection.execute(
          """
          delete from level
          where user_id = $1 and scope_id = $2
          """, user.number, scope)
      }
    }
    try log(.levelChanged, in: .user(user), subject: scope, revision: 0, actor: user.number)
  }
}
