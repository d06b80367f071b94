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
        select id, at, actor_id, action, subject, forum_id, reason, changes
        from audit
        where \(conditions)
        order by id \(page.order)
        limit \(limit)
        """
      } _: { row in
        AuditEntry(
          id: ID(try row.int(0)), at: Int64(try row.int(1)), actor: ID(try row.int(2)), kind: try row.word(3),
          subject: try row.int(4), forum: try row.optionalInt(5).map { ID($0) }, reason: try row.optionalText(6),
          changes: try row.optionalText(7).map { JSONRaw(trusted: Array($0.utf8)) })
      }
    }
  }
}

/// Triggers that keep audit entries immutable, the only triggers of the schema. A foreign database, such as a backup,
/// may have no other trigger, because a trigger executes code.
enum AuditTriggers {
  /// Text as in `sqlite_schema`.
  static let all = [
    "audit_refuses_update": """
    CREATE TRIGGER audit_refuses_update before update on audit
    begin
      select raise(abort, 'the audit log is append-only');
    end
    """,
    "audit_refuses_delete": """
    CREATE TRIGGER audit_refuses_delete before delete on audit
    begin
      select raise(abort, 'the audit log is append-only');
    end
    """,
  ]

  /// Triggers that are missing or differ.
  static func missing(in connection: Connection) throws -> [String] {
    let present = try triggersAndViews(in: connection)
    return all.filter { name, text in !present.contains { $0 == (name, text) } }.map(\.key).sorted()
  }

  /// Whether a database has other triggers or views.
  static func hasOthers(_ connection: Connection) throws -> Bool {
    try triggersAndViews(in: connection).contains { name, text in all[name] != text }
  }

  private static func triggersAndViews(in connection: Connection) throws -> [(name: String, text: String)] {
    try connection.all("select name, sql from sqlite_schema where type in ('trigger', 'view') order by name") { row in
      (name: try row.text(0), text: try row.text(1))
    }
  }
}
