public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// What somebody said that they want to hear of a conversation; nil where they said nothing.
  public func level(of person: ID<Account>, in conversation: ID<Conversation>) throws(Refusal) -> Level? {
    try level(of: person, at: conversation.number)
  }

  public func level(of person: ID<Account>, in forum: ID<Forum>) throws(Refusal) -> Level? {
    try level(of: person, at: forum.number)
  }

  fileprivate func level(of person: ID<Account>, at place: Int) throws(Refusal) -> Level? {
    try run { connection in
      try connection.first(
        """
        select level
        from level
        where user_id = $1 and place_id = $2
        """, person.number, place
      ) { row in try row.word(0) }
    }
  }
}

extension WriteTransaction {
  /// Nil is what is usual there. What was so before writes nothing.
  public func setLevel(_ level: Level?, of person: ID<Account>, in conversation: ID<Conversation>) throws(Refusal) {
    try setLevel(level, of: person, at: conversation.number)
  }

  public func setLevel(_ level: Level?, of person: ID<Account>, in forum: ID<Forum>) throws(Refusal) {
    try setLevel(level, of: person, at: forum.number)
  }

  /// Who writes in a topic follows it, unless they have said what they want to hear of it.
  public func follow(_ topic: ID<Conversation>, by person: ID<Account>) throws(Refusal) {
    guard try level(of: person, in: topic) == nil else { return }
    try setLevel(.everything, of: person, in: topic)
  }

  private func setLevel(_ level: Level?, of person: ID<Account>, at place: Int) throws(Refusal) {
    guard try self.level(of: person, at: place) != level else { return }
    try run { connection in
      if let level {
        try connection.execute(
          """
          insert into level (user_id, place_id, level)
          values ($1, $2, $3)
          on conflict (user_id, place_id) do update
          set level = excluded.level
          """, person.number, place, level.rawValue)
      } else {
        try connection.execute(
          """
          delete from level
          where user_id = $1 and place_id = $2
          """, person.number, place)
      }
    }
    try log(.levelChanged, in: .user(person), subject: place, revision: 0, actor: person.number)
  }
}
