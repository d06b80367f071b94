// Access to forums by groups of users. A row of `forum_group` with the access `ended` gives none: it stays until a job has
// logged the loss for the members of the group, so that a member who leaves the group meanwhile gets the event, too. It sorts
// before `read` and `write`.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ForumStanding {
  /// The access of a user to a forum `f` by groups, as a column; null without one. On a site without groups in forums, one
  /// look at the table serves all rows.
  static func groupAccess(of user: String) -> String {
    """
    case when exists (select 1 from forum_group where forum_id > 0) then (
      select max(g.access)
      from forum_group g
      join user_group_member n on n.group_id = g.group_id and n.user_id = \(user)
      where g.forum_id = f.id and g.access >= 'read'
    ) end as group_access
    """
  }

  /// The forums of which a user is a member or that the user reads by a group, as a query of `forum_id` with repetitions.
  static func ownForums(of user: String) -> String {
    """
    select forum_id
    from forum_member
    where user_id = \(user)
    union all
    select g.forum_id
    from user_group_member n
    join forum_group g on g.group_id = n.group_id and g.access >= 'read'
    where n.user_id = \(user)
    """
  }
}

extension ReadTransaction {
  /// Expressions, selected from `forum`, for the fields that `forum_group` stores.
  static let groupColumns = ["read_groups": groupList("read"), "write_groups": groupList("write")]

  private static func groupList(_ access: String) -> String {
    """
    case when exists (select 1 from forum_group where forum_id > 0) then (
      select json_group_array(cast(group_id as text))
      from forum_group
      where forum_id = forum.id and access = '\(access)'
    ) else '[]' end
    """
  }

  /// The forums to which a group has access, and those where its members have not been informed of the end, by id.
  public func forums(ofGroup group: ID<UserGroup>) throws(Refusal) -> [ID<Forum>] {
    try run { connection in
      try connection.all(
        """
        select distinct forum_id
        from forum_group
        where group_id = $1
        order by forum_id
        """, group.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// The number of forums to which a group has access.
  public func forumCount(ofGroup group: ID<UserGroup>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(distinct forum_id)
        from forum_group
        where group_id = $1 and access >= 'read'
        """, group.number
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Members of a group with ids above `user`.
  public func members(
    ofGroup group: ID<UserGroup>, after user: ID<User>, limit: Int
  ) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        select user_id
        from user_group_member
        where group_id = $1 and user_id > $2
        order by user_id
        limit $3
        """, group.number, user.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension WriteTransaction {
  /// Stores the groups of a forum. A group without access any more keeps a row `ended`.
  func storeGroups(of forum: Forum, since before: Forum?) throws(Refusal) {
    let lists = [
      (GroupAccess.read, forum.readGroups, before?.readGroups ?? []),
      (GroupAccess.write, forum.writeGroups, before?.writeGroups ?? []),
    ]
    for (access, new, old) in lists {
      for group in old where !new.contains(group) { try deleteAccess(access.rawValue, of: group, to: forum.id) }
      for group in new where !old.contains(group) { try addAccess(access.rawValue, of: group, to: forum.id) }
    }
    for group in before?.groups ?? [] where forum.access(of: group) == nil {
      try addAccess(Self.ended, of: group, to: forum.id)
    }
  }

  private static let ended = "ended"

  private func addAccess(_ access: String, of group: ID<UserGroup>, to forum: ID<Forum>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into forum_group (forum_id, access, group_id)
        values ($1, $2, $3)
        on conflict do nothing
        """, forum.number, access, group.number)
    }
  }

  private func deleteAccess(_ access: String, of group: ID<UserGroup>, to forum: ID<Forum>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from forum_group
        where forum_id = $1 and access = $2 and group_id = $3
        """, forum.number, access, group.number)
    }
  }

  /// Forgets that a group had access: its members have been informed.
  public func forgetEndedAccess(of group: ID<UserGroup>, to forum: ID<Forum>) throws(Refusal) {
    try deleteAccess(Self.ended, of: group, to: forum)
  }

  /// Removes a group from the lists of all forums. Returns the forums that have changed.
  public func endAccess(ofGroup group: ID<UserGroup>, by actor: ID<User>) throws(Refusal) -> [ID<Forum>] {
    var changed: [ID<Forum>] = []
    for id in try forums(ofGroup: group) {
      guard let before = try forum(id), before.access(of: group) != nil else { continue }
      var forum = before
      forum.readGroups.removeAll { $0 == group }
      forum.writeGroups.removeAll { $0 == group }
      _ = try change(before, to: forum, by: actor)
      changed.append(id)
    }
    return changed
  }

  /// Logs in a user's stream that a forum, or the user's access to it, may have changed. The devices fetch the forum.
  public func logForumAccess(of user: ID<User>, to forum: ID<Forum>, by actor: ID<User>) throws(Refusal) {
    try log(.forumUpdated, in: .user(user), subject: forum.number, revision: 0, actor: actor.number)
  }
}

/// Progress of informing the members of groups about a forum.
public struct GroupAccessChange: Sendable {
  public let forum: ID<Forum>
  public let actor: ID<User>
  /// The groups that are not done. In the first one, members up to `user` are.
  public var groups: [ID<UserGroup>]
  public var user = ID<User>(0)

  public init(of forum: ID<Forum>, to groups: [ID<UserGroup>], by actor: ID<User>) {
    self.forum = forum
    self.groups = groups
    self.actor = actor
  }
}

extension GroupAccessChange: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      of: try object.read("forum"), to: try object.read("groups"), by: try object.read("actor"))
    user = ID(try object.int("user"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("groups", groups)
      json.field("user", user.number)
      json.field("actor", actor)
    }
  }
}
