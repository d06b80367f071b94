public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Progress of a change of a user's role through the forums whose readers it changes. The Community layer decides about the
/// permission.
public struct RoleAccessChange: Sendable {
  public let user: ID<User>
  public let before: Role
  public let after: Role
  public let actor: ID<User>
  /// The forums up to this id are done.
  public var forum = ID<Forum>(0)

  public init(of user: ID<User>, from before: Role, to after: Role, by actor: ID<User>) {
    self.user = user
    self.before = before
    self.after = after
    self.actor = actor
  }
}

extension RoleAccessChange: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      of: try object.read("user"), from: try object.word("before"), to: try object.word("after"),
      by: try object.read("actor"))
    forum = ID(try object.int("forum"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user", user)
      json.field("before", before.rawValue)
      json.field("after", after.rawValue)
      json.field("actor", actor)
      json.field("forum", forum.number)
    }
  }
}

extension ReadTransaction {
  /// Forums by id, deleted ones included.
  public func forumIDs(after forum: ID<Forum>, limit: Int) throws(Refusal) -> [ID<Forum>] {
    try run { connection in
      try connection.all(
        """
        select id
        from forum
        where id > $1
        order by id
        limit $2
        """, forum.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }
}
