// The audit log. An entry is written in the transaction of its action and never changed or removed; triggers enforce
// that.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// - Parameters:
  ///   - subject: the id of the affected object; 0 for the site.
  ///   - changes: the changed fields (`Record.changes`).
  public func audit(
    _ action: AuditedAction, by actor: ID<User>, subject: Int, in forum: ID<Forum>? = nil, reason: String? = nil,
    changes: [JSONRaw] = []
  ) throws(Refusal) {
    let id = nextID()
    var json = JSONWriter()
    json.value(changes)
    let list = changes.isEmpty ? nil : String(decoding: json.bytes, as: UTF8.self)
    try run { connection in
      try connection.execute(
        """
        insert into audit (id, at, actor_id, action, subject, forum_id, reason, changes)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, id, Int(now), actor.number, action.rawValue, subject, forum?.number, reason, list)
    }
  }
}

extension ReadTransaction {
  /// Whether the log has an action on this object.
  public func wasAudited(_ action: AuditedAction, of subject: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        "select 1 from audit where subject = $1 and action = $2 limit 1", subject, action.rawValue
      ) { _ in true } ?? false
    }
  }

  /// Entries, newest first.
  public func audit(
    _ wanted: AuditFilter, _ slice: ListSlice
  ) throws(Refusal) -> [AuditEntry] {
    let page = Keyset(slice, .descending)
    var filter = Filter()
    filter.add(page.number()) { "id \(page.comparison) \($0)" }
    filter.add(wanted.actor?.number) { "actor_id = \($0)" }
    filter.add(wanted.subject) { "subject = \($0)" }
    filter.add(wanted.kind?.rawValue) { "action = \($0)" }
    filter.add(wanted.forum?.number) { "forum_id = \($0)" }
    filter.add(wanted.after.map { Int($0) }) { "at > \($0)" }
    filter.add(wanted.before.map { Int($0) }) { "at < \($0)" }
    return try run { connection in
      try filter.all(limit: slice.limit, connection) { conditions, limit in
        """
        select id, at, actor_id, action, subject, forum_id, reason, changes,
          (select r.author_id from removal r where r.id = subject and action like 'removal.%') as removed_author,
          (
            select iif(action = 'removal.undone', r.restored, r.removed)
            from removal r
            where r.id = subject and action like 'removal.%'
          ) as removed_count
        from audit
        where \(conditions)
        order by id \(page.order)
        limit \(limit)
        """
      } _: { row in
        AuditEntry(
          id: ID(try row.int(0)), at: Int64(try row.int(1)), actor: ID(try row.int(2)), kind: try row.word(3),
          subject: try row.int(4), forum: try row.optionalInt(5).map { ID($0) }, reason: try row.optionalText(6),
          changes: try row.optionalText(7).map { JSONRaw(trusted: Array($0.utf8)) },
          removal: try AuditEntry.Removed(row))
      }
    }
  }
}

extension AuditEntry.Removed {
  fileprivate init?(_ row: borrowing Row) throws {
    guard let count = try row.optionalInt("removed_count") else { return nil }
    self.init(author: try row.optionalInt("removed_author").map { ID($0) }, count: count)
  }
}

extension Store {
  /// The time and the report of the last restore; nil if there was none.
  public func lastRestore() async throws(Refusal) -> (at: Int64, report: String)? {
    try await readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first(
          "select at, reason from audit where action = $1 order by id desc limit 1",
          AuditedAction.siteRestored.rawValue
        ) { row in (at: Int64(try row.int(0)), report: try row.text(1)) }
      }
    }
  }
}
