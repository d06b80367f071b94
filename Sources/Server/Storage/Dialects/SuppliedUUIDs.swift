// UUIDs that clients of dialects chose for what they made.

public import ParleyModel
import ParleySQLite

/// The kinds of things that a client may name by a UUID. The raw values are stored.
public enum SuppliedKind: String, Sendable, Hashable, CaseIterable {
  case forum, message
}

extension ReadTransaction {
  /// The id of the thing that a client named by this UUID, in any case of its letters.
  public func subject(of kind: SuppliedKind, named uuid: String) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        """
        select subject
        from supplied_uuid
        where kind = $1 and uuid = $2
        """, kind.rawValue, uuid
      ) { row in try row.int(0) }
    }
  }

  /// The UUIDs that clients chose, by id.
  public func suppliedUUIDs(_ kind: SuppliedKind, of ids: [Int]) throws(Refusal) -> [Int: String] {
    let query =
      switch kind {
      case .forum: Self.forumUUIDs
      case .message: Self.messageUUIDs
      }
    var found: [Int: String] = [:]
    try run { connection in
      try query.each(ids, connection) { row in found[try row.int(0)] = try row.text(1) }
    }
    return found
  }

  private static let forumUUIDs = uuids(of: .forum)
  private static let messageUUIDs = uuids(of: .message)

  private static func uuids(of kind: SuppliedKind) -> ListQuery {
    ListQuery { list in
      """
      select subject, uuid
      from supplied_uuid
      where kind = '\(kind.rawValue)' and subject in (\(list))
      """
    }
  }

  /// The last changes of forums.
  public func lastChanges(of forums: [ID<Forum>]) throws(Refusal) -> [ID<Forum>: ForumLastChange] {
    var found: [ID<Forum>: ForumLastChange] = [:]
    try run { connection in
      try Self.changesByForum.each(forums.map(\.number), connection) { row in
        found[ID(try row.int(0))] = ForumLastChange(
          at: try row.int(1), by: try row.optionalInt(2).map { ID($0) })
      }
    }
    return found
  }

  private static let changesByForum = ListQuery { list in
    """
    select id, changed_at, changed_by
    from forum
    where id in (\(list))
    """
  }
}

/// The creation of a forum, or the last change of its fields.
public struct ForumLastChange: Sendable, Hashable {
  /// Microseconds since 1970, unique on the site.
  public let at: Int
  public let by: ID<User>?

  public init(at: Int, by: ID<User>?) {
    self.at = at
    self.by = by
  }
}

extension WriteTransaction {
  /// Stores the UUID of a new thing. Throws if another one has it.
  public func supply(
    _ uuid: String, for kind: SuppliedKind, _ subject: Int, by user: ID<User>
  ) throws(Refusal) {
    guard try self.subject(of: kind, named: uuid) == nil else { throw .taken("uuid") }
    try run { connection in
      try connection.execute(
        """
        insert into supplied_uuid (kind, uuid, subject, user_id)
        values ($1, $2, $3, $4)
        """, kind.rawValue, uuid, subject, user.number)
    }
  }

  /// Deletes the UUIDs that the clients of a user chose. Returns whether none is left.
  func removeSuppliedUUIDs(of user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from supplied_uuid
        where (kind, uuid) in (
          select kind, uuid
          from supplied_uuid
          where user_id = $1
          limit $2
        )
        """, user.number, limit) < limit
    }
  }

  /// The time of a change of a forum, in microseconds: later than those of all others.
  func nextForumChange() throws(Refusal) -> Int {
    let last = try run { connection in
      try connection.first("select max(changed_at) from forum") { row in try row.optionalInt(0) }
    }.flatMap(\.self)
    return max(Int(now) * 1_000, (last ?? 0) + 1)
  }
}
