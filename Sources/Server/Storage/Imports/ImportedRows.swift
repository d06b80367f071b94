// Rows that an import has made, by their ids in the source.

public import ParleyModel
import ParleySQLite

/// The kind of row behind an id in a source. The raw values are stored.
public enum ImportedKind: String, Sendable {
  /// The source itself, for ids that are unique only there.
  case site
  case user, group, emoji, forum, conversation, message
  /// An address in the source, such as `u/ada`.
  case address
}

extension ReadTransaction {
  /// The id of the row that an import has made.
  public func imported(_ kind: ImportedKind, _ key: String, from source: String) throws(Refusal) -> Int? {
    try run { connection in
      try connection.first(
        "select subject from imported where source = $1 and kind = $2 and key = $3", source, kind.rawValue, key
      ) { row in try row.int(0) }
    }
  }

  /// Users with this address in a source, and its spelling there; a user of several sources several times.
  public func importedUsers(
    withEmail email: String, limit: Int
  ) throws(Refusal) -> [(user: ID<User>, email: String)] {
    try run { connection in
      try connection.all(
        """
        select subject, email
        from imported
        where lower(email) = lower($1) and email is not null and kind = 'user'
        limit $2
        """, email, limit
      ) { row in (user: ID(try row.int(0)), email: try row.text(1)) }
    }
  }

  /// The key of the imported site; nil if nothing was imported from a site of this kind.
  public func importedSite(from source: String) throws(Refusal) -> String? {
    try run { connection in
      try connection.first("select key from imported where source = $1 and kind = 'site'", source) { row in
        try row.text(0)
      }
    }
  }

  /// The imported message with this key, if it is in the conversation.
  public func importedMessage(
    _ key: String, from source: String, in conversation: ID<Conversation>
  ) throws(Refusal) -> ID<Message>? {
    try run { connection in
      try connection.first(
        """
        select m.id
        from imported i
        join message m on m.id = i.subject
        where i.source = $1 and i.kind = 'message' and i.key = $2 and m.conversation_id = $3
        """, source, key, conversation.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Whether an import fills the conversation, or may append: no message was written after the imported ones.
  public func importState(of conversation: ID<Conversation>) throws(Refusal) -> ImportState? {
    try run { connection in
      try connection.first(
        """
        select state, last_seq = coalesce(import_seq, 0), imported
        from conversation
        where id = $1
        """, conversation.number
      ) { row in
        switch try row.text(0) {
        case "importing": .filling
        case "open": try row.bool(2) && row.bool(1) ? .appendable : .written
        default: .gone
        }
      }
    }
  }
}

/// The changes that an import may make in a conversation.
public enum ImportState: Sendable, Hashable {
  /// The import fills it, and it is invisible.
  case filling
  /// The conversation is open, and its last message is an imported one.
  case appendable
  /// A user has written in it.
  case written
  /// The conversation was deleted.
  case gone
}

extension WriteTransaction {
  /// Remembers the row of an id of the source.
  public func noteImported(
    _ kind: ImportedKind, _ key: String, from source: String, as subject: Int, email: String? = nil
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into imported (source, kind, key, subject, email)
        values ($1, $2, $3, $4, $5)
        on conflict (source, kind, key) do update
        set subject = excluded.subject, email = excluded.email
        """, source, kind.rawValue, key, subject, email)
    }
  }

  /// Forgets the addresses of a user who leaves. The ids stay, so that a repeated import does not bring the user back.
  func forgetImportedAddresses(of user: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute("update imported set email = null where subject = $1 and kind = 'user'", user.number)
      try connection.execute("delete from imported where subject = $1 and kind = 'address'", user.number)
    }
  }
}
