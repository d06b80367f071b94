// Where somebody may read, as a search names it. Who reads what is said above; here is what decides it.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Forums of these visibilities and those that somebody belongs to, with what decides whether they read them. Where a
  /// `seq` says where history begins stands the id of the last message before it, since that is one for all of a forum.
  public func forumStandings(
    of account: ID<Account>?, seeing visible: [Visibility]
  ) throws(Refusal) -> [(forum: ID<Forum>, standing: Standing)] {
    var found: [Int: Standing] = [:]
    try run { connection in
      for visibility in visible {
        try connection.each(
          """
          select f.id, f.visibility, f.people_from_id, f.anyone_from_id, m.role, m.from_id
          from forum f
          left join forum_member m on m.forum_id = f.id and m.user_id = $1
          where f.visibility = $2 and f.deleted_at is null
          """, account?.number, visibility.rawValue
        ) { row in found[try row.int(0)] = try Standing(forum: row) }
      }
      guard let account else { return }
      try connection.each(
        """
        select f.id, f.visibility, f.people_from_id, f.anyone_from_id, m.role, m.from_id
        from forum_member m
        join forum f on f.id = m.forum_id
        where m.user_id = $1 and f.deleted_at is null
        """, account.number
      ) { row in found[try row.int(0)] = try Standing(forum: row) }
    }
    return found.sorted { $0.key < $1.key }.map { (ID($0.key), $0.value) }
  }

  /// Conversations apart from forums in which somebody takes part, and those that are open to one of these audiences.
  public func conversationStandings(
    of account: ID<Account>?, openTo audiences: [Audience]
  ) throws(Refusal) -> [(conversation: ID<Conversation>, standing: Standing)] {
    var found: [Int: Standing] = [:]
    try run { connection in
      for audience in audiences {
        try connection.each(
          """
          select id, kind, readers, people_from_seq, anyone_from_seq, coalesce(owner_id = $1, 0), null, 1
          from conversation
          where readers = $2 and readers <> 'listed' and forum_id is null and state = 'open'
          """, account?.number, audience.rawValue
        ) { row in found[try row.int(0)] = try Standing(conversation: row) }
      }
      guard let account else { return }
      try connection.each(
        """
        select id, kind, readers, people_from_seq, anyone_from_seq, 1, null, 1
        from conversation
        where owner_id = $1 and kind = 'feed' and state = 'open'
        """, account.number
      ) { row in found[try row.int(0)] = try Standing(conversation: row) }
      try connection.each(
        """
        select c.id, c.kind, c.readers, c.people_from_seq, c.anyone_from_seq, coalesce(c.owner_id = $1, 0), p.role,
          p.from_seq
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.forum_id is null and c.state = 'open'
        """, account.number
      ) { row in found[try row.int(0)] = try Standing(conversation: row) }
    }
    return found.sorted { $0.key < $1.key }.map { (ID($0.key), $0.value) }
  }

  /// The last message before a `seq`; 0 where it is the first.
  public func lastMessage(before seq: Int, in conversation: ID<Conversation>) throws(Refusal) -> ID<Message> {
    guard seq > 1 else { return ID(0) }
    let id = try run { connection in
      try connection.first(
        """
        select id
        from message
        where conversation_id = $1 and seq < $2
        order by seq desc
        limit 1
        """, conversation.number, seq
      ) { row in try row.int(0) }
    }
    return ID(id ?? 0)
  }
}

extension Standing {
  fileprivate init(forum row: borrowing Row) throws {
    self.init(
      kind: .topic, forum: ForumStanding(visibility: try row.word(1), role: try row.optionalWord(4)),
      peopleFromSeq: try row.int(2), anyoneFromSeq: try row.int(3), memberFromSeq: try row.optionalInt(5) ?? 0)
  }

  fileprivate init(conversation row: borrowing Row) throws {
    self.init(
      kind: try row.word(1), readers: try row.word(2),
      participant: row.isNull(6) ? nil : Participation(role: try row.word(6), fromSeq: try row.int(7)),
      isOwner: try row.bool(5), peopleFromSeq: try row.int(3), anyoneFromSeq: try row.int(4))
  }
}
