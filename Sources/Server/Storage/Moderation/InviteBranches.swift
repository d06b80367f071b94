// Who came by an invite, and by those that grew from it: the branch that is cut off when it turns out to be rotten.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// How far the people of a branch have been banned.
public struct BranchBan: Sendable {
  public let invite: ID<Invite>
  public let includesDescendants: Bool
  public let reason: String?
  public let actor: ID<Account>
  /// All up to this one are done.
  public var account = ID<Account>(0)

  public init(_ invite: ID<Invite>, descendants: Bool, reason: String?, by actor: ID<Account>) {
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
    account = ID(try object.int("account"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("invite", invite)
      json.field("descendants", includesDescendants)
      json.field("reason", reason)
      json.field("actor", actor)
      json.field("account", account.number)
    }
  }
}

extension ReadTransaction {
  /// Who came by an invite, and, with `descendants`, by the invites of those who did, and so on; by id, after that one.
  public func people(
    broughtBy invite: ID<Invite>, descendants: Bool, after account: ID<Account>, limit: Int
  ) throws(Refusal) -> [ID<Account>] {
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
        """, invite.number, descendants, account.number, limit
      ) { row in ID(try row.int(0)) }
    }
  }
}
