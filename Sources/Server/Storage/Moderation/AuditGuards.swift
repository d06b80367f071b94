// What keeps the audit as it was written: two triggers, the only ones that a database of ours has. A database that comes from
// somewhere else, such as a backup, may have these and no other, since a trigger acts in our name.

import ParleySQLite

enum AuditGuards {
  /// As SQLite keeps them.
  static let all = [
    "audit_is_not_changed": """
    CREATE TRIGGER audit_is_not_changed before update on audit
    begin
      select raise(abort, 'the audit is only added to');
    end
    """,
    "audit_is_not_removed": """
    CREATE TRIGGER audit_is_not_removed before delete on audit
    begin
      select raise(abort, 'the audit is only added to');
    end
    """,
  ]

  /// Those of them that a database lacks, or has otherwise.
  static func missing(in connection: Connection) throws -> [String] {
    let present = try actors(in: connection)
    return all.filter { name, text in !present.contains { $0 == (name, text) } }.map(\.key).sorted()
  }

  /// Whether a database has triggers or views beside them.
  static func hasOthers(_ connection: Connection) throws -> Bool {
    try actors(in: connection).contains { name, text in all[name] != text }
  }

  private static func actors(in connection: Connection) throws -> [(name: String, text: String)] {
    try connection.all("select name, sql from sqlite_schema where type in ('trigger', 'view') order by name") { row in
      (name: try row.text(0), text: try row.text(1))
    }
  }
}
