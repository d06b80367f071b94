// Forums and their rooms.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Makes a forum with its room; its maker is the first member, and leads it. Refused when the title is taken.
  public func add(_ draft: ForumDraft, by creator: ID<Account>) throws(Refusal) -> Forum {
    let id = ID<Forum>(nextID())
    let room = ID<Conversation>(nextID())
    var position = draft.position
    if position == nil { position = try lastPosition(in: draft.section) }
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into forum (
          id, title, title_key, description, icon_url, visibility, section, position, write, start_topics, room_id,
          created_by, created_at, icon_file_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        on conflict (title) where deleted_at is null do nothing
        """, id.number, draft.title, Forum.key(draft.title), draft.about, draft.iconURL, draft.visibility.rawValue,
        draft.section, position, draft.write.rawValue, draft.startTopics.rawValue, room.number, creator.number,
        Int(now), draft.icon?.number) == 1
    }
    guard isAdded else { throw .taken("title") }
    if let icon = draft.icon { try take(icon) }
    try log(.forumCreated, in: .forum(id), subject: id.number, revision: 1, actor: creator.number)
    if draft.visibility != .private {
      try log(.forumCreated, in: .site, subject: id.number, revision: 1, actor: creator.number)
    }
    try addConversation(room, .room, in: id, title: nil, by: creator)
    _ = try setMember(creator, .admin, of: id, by: creator)
    guard let made = try forum(id) else { throw .unavailable }
    return made
  }

  /// Behind all of its section, or of all others where the section is new: sections stand as their first forums do.
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

  /// Its own readers learn of it, and those of the forum.
  func addConversation(
    _ id: ID<Conversation>, _ kind: Conversation.Kind, in forum: ID<Forum>, title: String?, by creator: ID<Account>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into conversation (id, kind, forum_id, title, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6)
        """, id.number, kind.rawValue, forum.number, title, creator.number, Int(now))
    }
    for stream in [EventStream.forum(forum), .conversation(id)] {
      try log(.conversationCreated, in: stream, subject: id.number, revision: 1, actor: creator.number)
    }
  }

  /// Keeps what of a forum is other than before; the revision goes up by one. Refused when the title is taken.
  public func change(_ before: Forum, to forum: Forum, by actor: ID<Account>) throws(Refusal) -> Forum {
    var forum = forum
    forum.revision = before.revision + 1
    if forum.title != before.title, try hasForum(titled: forum.title) { throw .taken("title") }
    try run { connection in
      try connection.execute(
        """
        update forum
        set title = $1, title_key = $2, description = $3, icon_url = $4, visibility = $5, write = $6, start_topics = $7,
          ring = $8, section = $9, position = $10, slow_seconds = $11, locked = $12, solvable = $13,
          shows_revisions = $14, call_url = $15, archived_at = case when $16 then coalesce(archived_at, $17) end,
          revision = $18, icon_file_id = $19
        where id = $20
        """, forum.title, Forum.key(forum.title), forum.about, forum.iconURL, forum.visibility.rawValue,
        forum.write.rawValue, forum.startTopics.rawValue, forum.ring.rawValue, forum.section, forum.position,
        forum.slowSeconds, forum.isLocked, forum.isSolvable, forum.showsRevisions, forum.callURL, forum.isArchived,
        Int(now), forum.revision, forum.icon?.number, forum.id.number)
    }
    if forum.icon != before.icon {
      if let icon = forum.icon { try take(icon) }
      if let icon = before.icon { try letGo(of: [icon]) }
    }
    // Who could see it in the list before learns that it is gone from there, too.
    let isListed = forum.visibility != .private || before.visibility != .private
    for stream in isListed ? [EventStream.forum(forum.id), .site] : [.forum(forum.id)] {
      try log(.forumUpdated, in: stream, subject: forum.id.number, revision: forum.revision, actor: actor.number)
    }
    return forum
  }

  /// Where those begin to read whom a wider visibility lets in: at the next message, or at the first.
  public func openHistory(
    of forum: ID<Forum>, after message: ID<Message>?, from old: Visibility, to new: Visibility
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update forum
        set anyone_from_id = case when $1 then $2 else anyone_from_id end,
          people_from_id = case when $3 then $2 else people_from_id end
        where id = $4
        """, message != nil || new == .public, message?.number ?? 0, message == nil || old == .private, forum.number)
    }
  }

  /// The last message, or what would be, from which on nothing was said yet.
  public var presentMessage: ID<Message> { ID(counters.id) }

  /// Nobody sees it any more, and nothing is left of how it was called: the title is free. What was said in it goes in a
  /// stored job, as does what people have of it.
  public func delete(_ forum: Forum, by actor: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update forum
        set deleted_at = $1, deleted_by = $2, title = '', title_key = '', description = '', icon_url = null,
          icon_file_id = null, section = null, call_url = null, revision = revision + 1
        where id = $3
        """, Int(now), actor.number, forum.id.number)
    }
    if let icon = forum.icon { try letGo(of: [icon]) }
    for stream in forum.visibility == .private ? [EventStream.forum(forum.id)] : [.forum(forum.id), .site] {
      try log(.forumDeleted, in: stream, subject: forum.id.number, revision: forum.revision + 1, actor: actor.number)
    }
  }

  /// Whether `@room` rings now, which it does once in a while; from here on it does not.
  public func ring(_ forum: ID<Forum>, atMostEvery interval: Int64) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update forum
        set rung_at = $1
        where id = $2 and (rung_at is null or rung_at <= $3)
        """, Int(now), forum.number, Int(now - interval)) == 1
    }
  }
}

extension ReadTransaction {
  /// What `Forum.init(_: Row)` reads, in its order.
  static let forumColumns = """
    id, title, description, icon_url, visibility, write, start_topics, ring, section, position, slow_seconds, locked,
    archived_at, solvable, shows_revisions, call_url, room_id, created_by, created_at, last_message_id, revision,
    icon_file_id
    """

  public func forum(_ id: ID<Forum>) throws(Refusal) -> Forum? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Self.forumColumns)
          from forum
          where id = $1 and deleted_at is null
          """), id.number, read: Forum.init)
    }
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

  /// Who deleted it; nil for one that was not.
  public func deleter(of forum: ID<Forum>) throws(Refusal) -> ID<Account>? {
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

  /// How many messages people could read in it: for a reader in the background, since it counts.
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
  /// The forums that somebody sees, the newest activity first: of these visibilities, and those that they belong to.
  /// `text` stands in the title.
  ///
  /// Each visibility is walked by an index, and one's own forums are looked at one by one, so it costs what the page and
  /// one's own memberships do, however many forums there are; with `text` it looks at all titles.
  public func forums(
    for account: ID<Account>?, seeing visible: [Visibility], with text: String? = nil, before activity: Int? = nil,
    limit: Int
  ) throws(Refusal) -> [SeenForum] {
    let key = text.map { Forum.key($0) }
    let activity = activity ?? .max
    var found: [(activity: Int, id: Int)] = []
    for visibility in visible { found += try places(of: visibility, with: key, before: activity, limit: limit) }
    if let account, visible.count < Visibility.allCases.count {
      found += try ownPlaces(of: account, besides: visible, with: key, before: activity)
    }
    found.sort { $0.activity > $1.activity }
    let ids = found.prefix(limit).map { ID<Forum>($0.id) }
    let forums = try forums(ids)
    let roles = try account.map { person throws(Refusal) in try self.roles(of: ids.map { Concern(person, $0) }) }
    return ids.compactMap { id in
      forums[id].map { SeenForum($0, role: account.flatMap { roles?[Concern($0, id)] }) }
    }
  }

  private func places(
    of visibility: Visibility, with key: String?, before activity: Int, limit: Int
  ) throws(Refusal) -> [(activity: Int, id: Int)] {
    try run { connection in
      try connection.all(
        """
        select activity, id
        from forum
        where deleted_at is null and visibility = $1 and activity < $2 and ($3 is null or instr(title_key, $3) > 0)
        order by activity desc, id desc
        limit $4
        """, visibility.rawValue, activity, key, limit
      ) { row in (try row.int(0), try row.int(1)) }
    }
  }

  private func ownPlaces(
    of account: ID<Account>, besides visible: [Visibility], with key: String?, before activity: Int
  ) throws(Refusal) -> [(activity: Int, id: Int)] {
    try run { connection in
      try connection.all(
        """
        select f.activity, f.id
        from forum_member m
        join forum f on f.id = m.forum_id
        where m.user_id = $1 and f.deleted_at is null and f.activity < $2
        and ($3 is null or instr(f.title_key, $3) > 0)
        and (f.visibility = 'private' or f.visibility = 'members' and $4)
        """, account.number, activity, key, !visible.contains(.members)
      ) { row in (try row.int(0), try row.int(1)) }
    }
  }
}

extension Forum {
  init(_ row: borrowing Row) throws {
    let last = try row.int(19)
    self.init(
      id: ID(try row.int(0)), title: try row.text(1), about: try row.text(2), iconURL: try row.optionalText(3),
      icon: try row.optionalInt(21).map { ID($0) },
      visibility: try row.word(4), write: try row.word(5), startTopics: try row.word(6), ring: try row.word(7),
      section: try row.optionalText(8), position: try row.int(9), slowSeconds: try row.int(10),
      isLocked: try row.bool(11), isArchived: !row.isNull(12), isSolvable: try row.bool(13),
      showsRevisions: try row.bool(14), callURL: try row.optionalText(15), room: ID(try row.int(16)),
      createdBy: ID(try row.int(17)), createdAt: Int64(try row.int(18)), lastMessage: last == 0 ? nil : ID(last),
      revision: try row.int(20))
  }
}
