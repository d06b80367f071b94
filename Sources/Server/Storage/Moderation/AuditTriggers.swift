// Triggers that keep audit entries immutable, the only triggers of the schema. A foreign database, such as a backup,
// may have no other trigger, because a trigger executes code.

import ParleySQLite

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
