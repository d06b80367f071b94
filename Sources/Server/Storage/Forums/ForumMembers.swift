// Who belongs to a forum. A member takes part in its room; in a topic, who has something to do with it.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Makes somebody a member, or gives a member another role: whether anything changed. Who comes in reads what was said
  /// after `message`.
  public func setMember(
    _ account: ID<Account>, _ role: ForumRole, of forum: ID<Forum>, after message: ID<Message>? = nil,
    by actor: ID<Account>
  ) throws(Refusal) -> Bool {
    let old = try self.role(of: account, in: forum)
    guard old != role else { return false }
    try run { connection in
      try connection.execute(
        """
        insert into forum_member (forum_id, user_id, role, from_id, created_at)
        values ($1, $2, $3, $4, $5)
        on conflict (forum_id, user_id) do update
        set role = excluded.role
        """, forum.number, account.number, role.rawValue, message?.number ?? 0, Int(now))
    }
    let kind: Event.Kind = old == nil ? .participantJoined : .participantChanged
    try logMember(kind, account, of: forum, by: actor)
    if old == nil { try joinRoom(of: forum, account, after: message, by: actor) }
    return true
  }

  /// For those who follow the forum, and for the devices of the one, who may not.
  private func logMember(
    _ kind: Event.Kind, _ account: ID<Account>, of forum: ID<Forum>, by actor: ID<Account>
  ) throws(Refusal) {
    try log(kind, in: .forum(forum), subject: account.number, revision: 0, actor: actor.number)
    try log(kind, in: .user(account), subject: forum.number, revision: 0, actor: actor.number)
  }

  /// What was said before is read, but does not wait to be.
  private func joinRoom(
    of forum: ID<Forum>, _ account: ID<Account>, after message: ID<Message>?, by actor: ID<Account>
  ) throws(Refusal) {
    guard let room = try room(of: forum) else { return }
    let fromSeq = try firstSeq(in: room.id, after: message?.number ?? 0, lastSeq: room.lastSeq, last: room.lastMessage)
    try run { connection in
      try connection.execute(
        """
        insert into participant (conversation_id, user_id, joined_at, from_seq, joined_seq)
        values ($1, $2, $3, $4, $5)
        on conflict (conversation_id, user_id) do nothing
        """, room.id.number, account.number, Int(now), fromSeq, room.lastSeq)
    }
    try tell(.conversationCreated, of: room.id, to: account, by: actor)
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

  /// Whether they were a member. They take part in the room no longer; in topics they do until `loseConversations`.
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
    try logMember(.participantLeft, account, of: forum, by: actor)
    if let room = try room(of: forum) { try lose(room.id, account, by: actor) }
    return true
  }

  /// Makes one who was there longest the lead, if nobody is: a moderator before a member. Nobody who has just stepped
  /// down is asked.
  public func passLead(of forum: ID<Forum>, besides account: ID<Account>) throws(Refusal) {
    guard try firstMember(of: forum, .admin, besides: nil) == nil else { return }
    for role in [ForumRole.moderator, .member] {
      guard let next = try firstMember(of: forum, role, besides: account) else { continue }
      _ = try setMember(next, .admin, of: forum, by: account)
      return
    }
  }

  private func firstMember(
    of forum: ID<Forum>, _ role: ForumRole, besides account: ID<Account>?
  ) throws(Refusal) -> ID<Account>? {
    try run { connection in
      try connection.first(
        """
        select m.user_id
        from forum_member m
        join account a on a.id = m.user_id
        where m.forum_id = $1 and m.role = $2 and m.user_id is not $3 and a.state = 'active'
        order by m.created_at, m.user_id
        limit 1
        """, forum.number, role.rawValue, account?.number
      ) { row in ID(try row.int(0)) }
    }
  }
}

// MARK: Losing what can't be read

/// Somebody who takes part in a conversation.
public struct Participation: Sendable, Hashable {
  public let conversation: ID<Conversation>
  public let account: ID<Account>
  /// At the place.
  public let role: Role
}

extension WriteTransaction {
  /// Takes part no longer; all the person's devices let go of it.
  public func lose(
    _ conversation: ID<Conversation>, _ account: ID<Account>, by actor: ID<Account>
  ) throws(Refusal) {
    guard try removeRow(of: account, in: conversation) else { return }
    try tell(.conversationRemoved, of: conversation, to: account, by: actor)
  }

  /// Somebody loses the conversations of a forum, so many at once: whether more are left.
  public func loseConversations(
    of forum: ID<Forum>, _ account: ID<Account>, limit: Int, by actor: ID<Account>
  ) throws(Refusal) -> Bool {
    let lost = try run { connection in
      try connection.all(
        """
        select p.conversation_id
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.forum_id = $2
        order by p.conversation_id
        limit $3
        """, account.number, forum.number, limit
      ) { row in ID<Conversation>(try row.int(0)) }
    }
    for conversation in lost { try lose(conversation, account, by: actor) }
    return lost.count == limit
  }

  /// Of a forum that is no more: its own stream is closed.
  public func forgetMember(_ account: ID<Account>, of forum: ID<Forum>, by actor: ID<Account>) throws(Refusal) {
    let wasMember = try run { connection in
      try connection.execute(
        """
        delete from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, account.number) == 1
    }
    guard wasMember else { return }
    try log(.participantLeft, in: .user(account), subject: forum.number, revision: 0, actor: actor.number)
  }
}

extension ReadTransaction {
  /// The next conversation of a forum by id, whatever its state.
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

  /// Who takes part in a conversation, by id.
  public func participations(
    in conversation: ID<Conversation>, after account: ID<Account>, limit: Int
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
        """, conversation.number, account.number, limit
      ) { row in
        Participation(conversation: conversation, account: ID(try row.int(0)), role: try row.word(1))
      }
    }
  }
}

// MARK: Reading

extension ReadTransaction {
  /// What somebody is in a forum; nil for who is not a member.
  public func role(of account: ID<Account>, in forum: ID<Forum>) throws(Refusal) -> ForumRole? {
    try run { connection in
      try connection.first(
        """
        select role
        from forum_member
        where forum_id = $1 and user_id = $2
        """, forum.number, account.number
      ) { row in try row.word(0) }
    }
  }

  /// The message after which a visibility lets people with an account read, and everyone.
  public func historyStarts(
    of forum: ID<Forum>
  ) throws(Refusal) -> (people: ID<Message>, anyone: ID<Message>)? {
    try run { connection in
      try connection.first(
        """
        select people_from_id, anyone_from_id
        from forum
        where id = $1 and deleted_at is null
        """, forum.number
      ) { row in (ID(try row.int(0)), ID(try row.int(1))) }
    }
  }

  public func member(_ account: ID<Account>, of forum: ID<Forum>) throws(Refusal) -> ForumMember? {
    try members(of: forum, after: ID(account.number - 1), limit: 1).first { $0.account.id == account }
  }

  /// By id, after that one.
  public func members(of forum: ID<Forum>, after account: ID<Account>, limit: Int) throws(Refusal) -> [ForumMember] {
    try run { connection in
      try connection.all(
        """
        select a.id, a.name, a.name_key, a.display_name, a.bio, a.role, a.created_at, a.revision, m.role, m.created_at
        from forum_member m
        join account a on a.id = m.user_id
        where m.forum_id = $1 and m.user_id > $2
        order by m.user_id
        limit $3
        """, forum.number, account.number, limit
      ) { row in
        let account = Account(
          id: ID(try row.int(0)), name: row.isNull(2) ? nil : try row.text(1), displayName: try row.optionalText(3),
          bio: try row.text(4), role: try row.word(5), createdAt: Int64(try row.int(6)), revision: try row.int(7))
        return ForumMember(account, role: try row.word(8), since: Int64(try row.int(9)))
      }
    }
  }

  /// At most `Forum.mostCounted`.
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
        """, forum.number, Forum.mostCounted
      ) { row in try row.int(0) } ?? 0
    }
  }
}
