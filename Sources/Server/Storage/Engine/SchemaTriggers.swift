import ParleySQLite

/// The triggers of the schema. A foreign database, such as a backup, may have no other trigger, because a trigger executes
/// code.
enum SchemaTriggers {
  /// Triggers that keep audit entries immutable. Text as in `sqlite_schema`.
  static let ofAudit = [
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

  /// Triggers that list topics under their tags.
  static let ofTags = [
    "topic_tags_of_new_topic": """
    CREATE TRIGGER topic_tags_of_new_topic after insert on conversation
    when new.tags is not null
    begin
      insert into topic_tag (forum_id, tag, pinned, activity, conversation_id)
      select new.forum_id, value, new.pinned, max(new.last_message_id, new.id), new.id
      from json_each(new.tags)
      where new.state = 'open';
    end
    """,
    "topic_tags_of_changed_topic": """
    CREATE TRIGGER topic_tags_of_changed_topic
    after update of forum_id, tags, pinned, state on conversation
    when old.tags is not null or new.tags is not null
    begin
      delete from topic_tag
      where conversation_id = old.id;

      insert into topic_tag (forum_id, tag, pinned, activity, conversation_id)
      select new.forum_id, value, new.pinned, max(new.last_message_id, new.id), new.id
      from json_each(new.tags)
      where new.state = 'open';
    end
    """,
  ]

  /// Triggers of these that are missing or differ.
  static func missing(of triggers: [String: String], in connection: Connection) throws -> [String] {
    let present = try triggersAndViews(in: connection)
    return triggers.filter { name, text in !present.contains { $0 == (name, text) } }.map(\.key).sorted()
  }

  /// Whether a database has other triggers or views.
  static func hasOthers(_ connection: Connection) throws -> Bool {
    try triggersAndViews(in: connection).contains { name, text in (ofAudit[name] ?? ofTags[name]) != text }
  }

  private static func triggersAndViews(in connection: Connection) throws -> [(name: String, text: String)] {
    try connection.all("select name, sql from sqlite_schema where type in ('trigger', 'view') order by name") { row in
      (name: try row.text(0), text: try row.text(1))
    }
  }
}
