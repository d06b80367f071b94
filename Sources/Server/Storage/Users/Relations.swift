// Whom people follow, mute and block. It concerns the one who says it alone, so its events are of their own stream.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Whom somebody follows, mutes or blocks, by id, after that one. Whom they follow and who is kept out is left out.
  public func people(
    _ relation: Relation, of account: ID<Account>, after other: ID<Account>?, limit: Int
  ) throws(Refusal) -> [Person] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from relation r
          join account a on a.id = r.other_id
          where r.user_id = $1 and r.kind = $2 and r.other_id > $3
          and (a.state in ('active', 'deactivated') or r.kind <> 'follow')
          order by r.other_id
          limit $4
          """), account.number, relation.rawValue, other?.number ?? 0, limit
      ) { row in try Person(row) }
    }
  }

  /// Who follows somebody, by id, after that one.
  public func followers(
    of account: ID<Account>, after other: ID<Account>?, limit: Int
  ) throws(Refusal) -> [Person] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from relation r
          join account a on a.id = r.user_id
          where r.other_id = $1 and r.kind = 'follow' and r.user_id > $2 and a.state in ('active', 'deactivated')
          order by r.user_id
          limit $3
          """), account.number, other?.number ?? 0, limit
      ) { row in try Person(row) }
    }
  }

  public func relationCount(_ relation: Relation, of account: ID<Account>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from relation
        where user_id = $1 and kind = $2
        """, account.number, relation.rawValue
      ) { row in try row.int(0) } ?? 0
    }
  }

  public func has(_ relation: Relation, _ account: ID<Account>, to other: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from relation
        where user_id = $1 and kind = $2 and other_id = $3
        """, account.number, relation.rawValue, other.number
      ) { _ in true } ?? false
    }
  }

  /// Whether one of the two has blocked the other.
  public func isBlocked(_ one: ID<Account>, _ other: ID<Account>) throws(Refusal) -> Bool {
    if try has(.block, one, to: other) { return true }
    return try has(.block, other, to: one)
  }
}

extension WriteTransaction {
  /// Whether it is new. Who blocks somebody follows them no longer, nor is followed by them.
  @discardableResult
  public func set(
    _ relation: Relation, of account: ID<Account>, to other: ID<Account>
  ) throws(Refusal) -> Bool {
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into relation (user_id, kind, other_id, created_at)
        values ($1, $2, $3, $4)
        on conflict (user_id, kind, other_id) do nothing
        """, account.number, relation.rawValue, other.number, Int(now)) == 1
    }
    guard isNew else { return false }
    if relation == .block {
      _ = try remove(.follow, of: account, to: other)
      if try remove(.follow, of: other, to: account) { try logRelation(of: other, to: account, by: account) }
    }
    try logRelation(of: account, to: other, by: account)
    return true
  }

  /// Whether there was one.
  public func end(_ relation: Relation, of account: ID<Account>, to other: ID<Account>) throws(Refusal) -> Bool {
    guard try remove(relation, of: account, to: other) else { return false }
    try logRelation(of: account, to: other, by: account)
    return true
  }

  private func remove(
    _ relation: Relation, of account: ID<Account>, to other: ID<Account>
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from relation
        where user_id = $1 and kind = $2 and other_id = $3
        """, account.number, relation.rawValue, other.number) == 1
    }
  }

  /// What all of it is now is read when it is delivered, so one event says it, however much has changed at once.
  func logRelation(of account: ID<Account>, to other: ID<Account>, by actor: ID<Account>) throws(Refusal) {
    try log(.relationChanged, in: .user(account), subject: other.number, revision: 0, actor: actor.number)
  }
}
