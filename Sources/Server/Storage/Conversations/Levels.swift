public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody said that they want to hear of a conversation; nil where they said nothing.
  public func level(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Level? {
    try level(of: user, at: conversation.number)
  }

  public func level(of user: ID<User>, in forum: ID<Forum>) throws(Refusal) -> Level? {
    try level(of: user, at: forum.number)
  }

  fileprivate func level(of user: ID<User>, at place: Int) throws(Refusal) -> Level? {
    try run { connection in
      try connection.first(
        """
        select level
        from level
        where user_id = $1 and scope_id = $2
        """, user.number, place
      ) { row in try row.word(0) }
    }
  }
}

extension WriteTransaction {
  /// Nil is what is usual there. What was so before writes nothing.
  public func setLevel(_ level: Level?, of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) {
    try setLevel(level, of: user, at: conversation.number)
  }

  public func setLevel(_ level: Level?, of user: ID<User>, in forum: ID<Forum>) throws(Refusal) {
    try setLevel(level, of: user, at: forum.number)
  }

  /// Who writes in a topic follows it, unless they have said what they want to hear of it.
  public func follow(_ topic: ID<Conversation>, by user: ID<User>) throws(Refusal) {
    guard try level(of: user, in: topic) == nil else { return }
    try setLevel(.everything, of: user, in: topic)
  }

  private func setLevel(_ level: Level?, of user: ID<User>, at place: Int) throws(Refusal) {
    guard try self.level(of: user, at: place) != level else { return }
    try run { connection in
      if let level {
        try connection.execute(
          """
          insert into level (user_id, scope_id, level)
          values ($1, $2, $3)
          on conflict (user_id, scope_id) do update
          set level = excluded.level
          """, user.number, place, level.rawValue)
      } else {
        try connection.execute(
          """
          delete from level
          where user_id = $1 and scope_id = $2
          """, user.number, place)
      }
    }
    try log(.levelChanged, in: .user(user), subject: place, revision: 0, actor: user.number)
  }
}
