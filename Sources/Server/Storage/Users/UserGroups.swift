// Groups of users and their members.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// All groups by name.
  func userGroups() throws(Refusal) -> [UserGroup] {
    try run { connection in
      try connection.all(SQL("select \(UserGroup.selected) from user_group order by name_key")) { row in
        try UserGroup(row)
      }
    }
  }

  public func userGroup(_ id: ID<UserGroup>) throws(Refusal) -> UserGroup? {
    try run { connection in
      try connection.first(
        SQL("select \(UserGroup.selected) from user_group where id = $1"), id.number
      ) { row in try UserGroup(row) }
    }
  }

  /// The group with this name, ignoring case.
  public func userGroup(named name: String) throws(Refusal) -> UserGroup? {
    try run { connection in
      try connection.first(
        SQL("select \(UserGroup.selected) from user_group where name_key = $1"), UserName.key(name)
      ) { row in try UserGroup(row) }
    }
  }

  /// Groups in the order of their creation.
  public func userGroups(_ slice: ListSlice) throws(Refusal) -> [UserGroup] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(UserGroup.selected)
          from user_group
          where id \(page.comparison) $1
          order by id \(page.order)
          limit $2
          """), page.number(), slice.limit
      ) { row in try UserGroup(row) }
    }
  }

  public func userGroupCount() throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from user_group") { row in try row.int(0) } ?? 0
    }
  }

  public func memberCount(ofGroup group: ID<UserGroup>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first("select count(*) from user_group_member where group_id = $1", group.number) { row in
        try row.int(0)
      } ?? 0
    }
  }

  public func isMember(_ user: ID<User>, ofGroup group: ID<UserGroup>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from user_group_member
        where user_id = $1 and group_id = $2
        """, user.number, group.number
      ) { _ in true } ?? false
    }
  }

  /// The members of a group by id.
  public func users(inGroup group: ID<UserGroup>, _ slice: ListSlice) throws(Refusal) -> [User] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns)
          from user_group_member m
          join account a on a.id = m.user_id
          where m.group_id = $1 and m.user_id \(page.comparison) $2
          order by m.user_id \(page.order)
          limit $3
          """), group.number, page.number(), slice.limit
      ) { row in try User(row) }
    }
  }
}

extension WriteTransaction {
  /// Adds a group and logs the change of the settings, which list it.
  public func add(_ group: UserGroup, by actor: ID<User>) throws(Refusal) -> UserGroup {
    let id = ID<UserGroup>(nextID())
    try insert(
      into: "user_group",
      [("id", .int(id.number)), ("name_key", .text(UserName.key(group.name)))] + group.columns(since: nil))
    _ = try change(try settings(), by: actor)
    guard let stored = try userGroup(id) else { throw .unavailable }
    return stored
  }

  /// Stores the changed fields of a group and logs the change of the settings.
  public func change(_ before: UserGroup, to group: UserGroup, by actor: ID<User>) throws(Refusal) -> UserGroup {
    guard group != before else { return before }
    var group = group
    group.revision = before.revision + 1
    try update(
      "user_group", group.id.number,
      set: [("name_key", .text(UserName.key(group.name))), ("revision", .int(group.revision))]
        + group.columns(since: before))
    _ = try change(try settings(), by: actor)
    return group
  }

  /// Removes a group and logs the change of the settings. `removeMembers(ofGroup:)` removes its members.
  public func remove(_ group: ID<UserGroup>, by actor: ID<User>) throws(Refusal) {
    try run { connection in try connection.execute("delete from user_group where id = $1", group.number) }
    _ = try change(try settings(), by: actor)
  }

  /// Adds a member and logs the change of the user. Returns whether the user was none before.
  public func addMember(_ user: ID<User>, toGroup group: ID<UserGroup>, by actor: ID<User>) throws(Refusal) -> Bool {
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into user_group_member (user_id, group_id, created_at)
        values ($1, $2, $3)
        on conflict (user_id, group_id) do nothing
        """, user.number, group.number, Int(now)) == 1
    }
    if isAdded { try logMembership(of: user, in: group, by: actor) }
    return isAdded
  }

  /// Removes a member and logs the change of the user. Returns whether the user was one.
  public func removeMember(
    _ user: ID<User>, ofGroup group: ID<UserGroup>, by actor: ID<User>
  ) throws(Refusal) -> Bool {
    let isRemoved = try run { connection in
      try connection.execute(
        """
        delete from user_group_member
        where user_id = $1 and group_id = $2
        """, user.number, group.number) == 1
    }
    if isRemoved { try logMembership(of: user, in: group, by: actor) }
    return isRemoved
  }

  /// Logs the change of the user, and for the user's devices the forums of the group.
  private func logMembership(of user: ID<User>, in group: ID<UserGroup>, by actor: ID<User>) throws(Refusal) {
    try logChange(of: user, by: actor)
    for forum in try forums(ofGroup: group) { try logForumAccess(of: user, to: forum, by: actor) }
  }

  /// Removes members of a deleted group and logs up to `limit` changes of them and their forums. Returns whether more
  /// remain.
  public func removeMembers(
    ofGroup group: ID<UserGroup>, limit: Int, by actor: ID<User>
  ) throws(Refusal) -> Bool {
    let forums = try forums(ofGroup: group)
    let limit = max(limit / (forums.count + 1), 1)
    let members = try run { connection in
      try connection.all(
        """
        select user_id
        from user_group_member
        where group_id = $1
        order by user_id
        limit $2
        """, group.number, limit
      ) { row in ID<User>(try row.int(0)) }
    }
    for member in members { _ = try removeMember(member, ofGroup: group, by: actor) }
    guard members.count < limit else { return true }
    for forum in forums { try forgetEndedAccess(of: group, to: forum) }
    return false
  }
}

/// The job that removes the members of a deleted group.
public struct UserGroupRemoval: Sendable {
  public let group: ID<UserGroup>
  public let actor: ID<User>

  public init(of group: ID<UserGroup>, by actor: ID<User>) {
    self.group = group
    self.actor = actor
  }
}

extension UserGroupRemoval: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(of: try object.read("group"), by: try object.read("actor"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("group", group)
      json.field("actor", actor)
    }
  }
}

extension UserGroup {
  /// Columns of `init(_: Row)`.
  static let selected = "id, revision, \(columns())"

  init(_ row: borrowing Row) throws {
    self.init(id: ID(try row.int("id")), revision: try row.int("revision"))
    try readFields(row, from: row.position("name"))
  }
}

extension UserSummary {
  /// The ids of the groups of `account a` as a text with commas; null without one.
  static let groupColumn = """
    (select group_concat(g.group_id) from user_group_member g where g.user_id = a.id) as group_ids
    """

  static func groups(_ text: String?) -> [ID<UserGroup>] {
    guard let text else { return [] }
    return text.split(separator: ",").compactMap { Int($0) }.sorted().map { ID($0) }
  }
}
