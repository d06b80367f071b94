// Users. A query returns all fields but secrets; the Community layer decides which of them the caller may see.

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

  /// The role of an active user; nil for any other.
  public func activeRole(of user: ID<User>) throws(Refusal) -> Role? {
    try run { connection in
      try connection.first("select role from account where id = $1 and state = 'active'", user.number) { row in
        try row.word(0)
      }
    }
  }

  /// The users by id, without those that do not exist. One statement for up to 200 ids.
  public func users(_ ids: [ID<User>]) throws(Refusal) -> [ID<User>: User] {
    try run { connection in
      var users: [ID<User>: User] = [:]
      try UserLists.byID.each(ids.map(\.number), connection) { row in
        let user = try User(row)
        users[user.summary.id] = user
      }
      return users
    }
  }

  /// The users in `ids` that share a forum or a conversation with `user` or belong to anything public. One statement
  /// for up to 200 ids.
  public func acquainted(_ ids: [ID<User>], with user: ID<User>) throws(Refusal) -> Set<ID<User>> {
    try run { connection in
      var found: Set<ID<User>> = []
      try UserLists.acquainted.each(ids.map(\.number), and: user.number, connection) { row in
        found.insert(ID(try row.int(0)))
      }
      return found
    }
  }

  /// The users in `ids` that are members or participants of anything public. One statement for up to 200 ids.
  public func inPublic(_ ids: [ID<User>]) throws(Refusal) -> Set<ID<User>> {
    try run { connection in
      var found: Set<ID<User>> = []
      try UserLists.public.each(ids.map(\.number), connection) { row in found.insert(ID(try row.int(0))) }
      return found
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

  /// The users with these names, by the key of the name.
  public func users(named names: [String]) throws(Refusal) -> [String: ID<User>] {
    let keys = Set(names.map { UserName.key($0) }).sorted()
    return try run { connection in
      var users: [String: ID<User>] = [:]
      try connection.each(
        """
        select name_key, id
        from account
        where name_key in (select value from json_each($1))
        """, keys.jsonText
      ) { row in users[try row.text(0)] = ID(try row.int(1)) }
      return users
    }
  }

  /// Active users by name prefix, sorted by name.
  public func users(namePrefix: String, _ slice: ListSlice) throws(Refusal) -> [User] {
    let (prefix, page) = (UserName.key(namePrefix), Keyset(slice, .ascending))
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where name_key >= $1 and name_key < $2 and name_key \(page.comparison) $3
          -- The plus keeps the planner from the index by state, which would need a sort.
          and +state in ('active', 'deactivated')
          order by name_key \(page.order)
          limit $4
          """), prefix, prefix + "\u{10ffff}", page.text, slice.limit
      ) { row in try User(row) }
    }
  }

  /// Users in a state, oldest first.
  public func users(in state: UserState, _ slice: ListSlice) throws(Refusal) -> [User] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where state = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), state.rawValue, page.number(), slice.limit
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

  /// All users but departed ones, oldest first.
  public func everyone(_ slice: ListSlice) throws(Refusal) -> [User] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from account a
          where id \(page.comparison) $1 and state not in ('left', 'erased')
          order by id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try User(row) }
    }
  }

  /// Whether two users share a forum, as members or by groups, or a conversation.
  public func areTogether(_ one: ID<User>, _ other: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(SQL("select \(UserLists.together("$1", "$2"))"), other.number, one.number) { row in
        try row.bool(0)
      } ?? false
    }
  }
}

private enum UserLists {
  static let byID = ListQuery { list in
    """
    select \(User.columns)
    from account a
    where id in (\(list))
    """
  }

  static let acquainted = ListQuery { list, user in
    """
    select a.id
    from account a
    where a.id in (\(list)) and (\(together("a.id", user)) or \(inPublic("a.id")))
    """
  }

  static let `public` = ListQuery { list in
    """
    select a.id
    from account a
    where a.id in (\(list)) and \(inPublic("a.id"))
    """
  }

  /// Whether two users share a forum or a conversation.
  static func together(_ one: String, _ other: String) -> String {
    """
    (exists (
      select 1
      from participant p
      join participant q on q.conversation_id = p.conversation_id and q.user_id = \(one)
      where p.user_id = \(other)
    ) or exists (
      select 1
      from (\(ForumStanding.ownForums(of: other))) as theirs
      where theirs.forum_id in (\(ForumStanding.ownForums(of: one)))
    ))
    """
  }

  /// Whether a user is a member or participant of anything public.
  static func inPublic(_ user: String) -> String {
    """
    (exists (
      select 1
      from forum_member m
      join forum f on f.id = m.forum_id
      where m.user_id = \(user) and f.visibility = 'public' and f.deleted_at is null
    ) or exists (
      select 1
      from participant p
      join conversation c on c.id = p.conversation_id
      left join forum f on f.id = c.forum_id and f.deleted_at is null
      where p.user_id = \(user) and c.state = 'open' and (f.visibility = 'public' or c.readers = 'anyone')
    ))
    """
  }
}

extension User {
  /// Columns of `init(_: Row)`, of `account a`.
  static let columns = """
    \(UserSummary.columns), a.state, a.imported, a.last_seen_at, a.owner_id, \(Silence.column),
    \(Own.columns(of: "a"))
    """

  init(_ row: borrowing Row) throws {
    var own = Own()
    own.silences = try Silence.all(try row.optionalText("silences"))
    try own.readFields(row, from: row.position("discoverable"))
    self.init(
      try UserSummary(row),
      standing: Standing(
        state: try row.word("state"), isImported: try row.bool("imported"),
        lastSeenAt: try row.optionalInt("last_seen_at").map { Int64($0) },
        owner: try row.optionalInt("owner_id").map { ID($0) }),
      own: own)
  }
}

extension UserSummary {
  /// Columns of `init(_: Row)`, of `account a`.
  static let columns = """
    a.id, a.name, a.name_key, a.created_at, a.revision, a.avatar_file_id, \(groupColumn), \(columns(of: "a"))
    """

  init(_ row: borrowing Row) throws {
    // A departed user keeps the row, but not the name.
    let hasName = try !row.isNull("name_key")
    self.init(
      id: ID(try row.int("id")), name: hasName ? try row.text("name") : nil, role: .guest,
      createdAt: Int64(try row.int("created_at")), revision: try row.int("revision"))
    avatarFile = try row.optionalInt("avatar_file_id").map { ID($0) }
    groups = Self.groups(try row.optionalText("group_ids"))
    try readFields(row, from: row.position("display_name"))
  }
}
