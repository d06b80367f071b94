// People as they are asked for. Whoever asks gets all that is kept of a person, but no secret; what a viewer may see of it
// is decided above.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func person(_ id: ID<Account>) throws(Refusal) -> Person? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Person.columns)
          from account a
          where id = $1
          """), id.number
      ) { row in try Person(row) }
    }
  }

  /// Whose name it is, compared without regard to case; nil once it is free again.
  public func account(named name: String) throws(Refusal) -> ID<Account>? {
    try run { connection in
      try connection.first(
        """
        select id
        from account
        where name_key = $1
        """, AccountName.key(name)
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Who is here and has a name that begins so, by name, after that one.
  public func people(namePrefix: String, after name: String?, limit: Int) throws(Refusal) -> [Person] {
    let prefix = AccountName.key(namePrefix)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from account a
          where name_key >= $1 and name_key < $2 and name_key > $3 and state in ('active', 'deactivated')
          order by name_key
          limit $4
          """), prefix, prefix + "\u{10ffff}", name.map { AccountName.key($0) } ?? "", limit
      ) { row in try Person(row) }
    }
  }

  /// Who stands so with the place, the oldest first, after that one.
  public func people(in state: AccountState, after id: ID<Account>?, limit: Int) throws(Refusal) -> [Person] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from account a
          where state = $1 and id > $2
          order by id
          limit $3
          """), state.rawValue, id?.number ?? 0, limit
      ) { row in try Person(row) }
    }
  }

  /// Whether somebody who can come in looks after the place, but this one.
  public func hasOwner(but account: ID<Account>? = nil) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select id
        from account
        where state = 'active' and imported = 0 and role = 'owner' and id is distinct from $1
        limit 1
        """, account?.number
      ) { row in try row.int(0) } != nil
    }
  }

  /// Of those who can come in and look after the place, who came first.
  public func owner() throws(Refusal) -> ID<Account>? {
    try run { connection in
      try connection.first(
        """
        select id
        from account
        where state = 'active' and imported = 0 and role = 'owner'
        order by id
        limit 1
        """
      ) { row in ID(try row.int(0)) }
    }
  }

  /// All who have an account, the oldest first, after that one.
  public func everyone(after id: ID<Account>?, limit: Int) throws(Refusal) -> [Person] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Person.columns)
          from account a
          where id > $1 and state not in ('left', 'erased')
          order by id
          limit $2
          """), id?.number ?? 0, limit
      ) { row in try Person(row) }
    }
  }

  /// Whether two are in a forum or a conversation together.
  public func areTogether(_ one: ID<Account>, _ other: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select exists (
          select 1
          from participant a
          join participant b on b.conversation_id = a.conversation_id and b.user_id = $1
          where a.user_id = $2
        ) or exists (
          select 1
          from forum_member a
          join forum_member b on b.forum_id = a.forum_id and b.user_id = $1
          where a.user_id = $2
        )
        """, other.number, one.number
      ) { row in try row.bool(0) } ?? false
    }
  }

  /// Whether somebody takes part where everyone reads, signed in or not.
  public func isInPublic(_ account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select exists (
          select 1
          from forum_member m
          join forum f on f.id = m.forum_id
          where m.user_id = $1 and f.visibility = 'public' and f.deleted_at is null
        ) or exists (
          select 1
          from participant p
          join conversation c on c.id = p.conversation_id
          left join forum f on f.id = c.forum_id and f.deleted_at is null
          where p.user_id = $1 and c.state = 'open' and (f.visibility = 'public' or c.readers = 'anyone')
        )
        """, account.number
      ) { row in try row.bool(0) } ?? false
    }
  }
}

extension Person {
  /// What `init(_: Row)` reads, in its order, of `account a`.
  static let columns = """
    a.id, a.name, a.display_name, a.bio, a.role, a.created_at, a.revision, a.state, a.imported, a.last_seen_at,
    a.discoverable, a.reachable_by, a.shows_receipts, a.preferences, a.name_key, a.shows_presence
    """

  init(_ row: borrowing Row) throws {
    // Who has left keeps the row; the name is theirs no longer.
    let hasName = !row.isNull(14)
    self.init(
      Account(
        id: ID(try row.int(0)), name: hasName ? try row.text(1) : nil, displayName: try row.optionalText(2),
        bio: try row.text(3), role: try row.word(4), createdAt: Int64(try row.int(5)), revision: try row.int(6)),
      standing: Standing(
        state: try row.word(7), isImported: try row.bool(8), lastSeenAt: try row.optionalInt(9).map { Int64($0) }),
      own: Own(
        isDiscoverable: try row.bool(10), reachableBy: try row.word(11), showsReceipts: try row.bool(12),
        showsPresence: try row.bool(15), preferences: JSONRaw(trusted: Array(try row.text(13).utf8))))
  }
}
