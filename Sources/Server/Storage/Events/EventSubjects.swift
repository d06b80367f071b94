// Reads the subjects of events, one query per kind for a whole page. Missing rows are left out.

public import ParleyModel
import ParleySQLite

/// A user paired with a conversation, forum, message or user.
public struct UserSubject<Thing>: Hashable, Sendable {
  public let user: ID<User>
  public let thing: ID<Thing>

  public init(_ user: ID<User>, _ thing: ID<Thing>) {
    self.user = user
    self.thing = thing
  }

  var pair: (Int, Int) { (user.number, thing.number) }
}

/// A user's access to a conversation that was added to the user's stream.
public struct NewAccess: Sendable {
  public var user: ID<User>
  public var conversation: ID<Conversation>
  /// The role on the site.
  public var role: Role
  /// Access by the forum; nil outside of rooms and topics.
  public var forum: ForumStanding?
  public var isOwner: Bool
  public var participation: OwnConversation.Participation?
}

extension ReadTransaction {
  /// Returns open conversations, with participants if they are few.
  public func conversations(
    _ ids: some Sequence<ID<Conversation>>
  ) throws(Refusal) -> [ID<Conversation>: Conversation] {
    var found: [ID<Conversation>: Conversation] = [:]
    try run { connection in
      try Self.conversationsByID.each(ids.map(\.number), connection) { row in
        var conversation = try Conversation(row)
        conversation.participantCount = try row.optionalInt("participant_count")
        found[conversation.id] = conversation
      }
      let users = try Self.listed(found.values, connection)
      for (id, users) in users { found[id]?.participants = users }
    }
    return found
  }

  private static let conversationsByID = ListQuery { list in
    """
    select \(conversationColumns), \(participantCountColumn)
    from conversation c
    where c.id in (\(list)) and c.state = 'open'
    """
  }

  /// The participant count of conversation `c`, up to a limit; null without a participant list.
  static let participantCountColumn = """
    case when c.kind in ('direct', 'group', 'channel') then (
      select count(*)
      from (
        select 1
        from participant
        where conversation_id = c.id
        limit \(Conversation.maxCounted)
      ) as counted
    ) end as participant_count
    """

  /// Returns the participants of conversations with few of them.
  static func listed(
    _ conversations: some Sequence<Conversation>, _ connection: Connection
  ) throws -> [ID<Conversation>: [Participant]] {
    var listed: [ID<Conversation>: [Participant]] = [:]
    for conversation in conversations {
      if let count = conversation.participantCount, count <= Conversation.maxListed { listed[conversation.id] = [] }
    }
    try participantsByConversation.each(listed.keys.map(\.number), connection) { row in
      listed[ID(try row.int(0)), default: []].append(Participant(ID(try row.int(1)), try row.word(2)))
    }
    for id in listed.keys { listed[id]?.sort { $0.user < $1.user } }
    return listed
  }

  private static let participantsByConversation = ListQuery { list in
    """
    select conversation_id, user_id, role
    from participant
    where conversation_id in (\(list))
    """
  }

  public func forums(_ ids: some Sequence<ID<Forum>>) throws(Refusal) -> [ID<Forum>: Forum] {
    var found: [ID<Forum>: Forum] = [:]
    try run { connection in
      try Self.forumsByID.each(ids.map(\.number), connection) { row in
        let forum = try Forum(row)
        found[forum.id] = forum
      }
    }
    return found
  }

  private static let forumsByID = ListQuery { list in
    """
    select \(forumColumns)
    from forum
    where id in (\(list)) and deleted_at is null
    """
  }

  public func users(_ ids: some Sequence<ID<User>>) throws(Refusal) -> [ID<User>: User] {
    var found: [ID<User>: User] = [:]
    try run { connection in
      try Self.usersByID.each(ids.map(\.number), connection) { row in
        let user = try User(row)
        found[user.summary.id] = user
      }
    }
    return found
  }

  private static let usersByID = ListQuery { list in
    """
    select \(User.columns)
    from account a
    where a.id in (\(list))
    """
  }

  // MARK: Participants and members

  public func roles(
    of subjects: some Sequence<UserSubject<Conversation>>
  ) throws(Refusal) -> [UserSubject<Conversation>: ParticipantRole] {
    try each(subjects, Self.participantRoles) { row in try row.word(2) }
  }

  private static let participantRoles = PairQuery(
    """
    select w.a, w.b, p.role
    from wanted w
    cross join participant p on p.conversation_id = w.b and p.user_id = w.a
    """)

  public func roles(of subjects: some Sequence<UserSubject<Forum>>) throws(Refusal) -> [UserSubject<Forum>: ForumRole] {
    try each(subjects, Self.memberRoles) { row in try row.word(2) }
  }

  private static let memberRoles = PairQuery(
    """
    select w.a, w.b, m.role
    from wanted w
    cross join forum_member m on m.forum_id = w.b and m.user_id = w.a
    cross join forum f on f.id = m.forum_id and f.deleted_at is null
    """)

  /// The access of users to forums by groups.
  public func groupAccess(
    of subjects: some Sequence<UserSubject<Forum>>
  ) throws(Refusal) -> [UserSubject<Forum>: GroupAccess] {
    try each(subjects, Self.groupAccessOfUsers) { row in try row.word(2) }
  }

  private static let groupAccessOfUsers = PairQuery(
    """
    select w.a, w.b, max(g.access)
    from wanted w
    cross join user_group_member n on n.user_id = w.a
    cross join forum_group g on g.group_id = n.group_id and g.forum_id = w.b and g.access >= 'read'
    cross join forum f on f.id = w.b and f.deleted_at is null
    group by w.a, w.b
    """)

  public func newAccess(
    _ subjects: some Sequence<UserSubject<Conversation>>
  ) throws(Refusal) -> [UserSubject<Conversation>: NewAccess] {
    try each(subjects, Self.newAccessOfUsers) { row in
      NewAccess(
        user: ID(try row.int("a")), conversation: ID(try row.int("b")), role: try row.word("site_role"),
        forum: try row.isNull("visibility")
          ? nil
          : ForumStanding(
            visibility: try row.word("visibility"), role: try row.optionalWord("forum_role"),
            groupAccess: try row.optionalWord("group_access")),
        isOwner: try row.bool("is_owner"),
        participation: try row.isNull("role")
          ? nil
          : OwnConversation.Participation(
            role: try row.word("role"), fromSeq: try row.int("from_seq"), fromOffset: try row.int("from_offset"),
            joinedSeq: try row.int("joined_seq"), isRequest: try row.bool("request")))
    }
  }

  private static let newAccessOfUsers = PairQuery(
    """
    select w.a, w.b, a.role as site_role, f.visibility, m.role as forum_role, c.owner_id is w.a as is_owner, p.role,
      p.from_seq, p.from_offset, p.joined_seq, p.request, \(ForumStanding.groupAccess(of: "w.a"))
    from wanted w
    cross join account a on a.id = w.a
    cross join conversation c on c.id = w.b and c.state = 'open'
    left join participant p on p.conversation_id = c.id and p.user_id = w.a
    left join forum f on f.id = c.forum_id
    left join forum_member m on m.forum_id = c.forum_id and m.user_id = w.a
    where f.deleted_at is null
    """)

  // MARK: Rows of one user

  public func readPositions(
    of subjects: some Sequence<UserSubject<Conversation>>
  ) throws(Refusal) -> [UserSubject<Conversation>: ReadPosition] {
    try each(subjects, Self.readPositionsOfUsers) { row in
      ReadPosition(readSeq: try row.int(2), deliveredSeq: try row.int(3))
    }
  }

  private static let readPositionsOfUsers = PairQuery(
    """
    select w.a, w.b, k.read_seq, k.delivered_seq
    from wanted w
    cross join read_position k on k.user_id = w.a and k.conversation_id = w.b
    """)

  /// Read positions that the other participants may see.
  public func receipts(
    of subjects: some Sequence<UserSubject<Conversation>>
  ) throws(Refusal) -> [UserSubject<Conversation>: ReadPosition] {
    try each(subjects, Self.receiptsOfUsers) { row in
      ReadPosition(readSeq: try row.int(2), deliveredSeq: try row.int(3))
    }
  }

  private static let receiptsOfUsers = PairQuery(
    """
    select w.a, w.b, k.read_seq, k.delivered_seq
    from wanted w
    cross join participant p on p.conversation_id = w.b and p.user_id = w.a and p.request = 0
    cross join account a on a.id = w.a and a.shows_receipts = 1
    cross join conversation c on c.id = w.b and c.kind in ('direct', 'group') and c.state = 'open'
    cross join read_position k on k.user_id = w.a and k.conversation_id = w.b
    where (
      select count(*)
      from (
        select 1
        from participant
        where conversation_id = w.b
        limit \(Conversation.maxListed + 1)
      ) as counted
    ) <= \(Conversation.maxListed)
    """)

  /// The messages that their users have starred.
  public func stars(of subjects: some Sequence<UserSubject<Message>>) throws(Refusal) -> Set<UserSubject<Message>> {
    Set(try each(subjects, Self.starsOfUsers) { _ in true }.keys)
  }

  private static let starsOfUsers = PairQuery(
    """
    select w.a, w.b
    from wanted w
    cross join action s on s.message_id = w.b and s.type = 'star' and s.user_id = w.a
    """)

  /// Returns notification levels, and whether they were set explicitly.
  public func levels(
    of subjects: some Sequence<UserSubject<LevelScope>>
  ) throws(Refusal) -> [UserSubject<LevelScope>: (scope: LevelScope, level: SetLevel)] {
    try each(subjects, Self.levelsOfUsers) { row in
      let own: Level? = try row.optionalWord(2)
      guard let kind: Conversation.Kind = try row.optionalWord(3) else {
        return (.forum(ID(try row.int(1))), SetLevel(own ?? .usualInForum, isOwn: own != nil))
      }
      let usual = try row.optionalWord(4) ?? Level.usual(in: kind)
      return (.conversation(ID(try row.int(1))), SetLevel(own ?? usual, isOwn: own != nil))
    }
  }

  private static let levelsOfUsers = PairQuery(
    """
    select w.a, w.b, l.level, c.kind, f.level
    from wanted w
    left join level l on l.user_id = w.a and l.scope_id = w.b
    left join conversation c on c.id = w.b
    left join level f on f.user_id = w.a and f.scope_id = c.forum_id and c.kind = 'room'
    """)

  /// The end times of the `later` entries of conversations, expired ones included.
  public func later(
    of subjects: some Sequence<UserSubject<Conversation>>
  ) throws(Refusal) -> [UserSubject<Conversation>: Int64] {
    try each(subjects, Self.laterOfUsers) { row in Int64(try row.int(2)) }
  }

  private static let laterOfUsers = PairQuery(
    """
    select w.a, w.b, l.until
    from wanted w
    cross join later l on l.user_id = w.a and l.conversation_id = w.b
    """)

  /// Returns relations between users.
  public func relations(
    of subjects: some Sequence<UserSubject<User>>
  ) throws(Refusal) -> [UserSubject<User>: UserRelations] {
    var found: [UserSubject<User>: UserRelations] = [:]
    for subject in subjects { found[subject] = UserRelations(subject.thing) }
    let pairs = found.keys.map(\.pair)
    try run { connection in
      try Self.relationsOfUsers.each(pairs, connection) { row in
        found[UserSubject(ID(try row.int(0)), ID(try row.int(1)))]?.kinds.insert(try row.word(2))
      }
      try Self.requestsToUsers.each(Set(pairs.map(\.0)).sorted(), connection) { row in
        found[UserSubject(ID(try row.int(0)), ID(try row.int(1)))]?.requests.insert(ID(try row.int(2)))
      }
    }
    return found
  }

  private static let relationsOfUsers = PairQuery(
    """
    select w.a, w.b, r.kind
    from wanted w
    cross join relation r on r.user_id = w.a and r.kind in ('follow', 'mute', 'block') and r.other_id = w.b
    """)

  private static let requestsToUsers = ListQuery { list in
    """
    select p.user_id, c.created_by, c.id
    from participant p
    join conversation c on c.id = p.conversation_id
    where p.user_id in (\(list)) and p.request = 1 and c.state = 'open'
    """
  }

  /// Reads the pair from the first two columns of each row.
  private func each<Thing, Value>(
    _ subjects: some Sequence<UserSubject<Thing>>, _ query: PairQuery, _ read: (borrowing Row) throws -> Value
  ) throws(Refusal) -> [UserSubject<Thing>: Value] {
    var found: [UserSubject<Thing>: Value] = [:]
    try run { connection in
      try query.each(subjects.map(\.pair), connection) { row in
        found[UserSubject(ID(try row.int(0)), ID(try row.int(1)))] = try read(row)
      }
    }
    return found
  }
}
