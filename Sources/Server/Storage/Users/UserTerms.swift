// The index by which users are found: `user_term`. It changes in the transaction that changes a name.

public import ParleyModel
import ParleySQLite

/// A user that was found, with the first of the terms that matched.
public struct FoundUser: Sendable {
  public let user: User
  public let term: String
}

extension ReadTransaction {
  /// Active users with a term that begins with `beginning`, sorted by the first such term.
  public func users(foundBy beginning: String, _ slice: ListSlice) throws(Refusal) -> [FoundUser] {
    let page = Keyset(slice, .ascending)
    // The bounds of the slice. SQLite would read a later page from the first term on.
    let end = beginning + "\u{10ffff}"
    let (first, last) = slice.isBackward ? (beginning, slice.key?.text ?? end) : (slice.key?.text ?? beginning, end)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(User.columns), t.term
          from user_term t
          join account a on a.id = t.user_id
          where t.term >= $1 and t.term <= $2 and (t.term, t.user_id) \(page.comparison) ($3, $4)
          and not exists (
            select 1
            from user_term earlier
            where earlier.user_id = t.user_id and earlier.term >= $5 and earlier.term < t.term
          )
          -- The plus keeps the planner from the index by state, which would need a sort.
          and +a.state in ('active', 'deactivated')
          order by t.term \(page.order), t.user_id \(page.order)
          limit $6
          """), first, last, page.text, page.number(), beginning, slice.limit
      ) { row in FoundUser(user: try User(row), term: try row.text("term")) }
    }
  }
}

extension WriteTransaction {
  /// Replaces the terms of a user.
  func setTerms(of user: ID<User>, name: String?, displayName: String?) throws(Refusal) {
    let terms = UserTerms.terms(name: name, displayName: displayName)
    try run { connection in try UserTermIndex.set(terms, of: user.number, connection) }
  }
}

enum UserTermIndex {
  static func set(_ terms: Set<String>, of user: Int, _ connection: Connection) throws {
    try connection.execute("delete from user_term where user_id = $1", user)
    for term in terms.sorted() {
      try connection.execute("insert into user_term (term, user_id) values ($1, $2)", term, user)
    }
  }

  /// Writes the terms of all users.
  static func rebuild(_ connection: Connection) throws {
    try connection.execute("delete from user_term")
    try eachUser(connection) { user, terms in try set(terms, of: user, connection) }
  }

  /// The users with their expected terms.
  static func eachUser(_ connection: Connection, _ body: (_ user: Int, _ terms: Set<String>) throws -> Void) throws {
    try connection.each(
      """
      select id, name, display_name
      from account
      where name_key is not null
      order by id
      """
    ) { row in
      try body(
        try row.int(0), UserTerms.terms(name: try row.text(1), displayName: try row.optionalText(2)))
    }
  }
}
