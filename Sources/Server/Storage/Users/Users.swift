// Users. A query returns all fields but secrets; the Community layer decides which of them the caller may see.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func user(_ id: ID<User>) throws(Refusal) -> User? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(User.columns)
          from account a
          where id = $1
          """), id.number
      ) { row in try User(row) }
    }
  }

  /// The user with this name, ignoring case; nil if the name is free.
  public func user(named name: String) throws(Refusal) -> ID<User>? {
    try run { connection in
      try connection.first(
        """
        select id
        from account
        where name_key = $1
        """, UserName.key(name)
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Active users by name prefix, sorted by name, after `name`.
  public func users(namePrefix: String, after name: String?, limit: Int) throws(Refusal) -> [User] {
    let prefix = UserName.key(namePrefix)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where name_key >= $1 and name_key < $2 and name_key > $3 and state in ('active', 'deactivated')
          order by name_key
          limit $4
          """), prefix, prefix + "\u{10ffff}", name.map { UserName.key($0) } ?? "", limit
      ) { row in try User(row) }
    }
  }

  /// Users in a state, oldest first, with ids above `id`.
  public func users(in state: UserState, after id: ID<User>?, limit: Int) throws(Refusal) -> [User] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where state = $1 and id > $2
          order by id
          limit $3
          """), state.rawValue, id?.number ?? 0, limit
      ) { row in try User(row) }
    }
  }

  /// Whether the site has an owner that can sign in, other than `user`.
  public func hasOwner(except user: ID<User>? = nil) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select id
        from account
        where state = 'active' and imported = 0 and role = 'owner' and id is distinct from $1
        limit 1
        """, user?.number
      ) { row in try row.int(0) } != nil
    }
  }

  /// The first owner that can sign in.
  public func owner() throws(Refusal) -> ID<User>? {
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

  /// All users but departed ones, oldest first, with ids above `id`.
  public func everyone(after id: ID<User>?, limit: Int) throws(Refusal) -> [User] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where id > $1 and state not in ('left', 'erased')
          order by id
          limit $2
          """), id?.number ?? 0, limit
      ) { row in try User(row) }
    }
  }

  /// Whether two users share a forum or a conversation.
  public func areTogether(_ one: ID<User>, _ other: ID<User>) throws(Refusal) -> Bool {
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

  /// Whether a user is a member or participant of anything public.
  public func isInPublic(_ user: ID<User>) throws(Refusal) -> Bool {
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
        """, user.number
      ) { row in try row.bool(0) } ?? false
    }
  }
}

extension User {
  /// Columns of `init(_: Row)`, in its order, of `user a`.
  static let columns = """
    a.id, a.name, a.display_name, a.bio, a.role, a.created_at, a.revision, a.state, a.imported, a.last_seen_at,
    a.discoverable, a.reachable_by, a.shows_receipts, a.preferences, a.name_key, a.shows_presence
    """

  init(_ row: borrowing Row) throws {
    // A departed user keeps the row, but not the name.
    let hasName = !row.isNull(14)
    self.init(
      UserSummary(
        id: ID(try row.int(0)), name: hasName ? try row.text(1) : nil, displayName: try row.optionalText(2),
        bio: try row.text(3), role: try row.word(4), createdAt: Int64(try row.int(5)), revision: try row.int(6)),
      standing: Standing(
        state: try row.word(7), isImported: try row.bool(8), lastSeenAt: try row.optionalInt(9).map { Int64($0) }),
      own: Own(
        isDiscoverable: try row.bool(10), reachableBy: try row.word(11), showsReceipts: try row.bool(12),
        showsPresence: try row.bool(15), preferences: JSONRaw(trusted: Array(try row.text(13).utf8))))
  }
}
