// Forums and their rooms.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Creates a forum and its room. The creator becomes its first member and admin. Throws if the title is taken.
  public func add(_ draft: ForumDraft, by creator: ID<User>) throws(Refusal) -> Forum {
    let id = ID<Forum>(nextID())
    let room = ID<Conversation>(nextID())
    var forum = draft.fields.applied(to: Forum(id: id, room: room, createdBy: creator, createdAt: now))
    if !draft.fields.contains(\.position) { forum.position = try lastPosition(in: forum.section) }
    guard try !hasForum(titled: forum.title) else { throw .taken("title") }
    let identity: [StoredColumn] = [
      ("id", id.stored), ("room_id", room.stored), ("created_by", creator.stored), ("created_at", .int(Int(now))),
      ("changed_at", .int(try nextForumChange())), ("changed_by", creator.stored),
    ]
    try insert(into: "forum", identity + Self.columns(of: forum, since: nil, now: Int(now)))
    try storeGroups(of: forum, since: nil)
    if let icon = forum.icon { try markUsed(icon) }
    try log(.forumCreated, in: .forum(id), subject: id.number, revision: 1, actor: creator.number)
    if forum.visibility != .private {
      try log(.forumCreated, in: .site, subject: id.number, revision: 1, actor: creator.number)
    }
    try addConversation(room, .room, in: id, title: nil, by: creator)
    _ = try setMember(creator, .admin, of: id, by: creator)
    guard let created = try self.forum(id) else { throw .unavailable }
    return created
  }

  /// Position after the last forum of the section, or of all forums for a new section: sections are ordered by their
  /// first forum.
  private func lastPosition(in section: String?) throws(Refusal) -> Int {
    let highest = try run { connection in
      try connection.first(
        """
        select coalesce(max(position) filter (where section is not distinct from $1), max(position))
        from forum
        where deleted_at is null
        """, section
      ) { row in try row.optionalInt(0) }
    }
    guard let highest = highest ?? nil else { return 0 }
    return min(highest + Forum.positionStep, Forum.positions.upperBound)
  }

  /// Inserts a conversation and logs it in its own stream and in the forum's.
  func addConversation(
    _ id: ID<Conversation>, _ kind: Conversation.Kind, in forum: ID<Forum>, title: String?, tags: [String] = [],
    by creator: ID<User>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into conversation (id, kind, forum_id, title, tags, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        """, id.number, kind.rawValue, forum.number, title, tags.storedTags, creator.number, Int(now))
    }
    if kind == .topic, let entry = try titleEntry(of: id) { searchChanges.append(.add(entry)) }
    for stream in [EventStream.forum(forum), .conversation(id)] {
      try log(.conversationCreated, in: stream, subject: id.number, revision: 1, actor: creator.number)
    }
  }

  /// Stores the changed fields of a forum and increments its revision. Throws if the title is taken.
  public func change(_ before: Forum, to forum: Forum, by actor: ID<User>) throws(Refusal) -> Forum {
    var forum = forum
    forum.revision = before.revision + 1
    if forum.title != before.title, try hasForum(titled: forum.title) { throw .taken("title") }
    let change: [StoredColumn] = [("changed_at", .int(try nextForumChange())), ("changed_by", actor.stored)]
    try update("forum", forum.id.number, set: Self.columns(of: forum, since: before, now: Int(now)) + change)
    try storeGroups(of: forum, since: before)
    if forum.icon != before.icon {
      if let icon = forum.icon { try markUsed(icon) }
      if let icon = before.icon { try release([icon]) }
    }
    // After a change to private the site's subscribers learn that the forum is no longer listed.
    let isListed = forum.visibility != .private || before.visibility != .private
    for stream in isListed ? [EventStream.forum(forum.id), .site] : [.forum(forum.id)] {
      try log(.forumUpdated, in: stream, subject: forum.id.number, revision: forum.revision, actor: actor.number)
    }
    return forum
  }

  private static func columns(
    of forum: Forum, since before: Forum?, now: Int
  ) -> [StoredColumn] {
    var columns = forum.columns(since: before)
    columns.removeAll { ReadTransaction.groupColumns.keys.contains($0.name) }
    for index in columns.indices where columns[index].name == "archived_at" {
      columns[index].value = forum.isArchived ? .int(now) : .null
    }
    if forum.title != before?.title { columns.append(("title_key", .text(Forum.key(forum.title)))) }
    return columns + [("revision", .int(forum.revision))]
  }

  /// Start of the history for users admitted by a wider visibility: the next message, or the first.
  public func openHistory(
    of forum: ID<Forum>, after message: ID<Message>?, from old: Visibility, to new: Visibility, by actor: ID<User>
  ) throws(Refusal) {
    try announcingTags(of: forum, by: actor) { () throws(Refusal) in
      _ = try run { connection in
        try connection.execute(
          """
          update forum
          set anyone_from_id = case when $1 then $2 else anyone_from_id end,
            users_from_id = case when $3 then $2 else users_from_id end
          where id = $4
          """, message != nil || new == .public, message?.number ?? 0, message == nil || old == .private, forum.number)
      }
    }
  }

  /// The highest id issued so far: every later message has a higher one.
  public var latestMessageID: ID<Message> { ID(counters.id) }

  /// Deletes a forum: hides it, clears its description and frees its title. Stored jobs erase its messages and
  /// memberships.
  public func delete(_ forum: Forum, by actor: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update forum
        set deleted_at = $1, deleted_by = $2, title = '', title_key = '', description = '', icon_url = null,
          icon_file_id = null, section = null, call_url = null, revision = revision + 1
        where id = $3
        """, Int(now), actor.number, forum.id.number)
    }
    if let icon = forum.icon { try release([icon]) }
    var emptied = forum
    (emptied.readGroups, emptied.writeGroups) = ([], [])
    try storeGroups(of: emptied, since: forum)
    for stream in forum.visibility == .private ? [EventStream.forum(forum.id)] : [.forum(forum.id), .site] {
      try log(.forumDeleted, in: stream, subject: forum.id.number, revision: forum.revision + 1, actor: actor.number)
    }
  }

  /// Records a use of `@room`, unless the last one was less than `interval` ms ago; one in the future is from before the clock
  /// was set back. Returns whether it is allowed.
  public func recordRoomMention(in forum: ID<Forum>, minInterval interval: Int64) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update forum
        set room_mentioned_at = $1
        where id = $2 and (room_mentioned_at is null or room_mentioned_at not between $3 + 1 and $1)
        """, Int(now), forum.number, Int(now - interval)) == 1
    }
  }
}

extension ReadTransaction {
  /// Columns of `Forum.init(_: Row)`, in its order.
  static let forumColumns = """
    id, room_id, created_by, created_at, last_message_id, revision,
    \(Forum.columns(replacing: ["archived_at": "archived_at is not null"].merging(groupColumns) { one, _ in one }))
    """

  private static let forumByID = SQL(
    """
    select \(forumColumns)
    from forum
    where id = $1 and deleted_at is null
    """)

  public func forum(_ id: ID<Forum>) throws(Refusal) -> Forum? {
    try run { connection in try connection.first(Self.forumByID, id.number, read: Forum.init) }
  }

  fileprivate func hasForum(titled title: String) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from forum
        where title = $1 and deleted_at is null
        """, title
      ) { _ in true } ?? false
    }
  }

  /// The user that deleted a forum; nil if it is not deleted.
  public func deleter(of forum: ID<Forum>) throws(Refusal) -> ID<User>? {
    try run { connection in
      try connection.first(
        """
        select deleted_by
        from forum
        where id = $1 and deleted_at is not null
        """, forum.number
      ) { row in try row.optionalInt(0).map { ID($0) } }
    }.flatMap(\.self)
  }

  /// Number of readable messages in a forum. Counts rows: run it on a background reader.
  public func messageCount(of forum: ID<Forum>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from conversation c
        join message m on m.conversation_id = c.id
        where c.forum_id = $1 and m.deletion is null and m.machine_only = 0
        """, forum.number
      ) { row in try row.int(0) } ?? 0
    }
  }
}

// MARK: Lists

extension ReadTransaction {
  /// Forums visible to a user, newest activity first: those of the visibilities `visible`, the user's own and those of
  /// the user's groups. `text` filters by title.
  ///
  /// Each visibility is read by an index and own forums one by one, so the cost depends on the page and the user's
  /// memberships, not on the number of forums; `text` scans all titles.
  public func forums(
    for user: ID<User>?, seeing visible: [Visibility], with text: String? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [ForumView] {
    let key = text.map { Forum.key($0) }
    let page = Keyset(slice, .descending)
    var found: [(activity: Int, id: Int)] = []
    for visibility in visible { found += try forumIDs(of: visibility, with: key, page, limit: slice.limit) }
    if let user, visible.count < Visibility.allCases.count {
      found += try ownForumIDs(of: user, excluding: visible, with: key, page)
    }
    // A forum is own as a member's and by each group.
    found = Dictionary(found.map { ($0.id, $0) }) { one, _ in one }.values.map { $0 }
    found.sort { slice.isBackward ? $0.activity < $1.activity : $0.activity > $1.activity }
    let ids = found.prefix(slice.limit).map { ID<Forum>($0.id) }
    return try forums(ids, for: user)
  }

  /// The forums with these ids, in their order, with the roles and the access of the user. Omits deleted ones.
  public func forums(_ ids: [ID<Forum>], for user: ID<User>?) throws(Refusal) -> [ForumView] {
    guard !ids.isEmpty else { return [] }
    let forums = try forums(ids)
    let roles = try user.map { user throws(Refusal) in try self.roles(of: ids.map { UserSubject(user, $0) }) }
    let access = try user.map { user throws(Refusal) in try groupAccess(of: ids.map { UserSubject(user, $0) }) }
    return ids.compactMap { id in
      let subject = user.map { UserSubject($0, id) }
      return forums[id].map {
        ForumView($0, role: subject.flatMap { roles?[$0] }, groupAccess: subject.flatMap { access?[$0] })
      }
    }
  }

  /// The forums that both users have joined, newest activity first. `text` filters by title.
  public func forums(
    joinedBy user: ID<User>, and other: ID<User>, with text: String? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [ID<Forum>] {
    let page = Keyset(slice, .descending)
    let found = try run { connection in
      try connection.all(
        SQL(
          """
          select f.activity, f.id
          from forum_member own
          join forum_member other on other.forum_id = own.forum_id
          join forum f on f.id = own.forum_id
          where own.user_id = $1 and other.user_id = $2 and f.deleted_at is null and f.activity \(page.comparison) $3
          and ($4 is null or instr(f.title_key, $4) > 0)
          """), user.number, other.number, page.number(), text.map { Forum.key($0) }
      ) { row in (activity: try row.int(0), id: try row.int(1)) }
    }
    return
      found
      .sorted { slice.isBackward ? $0.activity < $1.activity : $0.activity > $1.activity }
      .map { ID($0.id) }
  }

  private func forumIDs(
    of visibility: Visibility, with key: String?, _ page: Keyset, limit: Int
  ) throws(Refusal) -> [(activity: Int, id: Int)] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select activity, id
          from forum
          where deleted_at is null and visibility = $1 and activity \(page.comparison) $2
          and ($3 is null or instr(title_key, $3) > 0)
          order by activity \(page.order), id \(page.order)
          limit $4
          """), visibility.rawValue, page.number(), key, limit
      ) { row in (try row.int(0), try row.int(1)) }
    }
  }

  private func ownForumIDs(
    of user: ID<User>, excluding visible: [Visibility], with key: String?, _ page: Keyset
  ) throws(Refusal) -> [(activity: Int, id: Int)] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select f.activity, f.id
          from (\(ForumStanding.ownForums(of: "$1"))) as own
          join forum f on f.id = own.forum_id
          where f.deleted_at is null and f.activity \(page.comparison) $2
          and ($3 is null or instr(f.title_key, $3) > 0)
          and (f.visibility = 'private' or f.visibility = 'members' and $4)
          """), user.number, page.number(), key, !visible.contains(.members)
      ) { row in (try row.int(0), try row.int(1)) }
    }
  }
}

extension Forum {
  init(_ row: borrowing Row) throws {
    let last = try row.int(4)
    self.init(
      id: ID(try row.int(0)), room: ID(try row.int(1)), createdBy: ID(try row.int(2)),
      createdAt: Int64(try row.int(3)), lastMessage: last == 0 ? nil : ID(last), revision: try row.int(5))
    try readFields(row, from: 6)
    readGroups.sort()
    writeGroups.sort()
  }
}
