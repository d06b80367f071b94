import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleySQLite

/// A file of an export with one JSON object per line: its fields, and the query of its rows.
public struct ExportTable: Sendable {
  /// The JSON of a field. A column without a value is `null`.
  public enum Kind: Sendable {
    case id, text, number, flag, time
    /// A SHA-256, in hexadecimal.
    case digest
    /// Stored as JSON.
    case json
  }

  public let name: String
  public let summary: String
  public let fields: KeyValuePairs<String, Kind>
  /// `$1` is the user of the export, 0 for the whole site.
  let query: SQL
  /// Whether the query has `$1`.
  let isScoped: Bool

  init(_ name: String, _ summary: String, _ fields: KeyValuePairs<String, Kind>, _ query: String) {
    (self.name, self.summary, self.fields) = (name, summary, fields)
    (self.query, isScoped) = (SQL(query), query.contains("$1"))
  }

  func line(_ row: borrowing Row) throws -> [UInt8] {
    var values: [Value] = []
    for (index, (_, kind)) in fields.enumerated() { values.append(try Value(row, index, kind)) }
    var json = JSONWriter()
    json.object { json in
      for ((name, _), value) in zip(fields, values) { json.field(name, value) }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  private enum Value: JSONWritable {
    case none
    case id(Int)
    case text(String)
    case number(Int)
    case flag(Bool)
    case time(Int)
    case json(JSONValue)

    init(_ row: borrowing Row, _ index: Int, _ kind: Kind) throws {
      guard !row.isNull(index) else {
        self = .none
        return
      }
      switch kind {
      case .id: self = .id(try row.int(index))
      case .text: self = .text(try row.text(index))
      case .number: self = .number(try row.int(index))
      case .flag: self = .flag(try row.bool(index))
      case .time: self = .time(try row.int(index))
      case .digest: self = .text(Hex.text(try row.bytes(index)))
      case .json: self = .json(try JSONValue(parsing: Array(try row.text(index).utf8)))
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .none: json.null()
      case .id(let number): json.value(ID<User>(number))
      case .text(let text): json.value(text)
      case .number(let number): json.value(number)
      case .flag(let flag): json.value(flag)
      case .time(let time): json.value(Timestamp(time))
      case .json(let value): json.value(value)
      }
    }
  }
}

extension ExportTable {
  /// The conversations of an export are in `export_scope`: those that it has as a whole, from `from_seq` on, and those with messages
  /// of the user, `readable` if the user may still read them. Their exported messages are in `export_message`. Files have a digest
  /// and a size, to read them after the transaction.
  static let tables: [SQL] = [
    """
    create temp table export_scope (
      id integer primary key, whole integer not null, from_seq integer not null, readable integer not null
    )
    """,
    "create temp table export_message (id integer primary key, conversation_id integer not null, seq integer not null)",
    "create index temp.export_message_place on export_message (conversation_id, seq)",
    "create temp table export_file (id integer primary key, digest blob not null, size integer not null, path text)",
    checkpointTable,
  ]

  static let conversationsOfSite: SQL =
    """
    insert into export_scope (id, whole, from_seq, readable)
    select c.id, 1, 1, 1
    from conversation c
    left join forum f on f.id = c.forum_id
    where c.state in ('open', 'inactive') and f.deleted_at is null
    """

  /// Direct and group conversations, and those with messages of the user.
  static let conversationsOfUser: [SQL] = [
    """
    insert into export_scope (id, whole, from_seq, readable)
    select c.id, 1, p.from_seq, 1
    from participant p
    join conversation c on c.id = p.conversation_id
    where p.user_id = $1 and c.kind in ('direct', 'group') and c.state in ('open', 'inactive')
    """,
    """
    insert or ignore into export_scope (id, whole, from_seq, readable)
    select c.id, 0, 1, case
      when f.id is null then c.readers <> 'listed' or c.owner_id is $1
        or exists (select 1 from participant where conversation_id = c.id and user_id = $1)
      else f.visibility <> 'private'
        or exists (select 1 from forum_member where forum_id = f.id and user_id = $1)
        or exists (
          select 1
          from forum_group g
          join user_group_member n on n.group_id = g.group_id
          where g.forum_id = f.id and n.user_id = $1 and g.access >= 'read'
        )
      end
    from conversation c
    left join forum f on f.id = c.forum_id
    where c.id in (select conversation_id from message where author_id = $1 and deletion is null)
      and c.state in ('open', 'inactive') and f.deleted_at is null
    """,
  ]

  /// The messages of whole conversations.
  static let messages: SQL =
    """
    insert into export_message (id, conversation_id, seq)
    select m.id, m.conversation_id, m.seq
    from export_scope s
    join message m on m.conversation_id = s.id and m.seq >= s.from_seq
    where s.whole = 1 and m.deletion is null
    """

  static let messagesOfUser: SQL =
    """
    insert or ignore into export_message (id, conversation_id, seq)
    select id, conversation_id, seq
    from message
    where author_id = $1 and deletion is null and conversation_id in (select id from export_scope)
    """

  /// The files of exported messages, the pictures that are in use, and the uploads of the user that no message has had yet. A file of a
  /// deleted, removed or held message is in none of these. `$1` is the user, 0 for the whole site; `$2` is the icon of the site.
  static let exportedFiles: SQL =
    """
    select id, digest, size, name
    from file
    where id in (select a.file_id from export_message e join attachment a on a.message_id = e.id)
      or ($1 = 0 or owner_id = $1) and (
        id in (select avatar_file_id from account)
        or id in (select cover_file_id from dialect_profile)
        or id in (select icon_file_id from forum where deleted_at is null)
        or id in (select file_id from emoji)
        or id = $2
      )
      or owner_id = $1 and unused_since = created_at
    order by id
    """

  static let ofSite = [users, groups, groupMembers, forums, forumMembers] + ofContent
  static let ofUser = [profile, relations, levels, users, forums] + ofContent
  private static let ofContent = [
    conversations, participants, messageTable, revisions, attachments, actions, polls, votes, files, entries,
    checkpoints,
  ]

  private static let profile = ExportTable(
    "profile", "The user with the settings.",
    [
      "id": .id, "name": .text, "display_name": .text, "bio": .text, "role": .text, "status_text": .text,
      "status_emoji": .text, "discoverable": .flag, "reachable_by": .text, "show_receipts": .flag,
      "show_presence": .flag, "preferences": .json, "email": .text, "notifications_paused": .flag,
      "quiet_hours": .json, "created_at": .time, "last_seen_at": .time, "locale": .text, "time_zone": .text,
    ],
    """
    select a.id, a.name, a.display_name, a.bio, a.role, a.status_text, a.status_emoji, a.discoverable, a.reachable_by,
      a.shows_receipts, a.shows_presence, a.preferences, e.address, n.paused, n.quiet_hours, a.created_at,
      a.last_seen_at, d.locale, d.timezone
    from account a
    left join email e on e.user_id = a.id
    left join notification_settings n on n.user_id = a.id
    left join dialect_profile d on d.user_id = a.id
    where a.id = $1
    """)

  private static let relations = ExportTable(
    "relations", "Users that the user follows, mutes or blocks.",
    ["user_id": .id, "kind": .text, "created_at": .time],
    """
    select other_id, kind, created_at
    from relation
    where user_id = $1
    order by kind, other_id
    """)

  private static let levels = ExportTable(
    "levels", "Chosen levels of notifications of forums and conversations.",
    ["scope_id": .id, "level": .text],
    """
    select scope_id, level
    from level
    where user_id = $1
    order by scope_id
    """)

  private static let users = ExportTable(
    "users", "Users.",
    [
      "id": .id, "name": .text, "display_name": .text, "bio": .text, "role": .text, "state": .text, "created_at": .time,
    ],
    """
    select id, name, display_name, bio, role, state, created_at
    from account
    where $1 = 0 or id = $1
      or id in (select user_id from participant where conversation_id in (select id from export_scope where whole = 1))
      or id in (select m.author_id from export_message e join message m on m.id = e.id)
    order by id
    """)

  private static let groups = ExportTable(
    "groups", "Groups of users.", ["id": .id, "name": .text, "hue": .number],
    """
    select id, name, hue
    from user_group
    order by id
    """)

  private static let groupMembers = ExportTable(
    "group_members", "Members of groups.", ["group_id": .id, "user_id": .id, "created_at": .time],
    """
    select group_id, user_id, created_at
    from user_group_member
    order by group_id, user_id
    """)

  private static let forums = ExportTable(
    "forums", "Forums.",
    [
      "id": .id, "title": .text, "description": .text, "visibility": .text, "section": .text, "room_id": .id,
      "created_by": .id, "created_at": .time, "archived_at": .time,
    ],
    """
    select id, title, description, visibility, section, room_id, created_by, created_at, archived_at
    from forum
    where deleted_at is null and ($1 = 0 or id in (
      select c.forum_id
      from export_scope s
      join conversation c on c.id = s.id
      where s.readable = 1 and c.forum_id is not null
    ))
    order by id
    """)

  private static let forumMembers = ExportTable(
    "forum_members", "Members of forums.", ["forum_id": .id, "user_id": .id, "role": .text, "created_at": .time],
    """
    select m.forum_id, m.user_id, m.role, m.created_at
    from forum_member m
    join forum f on f.id = m.forum_id
    where f.deleted_at is null
    order by m.forum_id, m.user_id
    """)

  private static let conversations = ExportTable(
    "conversations",
    "Rooms and topics of forums, direct and group conversations, channels and feeds. Their title, tags and state are null if the "
      + "user may no longer read the conversation.",
    [
      "id": .id, "kind": .text, "forum_id": .id, "owner_id": .id, "title": .text, "tags": .json, "locked": .flag,
      "pinned": .flag, "solved_by": .id, "created_by": .id, "created_at": .time, "whole": .flag, "chained": .flag,
    ],
    """
    select c.id, c.kind, c.forum_id, iif(s.readable, c.owner_id, null), iif(s.readable, c.title, null),
      iif(s.readable, c.tags, null), iif(s.readable, c.locked, null), iif(s.readable, c.pinned, null),
      iif(s.readable, c.solved_by, null), c.created_by, c.created_at, s.whole, s.whole and s.from_seq = 1
    from export_scope s
    join conversation c on c.id = s.id
    order by c.id
    """)

  private static let participants = ExportTable(
    "participants", "Participants of conversations that are exported as a whole.",
    ["conversation_id": .id, "user_id": .id, "role": .text, "joined_at": .time],
    """
    select p.conversation_id, p.user_id, p.role, p.joined_at
    from export_scope s
    join participant p on p.conversation_id = s.id
    where s.whole = 1
    order by p.conversation_id, p.user_id
    """)

  private static let messageTable = ExportTable(
    "messages", "Messages, in the order of their conversation. The text is Markdown.",
    [
      "id": .id, "conversation_id": .id, "seq": .number, "author_id": .id, "kind": .text, "text": .text,
      "annotations": .json, "reply_to": .id, "repost_of": .id, "created_at": .time, "sent_at": .time,
      "edited_at": .time,
    ],
    """
    select m.id, m.conversation_id, m.seq, m.author_id, m.kind, m.text, m.annotations, m.reply_to, m.repost_of,
      m.created_at, m.sent_at, m.edited_at
    from export_message e
    join message m on m.id = e.id
    order by m.conversation_id, m.seq
    """)

  private static let revisions = ExportTable(
    "revisions", "Earlier texts of edited messages; in the export of a user those of own messages.",
    ["message_id": .id, "revision": .number, "text": .text, "edited_by": .id, "edited_at": .time],
    """
    select r.message_id, r.revision, r.text, r.edited_by, r.edited_at
    from export_message e
    join revision r on r.message_id = e.id
    join message m on m.id = e.id
    where $1 = 0 or m.author_id = $1
    order by r.message_id, r.revision
    """)

  private static let attachments = ExportTable(
    "attachments", "Files of messages.",
    ["message_id": .id, "position": .number, "file_id": .id, "description": .text],
    """
    select a.message_id, a.position, a.file_id, a.description
    from export_message e
    join attachment a on a.message_id = e.id
    order by a.message_id, a.position
    """)

  /// Stars are private to their user.
  private static let actions = ExportTable(
    "actions", "Reactions to messages that the user may read, and own reactions and stars.",
    ["message_id": .id, "type": .text, "user_id": .id, "created_at": .time],
    """
    select a.message_id, a.type, a.user_id, a.created_at
    from export_message e
    join message m on m.id = e.id
    join export_scope s on s.id = m.conversation_id
    join action a on a.message_id = e.id
    where a.type <> 'star' and s.readable = 1 or a.user_id = $1
    order by a.message_id, a.type, a.user_id
    """)

  private static let polls = ExportTable(
    "polls",
    "Polls of messages. The numbers of votes are null if the user may no longer read the conversation.",
    [
      "message_id": .id, "choices": .number, "anonymous": .flag, "closes_at": .time, "voters": .number,
      "options": .json,
    ],
    """
    select p.message_id, p.choices, p.anonymous, p.closes_at, iif(s.readable, p.voters, null), (
      select json_group_array(json_object('text', text, 'votes', iif(s.readable, votes, null)))
      from (select text, votes from poll_option where message_id = p.message_id order by position)
    )
    from export_message e
    join message m on m.id = e.id
    join export_scope s on s.id = m.conversation_id
    join poll p on p.message_id = e.id
    order by p.message_id
    """)

  private static let votes = ExportTable(
    "votes", "Votes of polls that are not anonymous in conversations that the user may read, and own votes.",
    ["message_id": .id, "option": .number, "user_id": .id],
    """
    select v.message_id, v.position, v.user_id
    from export_message e
    join message m on m.id = e.id
    join export_scope s on s.id = m.conversation_id
    join vote v on v.message_id = e.id
    join poll p on p.message_id = e.id
    where p.anonymous = 0 and s.readable = 1 or v.user_id = $1
    order by v.message_id, v.position, v.user_id
    """)

  private static let files = ExportTable(
    "files", "Uploaded files. `path` is the name in the archive; null if the content is missing on the server.",
    [
      "id": .id, "owner_id": .id, "name": .text, "mime_type": .text, "size": .number, "sha256": .digest,
      "width": .number,
      "height": .number, "created_at": .time, "path": .text,
    ],
    """
    select f.id, f.owner_id, f.name, f.mime_type, f.size, f.digest, f.width, f.height, f.created_at, x.path
    from export_file x
    join file f on f.id = x.id
    order by f.id
    """)
}
