// Facts that decide the scopes of a user's search. The Community layer decides the permission.

public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Standings in the forums of these visibilities, in the user's own and in those of the user's groups. The start of history
  /// is the id of the last message before it, not a `seq`, since one id applies to a whole forum.
  public func forumStandings(
    of user: ID<User>?, seeing visible: [Visibility]
  ) throws(Refusal) -> [(forum: ID<Forum>, standing: Standing)] {
    var found: [Int: Standing] = [:]
    try run { connection in
      for visibility in visible {
        try connection.each(Self.visibleForums, user?.number, visibility.rawValue) { row in
          found[try row.int(0)] = try Standing(forum: row)
        }
      }
      guard let user else { return }
      try connection.each(Self.ownForums, user.number) { row in found[try row.int(0)] = try Standing(forum: row) }
    }
    return found.sorted { $0.key < $1.key }.map { (ID($0.key), $0.value) }
  }

  private static let visibleForums = forums(from: "forum f", "and f.visibility = $2")
  private static let ownForums = forums(
    from: "(\(ForumStanding.ownForums(of: "$1"))) as own join forum f on f.id = own.forum_id")

  private static func forums(from tables: String, _ condition: String = "") -> SQL {
    SQL(
      """
      select f.id, f.visibility, f.users_from_id, f.anyone_from_id, m.role, m.from_id,
        \(ForumStanding.groupAccess(of: "$1"))
      from \(tables)
      left join forum_member m on m.forum_id = f.id and m.user_id = $1
      where f.deleted_at is null \(condition)
      """)
  }

  /// Standings in the user's conversations outside forums and in those open to one of these audiences.
  public func conversationStandings(
    of user: ID<User>?, openTo audiences: [Audience]
  ) throws(Refusal) -> [(conversation: ID<Conversation>, standing: Standing)] {
    var found: [Int: Standing] = [:]
    try run { connection in
      for audience in audiences {
        try connection.each(
          """
          select id, kind, readers, users_from_seq, anyone_from_seq, coalesce(owner_id = $1, 0), null, 1
          from conversation
          where readers = $2 and readers <> 'listed' and forum_id is null and state = 'open'
          """, user?.number, audience.rawValue
        ) { row in found[try row.int(0)] = try Standing(conversation: row) }
      }
      guard let user else { return }
      try connection.each(
        """
        select id, kind, readers, users_from_seq, anyone_from_seq, 1, null, 1
        from conversation
        where owner_id = $1 and kind = 'feed' and state = 'open'
        """, user.number
      ) { row in found[try row.int(0)] = try Standing(conversation: row) }
      try connection.each(
        """
        select c.id, c.kind, c.readers, c.users_from_seq, c.anyone_from_seq, coalesce(c.owner_id = $1, 0), p.role,
          p.from_seq
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.forum_id is null and c.state = 'open'
        """, user.number
      ) { row in found[try row.int(0)] = try Standing(conversation: row) }
    }
    return found.sorted { $0.key < $1.key }.map { (ID($0.key), $0.value) }
  }

  /// The last message before a `seq`; 0 for the first.
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
      kind: .topic,
      forum: ForumStanding(
        visibility: try row.word(1), role: try row.optionalWord(4), groupAccess: try row.optionalWord(6)),
      usersFromSeq: try row.int(2), anyoneFromSeq: try row.int(3), memberFromSeq: try row.optionalInt(5) ?? 0)
  }

  fileprivate init(conversation row: borrowing Row) throws {
    self.init(
      kind: try row.word(1), readers: try row.word(2),
      participant: row.isNull(6) ? nil : Participation(role: try row.word(6), fromSeq: try row.int(7)),
      isOwner: try row.bool(5), usersFromSeq: try row.int(3), anyoneFromSeq: try row.int(4))
  }
}
