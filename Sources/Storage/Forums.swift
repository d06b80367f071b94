// Forums, their rooms, and their members. A forum's member takes part in its room; in a topic, who has something to do
// with it.

public import Model
import SQLite

extension WriteTransaction {
  /// Makes a forum with its room; its maker is the first member, and leads it. Refused when the title is taken.
  public func add(_ forum: NewForum, by creator: ID<Account>) throws(Refusal) -> Forum {
    let id = ID<Forum>(nextID())
    let room = ID<Conversation>(nextID())
    let isAdded = try run { connection in
      try connection.execute(
        """
        insert into forum (
          id, title, description, icon_url, visibility, section, position, write, start_topics, room_id, created_by,
          created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (title) where deleted_at is null do nothing
        """, id.number, forum.title, forum.about, forum.iconURL, forum.visibility.rawValue, forum.section,
        forum.position, forum.write.rawValue, forum.startTopics.rawValue, room.number, creator.number, Int(now)) == 1
    }
    guard isAdded else { throw .invalid("title", .taken) }
    try addConversation(room, kind: .room, in: id, title: nil, by: creator)
    try log(.forumCreated, in: .forum(id), subject: id.number, revision: 1, actor: creator.number)
    if forum.visibility != .private {
      try log(.forumCreated, in: .site, subject: id.number, revision: 1, actor: creator.number)
    }
    try log(.conversationCreated, in: .forum(id), subject: room.number, revision: 1, actor: creator.number)
    _ = try setMember(creator, .admin, of: id, by: creator)
    guard let made = try self.forum(id) else { throw .unavailable }
    return made
  }

  /// Starts a topic. Who starts it takes part in it.
  public func addTopic(
    _ title: String, in forum: ID<Forum>, by creator: ID<Account>
  ) throws(Refusal) -> ID<Conversation> {
    let id = ID<Conversation>(nextID())
    try addConversation(id, kind: .topic, in: forum, title: title, by: creator)
    try log(.conversationCreated, in: .forum(forum), subject: id.number, revision: 1, actor: creator.number)
    try run { connection in
      try connection.execute(
        """
        insert into participant (conversation_id, user_id, joined_at)
        values ($1, $2, $3)
        """, id.number, creator.number, Int(now))
    }
    return id
  }

  private func addConversation(
    _ id: ID<Conversation>, kind: Conversation.Kind, in forum: ID<Forum>, title: String?, by creator: ID<Account>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into conversation (id, kind, forum_id, title, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6)
        """, id.number, kind.rawValue, forum.number, title, creator.number, Int(now))
    }
    try log(.conversationCreated, in: .conversation(id), subject: id.number, revision: 1, actor: creator.number)
  }

  /// Stores what was changed of a forum. The caller has compared; the revision goes up by one.
  public func change(_ forum: Forum, from old: Forum, by actor: ID<Account>) throws(Refusal) -> Forum {
    var forum = forum
    forum.revision = old.revision + 1
    if forum.title != old.title, try hasForum(titled: forum.title) { throw .invalid("title", .taken) }
    try run { connection in
      try connection.execute(
        """
        update forum
        set title = $1, description = $2, icon_url = $3, visibility = $4, write = $5, start_topics = $6, section = $7,
          position = $8, slow_seconds = $9, locked = $10, solvable = $11, shows_revisions = $12, call_url = $13,
          archived_at = case when $14 then coalesce(archived_at, $15) end, revision = $16
        where id = $17
        """, forum.title, forum.about, forum.iconURL, forum.visibility.rawValue, forum.write.rawValue,
        forum.startTopics.rawValue, forum.section, forum.position, forum.slowSeconds, forum.isLocked,
        forum.isSolvable, forum.showsRevisions, forum.callURL, forum.isArchived, Int(now), forum.revision,
        forum.id.number)
    }
    try log(
      .forumUpdated, in: .forum(forum.id), subject: forum.id.number, revision: forum.revision, actor: actor.number)
    // The list of forums is everyone's: who could see it before learns that it is gone, too.
    if forum.visibility != .private || old.visibility != .private {
      try log(.forumUpdated, in: .site, subject: forum.id.number, revision: forum.revision, actor: actor.number)
    }
    return forum
  }

  /// From here on only what is said later is open to those whom a wider visibility lets in.
  public func hideHistory(of forum: ID<Forum>, from old: Visibility) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update conversation
        set anyone_from_seq = last_seq + 1,
          people_from_seq = case when $1 then last_seq + 1 else people_from_seq end
        where forum_id = $2
        """, old == .private, forum.number)
    }
  }

  /// How many messages a wider visibility lets others read.
  public func messageCount(of forum: ID<Forum>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select coalesce(sum(last_seq), 0)
        from conversation
        where forum_id = $1
        """, forum.number
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Nobody sees it any more; its title is free. What was said in it goes in a stored job.
  public func delete(_ forum: Forum, by actor: ID<Account>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update forum
        set deleted_at = $1, revision = revision + 1
        where id = $2
        """, Int(now), forum.id.number)
    }
    let revision = forum.revision + 1
    try log(.forumDeleted, in: .forum(forum.id), subject: forum.id.number, revision: revision, actor: actor.number)
    if forum.visibility != .private {
      try log(.forumDeleted, in: .site, subject: forum.id.number, revision: revision, actor: actor.number)
    }
  }

  // MARK: Members

  /// Makes somebody a member, or gives a member another role: whether anything changed.
  public func setMember(
    _ account: ID<Account>, _ role: ForumRole, of forum: ID<Forum>, by actor: ID<Account>
  ) throws(Refusal) -> Bool {
    let old = try member(account, of: forum)
    guard old?.role != role else { return false }
    try run { connection in
      try connection.execute(
        """
        insert into forum_member (forum_id, user_id, role, created_at)
        values ($1, $2, $3, $4)
        on conflict (forum_id, user_id) do update
        set role = excluded.role
        """, forum.number, account.number, role.rawValue, Int(now))
      try connection.execute(
        """
        insert into participant (conversation_id, user_id, joined_at)
        select room_id, $1, $2
        from forum
        where id = $3
        on conflict (conversation_id, user_id) do nothing
        """, account.number, Int(now), forum.number)
    }
    let kind: Event.Kind = old == nil ? .participantJoined : .participantChanged
    try log(kind, in: .forum(forum), subject: account.number, revision: 0, actor: actor.number)
    if old == nil { try logRoom(.conversationCreated, of: forum, for: account, by: actor) }
    return true
  }

  /// Whether they were a member.
  public func removeMember(
    _ account: ID<Account>, of forum: ID<Forum>, by actor: ID<Account>
  ) throws(Refusal) -> Bool {
    let isRemoved = try run { connection in
      try connection.execute(
        """
        delete from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, account.number) == 1
    }
    guard isRemoved else { return false }
    try run { connection in
      try connection.execute(
        """
        delete from participant
        where user_id = $1 and conversation_id in (
          select id
          from conversation
          where forum_id = $2
        )
        """, account.number, forum.number)
    }
    try log(.participantLeft, in: .forum(forum), subject: account.number, revision: 0, actor: actor.number)
    try logRoom(.conversationRemoved, of: forum, for: account, by: actor)
    return true
  }

  /// Taking part in the room, or no longer, is news for all the person's devices.
  private func logRoom(
    _ kind: Event.Kind, of forum: ID<Forum>, for account: ID<Account>, by actor: ID<Account>
  ) throws(Refusal) {
    guard let room = try self.forum(forum)?.room else { return }
    try log(kind, in: .user(account), subject: room.number, revision: 0, actor: actor.number)
  }
}

extension ReadTransaction {
  private static let columns = """
    f.id, f.title, f.description, f.icon_url, f.visibility, f.write, f.start_topics, f.section, f.position,
    f.slow_seconds, f.locked, f.archived_at, f.solvable, f.shows_revisions, f.call_url, f.room_id, f.created_by,
    f.created_at, f.last_message_id, f.revision
    """

  public func forum(_ id: ID<Forum>) throws(Refusal) -> Forum? {
    try run { connection in
      try connection.first(
        SQL(
          """
          select \(Self.columns)
          from forum f
          where f.id = $1 and f.deleted_at is null
          """), id.number, read: Forum.init)
    }
  }

  func hasForum(titled title: String) throws(Refusal) -> Bool {
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

  /// The forums that somebody sees, newest activity first; `query` stands in the title. One more than `limit` says that
  /// there are more.
  public func forums(
    for account: ID<Account>?, seeing seen: [Visibility], query: String? = nil, after cursor: ForumCursor? = nil,
    limit: Int
  ) throws(Refusal) -> [Forum] {
    try run { connection in
      try connection.all(
        SQL(
          """
          select \(Self.columns)
          from forum f
          where f.deleted_at is null and (f.last_message_id, f.id) < ($1, $2)
          and (
            f.visibility in ($3, $4, $5)
            or exists (
              select 1
              from forum_member m
              where m.forum_id = f.id and m.user_id = $6
            )
          )
          and ($7 is null or instr(lower(f.title), lower($7)) > 0)
          order by f.last_message_id desc, f.id desc
          limit $8
          """), cursor?.lastMessage ?? .max, cursor?.forum.number ?? .max,
        seen.contains(.public) ? Visibility.public.rawValue : "",
        seen.contains(.members) ? Visibility.members.rawValue : "",
        seen.contains(.private) ? Visibility.private.rawValue : "", account?.number, query, limit, read: Forum.init)
    }
  }

  public func member(_ account: ID<Account>, of forum: ID<Forum>) throws(Refusal) -> ForumMember? {
    try run { connection in
      try connection.first(
        """
        select role, created_at
        from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, account.number
      ) { row in ForumMember(account: account, role: try row.word(0), since: Int64(try row.int(1))) }
    }
  }

  /// Whether somebody else leads it.
  public func hasLead(of forum: ID<Forum>, besides account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from forum_member
        where forum_id = $1 and user_id <> $2 and role = 'admin'
        """, forum.number, account.number
      ) { _ in true } ?? false
    }
  }

  public func members(
    of forum: ID<Forum>, after account: ID<Account>?, limit: Int
  ) throws(Refusal) -> [ForumMember] {
    try run { connection in
      try connection.all(
        """
        select user_id, role, created_at
        from forum_member
        where forum_id = $1 and user_id > $2
        order by user_id
        limit $3
        """, forum.number, account?.number ?? 0, limit
      ) { row in ForumMember(account: ID(try row.int(0)), role: try row.word(1), since: Int64(try row.int(2))) }
    }
  }
}

extension Forum {
  fileprivate init(_ row: borrowing Row) throws {
    let last = try row.int(18)
    self.init(
      id: ID(try row.int(0)), title: try row.text(1), about: try row.text(2), iconURL: try row.optionalText(3),
      visibility: try row.word(4), write: try row.word(5), startTopics: try row.word(6),
      section: try row.optionalText(7), position: try row.int(8), slowSeconds: try row.int(9),
      isLocked: try row.bool(10), isArchived: !row.isNull(11), isSolvable: try row.bool(12),
      showsRevisions: try row.bool(13), callURL: try row.optionalText(14), room: ID(try row.int(15)),
      createdBy: ID(try row.int(16)), createdAt: Int64(try row.int(17)), lastMessage: last == 0 ? nil : ID(last),
      revision: try row.int(19))
  }
}
