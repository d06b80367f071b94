// Warnings, silences and bans. At most one of each kind per forum is active; ended ones remain as history.

import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A new sanction, validated by the Community layer.
public struct NewSanction: Sendable {
  public let user: ID<User>
  public let kind: Sanction.Kind
  public let forum: ID<Forum>?
  public let until: Int64?
  public let reason: String?

  public init(
    _ kind: Sanction.Kind, of user: ID<User>, in forum: ID<Forum>? = nil, until: Int64? = nil, reason: String?
  ) {
    self.user = user
    self.kind = kind
    self.forum = forum
    self.until = until
    self.reason = reason
  }
}

extension ReadTransaction {
  /// The active ban or silence.
  public func sanction(
    _ kind: Sanction.Kind, of user: ID<User>, in forum: ID<Forum>? = nil
  ) throws(Refusal) -> Sanction? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Sanction.columns)
          from sanction
          where user_id = $1 and kind = $2 and forum_id is $3 and lifted_at is null and (until is null or until > $4)
          """), user.number, kind.rawValue, forum?.number, Int(now)
      ) { row in try Sanction(row) }
    }
  }

  public func sanction(_ id: ID<Sanction>) throws(Refusal) -> Sanction? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Sanction.columns)
          from sanction
          where id = $1
          """), id.number
      ) { row in try Sanction(row) }
    }
  }

  /// All sanctions of a user, newest first.
  public func sanctions(
    of user: ID<User>, _ slice: ListSlice
  ) throws(Refusal) -> [Sanction] {
    let page = Keyset(slice, .descending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(Sanction.columns)
          from sanction
          where user_id = $1 and id \(page.comparison) $2
          order by id \(page.order)
          limit $3
          """), user.number, page.number(), slice.limit
      ) { row in try Sanction(row) }
    }
  }
}

extension WriteTransaction {
  public func add(_ sanction: NewSanction, by actor: ID<User>) throws(Refusal) -> ID<Sanction> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into sanction (id, user_id, kind, forum_id, until, reason, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, id, sanction.user.number, sanction.kind.rawValue, sanction.forum?.number,
        sanction.until.map { Int($0) }, sanction.reason, actor.number, Int(now))
    }
    return ID(id)
  }

  /// Lifts the active sanction, and expired ones not lifted yet. Returns whether there was any.
  @discardableResult
  public func lift(
    _ kind: Sanction.Kind, of user: ID<User>, in forum: ID<Forum>? = nil, by actor: ID<User>
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update sanction
        set lifted_at = $1, lifted_by = $2
        where user_id = $3 and kind = $4 and forum_id is $5 and lifted_at is null
        """, Int(now), actor.number, user.number, kind.rawValue, forum?.number) > 0
    }
  }

  /// Reactivates users with an expired ban. Returns whether more remain.
  func liftExpiredBans(limit: Int) throws(Refusal) -> Bool {
    let due = try run { connection in
      try connection.all(
        """
        select user_id
        from sanction
        where kind = 'ban' and lifted_at is null and until <= $1
        order by until, id
        limit $2
        """, Int(now), limit
      ) { row in ID<User>(try row.int(0)) }
    }
    for user in due {
      // System action.
      let system = ID<User>(0)
      try lift(.ban, of: user, by: system)
      guard let before = try self.user(user), before.standing?.state == .disabled else { continue }
      var after = before
      after.standing?.state = .active
      _ = try change(before, to: after, by: system)
    }
    return due.count == limit
  }
}

extension Sanction {
  static let columns = "id, user_id, kind, forum_id, until, reason, created_by, created_at, lifted_at"

  init(_ row: borrowing Row) throws {
    self.init(
      id: ID(try row.int(0)), user: ID(try row.int(1)), kind: try row.word(2),
      forum: try row.optionalInt(3).map { ID($0) }, until: try row.optionalInt(4).map { Int64($0) },
      reason: try row.optionalText(5), createdBy: ID(try row.int(6)), createdAt: Int64(try row.int(7)),
      liftedAt: try row.optionalInt(8).map { Int64($0) })
  }
}

extension Silence {
  /// The silences of `account a` that were not lifted, as JSON; null without one.
  static let column = """
    (
      select json_group_array(json_object('forum_id', s.forum_id, 'until', s.until, 'reason', s.reason))
      from sanction s
      where s.user_id = a.id and s.kind = 'silence' and s.lifted_at is null
      having count(*) > 0
    ) as silences
    """

  static func all(_ text: String?) throws(JSONError) -> [Silence] {
    guard let text else { return [] }
    return try JSONValue(parsing: Array(text.utf8)).array { value throws(JSONError) in
      var object = try value.object()
      let forum: Int? = try object.optional("forum_id")
      let until: Int? = try object.optional("until")
      return Silence(
        forum: forum.map { ID($0) }, until: until.map { Int64($0) }, reason: try object.optional("reason"))
    }
  }
}
