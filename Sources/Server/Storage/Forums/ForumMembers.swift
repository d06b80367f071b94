// Members of a forum. A member is a participant of its room; participants of a topic are recorded per topic.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Adds a member, with a history that begins after `message`, or changes a member's role. Returns whether anything
  /// changed.
  public func setMember(
    _ user: ID<User>, _ role: ForumRole, of forum: ID<Forum>, after message: ID<Message>? = nil,
    by actor: ID<User>
  ) throws(Refusal) -> Bool {
    let old = try self.role(of: user, in: forum)
    guard old != role else { return false }
    try announcingTags(of: forum, by: actor) { () throws(Refusal) in
      _ = try run { connection in
        try connection.execute(
          """
          insert into forum_member (forum_id, user_id, role, from_id, created_at)
          values ($1, $2, $3, $4, $5)
          on conflict (forum_id, user_id) do update
          set role = excluded.role
          """, forum.number, user.number, role.rawValue, message?.number ?? 0, Int(now))
      }
    }
    let kind: Event.Kind = old == nil ? .participantJoined : .participantChanged
    try logMember(kind, user, of: forum, by: actor)
    if old == nil { try joinRoom(of: forum, user, after: message, by: actor) }
    return true
  }

  /// Logs an event in the forum's stream, and in the user's for that user's devices, which may not be subscribed to
  /// the forum.
  private func logMember(
    _ kind: Event.Kind, _ user: ID<User>, of forum: ID<Forum>, by actor: ID<User>
  ) throws(Refusal) {
    try log(kind, in: .forum(forum), subject: user.number, revision: 0, actor: actor.number)
    try log(kind, in: .user(user), subject: forum.number, revision: 0, actor: actor.number)
  }

  /// Adds a participant to the room. Messages before the join are readable, but not unread.
  private func joinRoom(
    of forum: ID<Forum>, _ user: ID<User>, after message: ID<Message>?, by actor: ID<User>
  ) throws(Refusal) {
    guard let room = try room(of: forum) else { return }
    let fromSeq = try firstSeq(in: room.id, after: message?.number ?? 0, lastSeq: room.lastSeq, last: room.lastMessage)
    try run { connection in
      try connection.execute(
        """
        insert into participant (conversation_id, user_id, joined_at, from_seq, joined_seq)
        values ($1, $2, $3, $4, $5)
        on conflict (conversation_id, user_id) do nothing
        """, room.id.number, user.number, Int(now), fromSeq, room.lastSeq)
    }
    try logToUser(.conversationCreated, of: room.id, to: user, by: actor)
  }

  private func room(
    of forum: ID<Forum>
  ) throws(Refusal) -> (id: ID<Conversation>, lastSeq: Int, lastMessage: Int)? {
    try run { connection in
      try connection.first(
        """
        select c.id, c.last_seq, c.last_message_id
        from forum f
        join conversation c on c.id = f.room_id
        where f.id = $1
        """, forum.number
      ) { row in (ID(try row.int(0)), try row.int(1), try row.int(2)) }
    }
  }

  /// Removes a member. The user stops being a participant of the room at once, of topics by `removeFromConversations`.
  /// Returns whether the user was a member.
  public func removeMember(
    _ user: ID<User>, of forum: ID<Forum>, by actor: ID<User>
  ) throws(Refusal) -> Bool {
    var isRemoved = false
    try announcingTags(of: forum, by: actor) { () throws(Refusal) in
      isRemoved = try run { connection in
        try connection.execute(
          """
          delete from forum_member
          where forum_id = $1 and user_id = $2
          """, forum.number, user.number) == 1
      }
    }
    guard isRemoved else { return false }
    try logMember(.participantLeft, user, of: forum, by: actor)
    if let room = try room(of: forum) { try removeParticipation(room.id, user, by: actor) }
    return true
  }

  /// Promotes the member of longest standing to admin if the forum has none: a moderator before a member. Excludes
  /// `user`, the former admin.
  public func promoteNextAdmin(of forum: ID<Forum>, excluding user: ID<User>) throws(Refusal) {
    guard try firstMember(of: forum, .admin, excluding: nil) == nil else { return }
    for role in [ForumRole.moderator, .member] {
      guard let next = try firstMember(of: forum, role, excluding: user) else { continue }
      _ = try setMember(next, .admin, of: forum, by: user)
      return
    }
  }

  private func firstMember(
    of forum: ID<Forum>, _ role: ForumRole, excluding user: ID<User>?
  ) throws(Refusal) -> ID<User>? {
    try run { connection in
      try connection.first(
        """
        select m.user_id
        from forum_member m
        join account a on a.id = m.user_id
        where m.forum_id = $1 and m.role = $2 and m.user_id is not $3 and a.state = 'active'
        order by m.created_at, m.user_id
        limit 1
        """, forum.number, role.rawValue, user?.number
      ) { row in ID(try row.int(0)) }
    }
  }
}

// MARK: Losing access

/// A participant of a conversation.
public struct Participation: Sendable, Hashable {
  public let conversation: ID<Conversation>
  public let user: ID<User>
  /// Role on the site.
  public let role: Role
}

extension WriteTransaction {
  /// Removes a participant. The user's devices delete their copy of the conversation. The stream of an open topic has the
  /// event for the others; members leave a room in the stream of the forum.
  public func removeParticipation(
    _ conversation: ID<Conversation>, _ user: ID<User>, by actor: ID<User>
  ) throws(Refusal) {
    guard try removeRow(of: user, in: conversation) else { return }
    if try isOpenTopic(conversation) { try logParticipant(.participantLeft, user, of: conversation, by: actor) }
    try logToUser(.conversationRemoved, of: conversation, to: user, by: actor)
  }

  private func isOpenTopic(_ conversation: ID<Conversation>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from conversation c
        join forum f on f.id = c.forum_id
        where c.id = $1 and c.kind = 'topic' and c.state = 'open' and f.deleted_at is null
        """, conversation.number
      ) { _ in true } ?? false
    }
  }

  /// Removes a user from up to `limit` conversations of a forum. Returns their number.
  public func removeFromConversations(
    of forum: ID<Forum>, _ user: ID<User>, limit: Int, by actor: ID<User>
  ) throws(Refusal) -> Int {
    let lost = try run { connection in
      try connection.all(
        """
        select p.conversation_id
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.forum_id = $2
        order by p.conversation_id
        limit $3
        """, user.number, forum.number, limit
      ) { row in ID<Conversation>(try row.int(0)) }
    }
    for conversation in lost { try removeParticipation(conversation, user, by: actor) }
    return lost.count
  }

  /// Removes a member of a deleted forum. The forum's stream is closed, so only the user's stream gets an event.
  public func removeDeletedForumMember(_ user: ID<User>, of forum: ID<Forum>, by actor: ID<User>) throws(Refusal) {
    let wasMember = try run { connection in
      try connection.execute(
        """
        delete from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, user.number) == 1
    }
    guard wasMember else { return }
    try log(.participantLeft, in: .user(user), subject: forum.number, revision: 0, actor: actor.number)
  }
}

extension ReadTransaction {
  /// The next conversation of a forum by id, in any state.
  public func conversation(of forum: ID<Forum>, after conversation: ID<Conversation>) throws(Refusal) -> ID<
    Conversation
  >? {
    try run { connection in
      try connection.first(
        """
        select id
        from conversation
        where forum_id = $1 and id > $2
        order by id
        limit 1
        """, forum.number, conversation.number
      ) { row in ID(try row.int(0)) }
    }
  }

  /// Participants of a conversation, by id.
  public func participations(
    in conversation: ID<Conversation>, after user: ID<User>, limit: Int
  ) throws(Refusal) -> [Participation] {
    try run { connection in
      try connection.all(
        """
        select p.user_id, a.role
        from participant p
        join account a on a.id = p.user_id
        where p.conversation_id = $1 and p.user_id > $2
        order by p.user_id
        limit $3
        """, conversation.number, user.number, limit
      ) { row in
        Participation(conversation: conversation, user: ID(try row.int(0)), role: try row.word(1))
      }
    }
  }
}

// MARK: Reading

extension ReadTransaction {
  /// Role of a user in a forum; nil for a non-member.
  public func role(of user: ID<User>, in forum: ID<Forum>) throws(Refusal) -> ForumRole? {
    try run { connection in
      try connection.first(
        """
        select role
        from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, user.number
      ) { row in try row.word(0) }
    }
  }

  /// The messages after which the visibility lets signed-in users, and visitors, read.
  public func historyStarts(
    of forum: ID<Forum>
  ) throws(Refusal) -> (users: ID<Message>, anyone: ID<Message>)? {
    try run { connection in
      try connection.first(
        """
        select users_from_id, anyone_from_id
        from forum
        where id = $1 and deleted_at is null
        """, forum.number
      ) { row in (ID(try row.int(0)), ID(try row.int(1))) }
    }
  }

  public func member(_ user: ID<User>, of forum: ID<Forum>) throws(Refusal) -> ForumMember? {
    try members(of: forum, ListSlice(after: ListKey([user.number - 1]), limit: 1)).first { $0.user.id == user }
  }

  /// Members by id.
  public func members(of forum: ID<Forum>, _ slice: ListSlice) throws(Refusal) -> [ForumMember] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select \(UserSummary.columns), m.role as forum_role, m.created_at as since
          from forum_member m
          join account a on a.id = m.user_id
          where m.forum_id = $1 and m.user_id \(page.comparison) $2
          order by m.user_id \(page.order)
          limit $3
          """), forum.number, page.number(), slice.limit
      ) { row in
        ForumMember(try UserSummary(row), role: try row.word("forum_role"), since: Int64(try row.int("since")))
      }
    }
  }

  /// Number of members, up to `Forum.maxCounted`.
  public func memberCount(of forum: ID<Forum>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from forum_member
          where forum_id = $1
          limit $2
        ) as counted
        """, forum.number, Forum.maxCounted
      ) { row in try row.int(0) } ?? 0
    }
  }
}
