// Follows, mutes and blocks. They are private, so their events are in the user's own stream.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Users that a user follows, mutes or blocks, by id. Disabled followed users are omitted.
  public func users(
    _ relation: Relation, of user: ID<User>, _ slice: ListSlice
  ) throws(Refusal) -> [User] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from relation r
          join account a on a.id = r.other_id
          where r.user_id = $1 and r.kind = $2 and r.other_id \(page.comparison) $3
          and (a.state in ('active', 'deactivated') or r.kind <> 'follow')
          order by r.other_id \(page.order)
          limit $4
          """), user.number, relation.rawValue, page.number(), slice.limit
      ) { row in try User(row) }
    }
  }

  /// Followers of a user, by id.
  public func followers(
    of user: ID<User>, _ slice: ListSlice
  ) throws(Refusal) -> [User] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from relation r
          join account a on a.id = r.user_id
          where r.other_id = $1 and r.kind = 'follow' and r.user_id \(page.comparison) $2 and a.state in ('active', 'deactivated')
          order by r.user_id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in try User(row) }
    }
  }

  public func relationCount(_ relation: Relation, of user: ID<User>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from relation
        where user_id = $1 and kind = $2
        """, user.number, relation.rawValue
      ) { row in try row.int(0) } ?? 0
    }
  }

  public func has(_ relation: Relation, _ user: ID<User>, to other: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from relation
        where user_id = $1 and kind = $2 and other_id = $3
        """, user.number, relation.rawValue, other.number
      ) { _ in true } ?? false
    }
  }

  /// Whether one of the two users has blocked the other.
  public func isBlocked(_ one: ID<User>, _ other: ID<User>) throws(Refusal) -> Bool {
    if try has(.block, one, to: other) { return true }
    return try has(.block, other, to: one)
  }
}

extension WriteTransaction {
  /// Adds a relation; a block also removes follows in both directions. Returns whether it is new.
  @discardableResult
  public func set(
    _ relation: Relation, of user: ID<User>, to other: ID<User>
  ) throws(Refusal) -> Bool {
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into relation (user_id, kind, other_id, created_at)
        values ($1, $2, $3, $4)
        on conflict (user_id, kind, other_id) do nothing
        """, user.number, relation.rawValue, other.number, Int(now)) == 1
    }
    guard isNew else { return false }
    if relation == .block {
      _ = try remove(.follow, of: user, to: other)
      if try remove(.follow, of: other, to: user) { try logRelation(of: other, to: user, by: user) }
    }
    try logRelation(of: user, to: other, by: user)
    return true
  }

  /// Removes a relation. Returns whether it existed.
  public func end(_ relation: Relation, of user: ID<User>, to other: ID<User>) throws(Refusal) -> Bool {
    guard try remove(relation, of: user, to: other) else { return false }
    try logRelation(of: user, to: other, by: user)
    return true
  }

  private func remove(
    _ relation: Relation, of user: ID<User>, to other: ID<User>
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from relation
        where user_id = $1 and kind = $2 and other_id = $3
        """, user.number, relation.rawValue, other.number) == 1
    }
  }

  /// Logs a change. Delivery reads all relations between the two, so one event covers several changes.
  func logRelation(of user: ID<User>, to other: ID<User>, by actor: ID<User>) throws(Refusal) {
    try log(.relationChanged, in: .user(user), subject: other.number, revision: 0, actor: actor.number)
  }
}
