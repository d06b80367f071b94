// The branch of an invite: users who signed up with it or with the invites of its users. It can be banned as a whole.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Progress of the ban of a branch.
public struct BranchBan: Sendable {
  public let invite: ID<Invite>
  public let includesDescendants: Bool
  public let reason: String?
  public let actor: ID<User>
  /// Users up to this id are banned.
  public var user = ID<User>(0)

  public init(_ invite: ID<Invite>, descendants: Bool, reason: String?, by actor: ID<User>) {
    self.invite = invite
    includesDescendants = descendants
    self.reason = reason
    self.actor = actor
  }
}

extension BranchBan: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    invite = try object.read("invite")
    includesDescendants = try object.bool("descendants")
    reason = try object.optional("reason")
    actor = try object.read("actor")
    user = ID(try object.int("account"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("invite", invite)
      json.field("descendants", includesDescendants)
      json.field("reason", reason)
      json.field("actor", actor)
      json.field("account", user.number)
    }
  }
}

extension ReadTransaction {
  /// Users of an invite and, with `descendants`, of the invites created by them, recursively; ids above `user`.
  public func users(
    inBranchOf invite: ID<Invite>, descendants: Bool, after user: ID<User>, limit: Int
  ) throws(Refusal) -> [ID<User>] {
    try run { connection in
      try connection.all(
        """
        with recursive branch (id) as (
          select $1
          union
          select i.id
          from invite i
          join branch b on i.parent_id = b.id
          where $2
        )
        select u.user_id
        from branch b
        join invite_use u on u.invite_id = b.id
        where u.user_id > $3
        order by u.user_id
        limit $4
        """, invite.number, descendants, user.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }
}
