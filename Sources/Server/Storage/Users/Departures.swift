// Leaving. At once, in one transaction: the name, the profile and every way in. Then, as a job, what may be much: what
// others had to do with the person, where they took part, and, when all is to be erased, what they did and wrote.
//
// The row of the account stays, without anything in it: messages, tombstones and the log name its id.

public import ParleyModel
import ParleySQLite

extension JobKind {
  /// Carries out what `WriteTransaction.depart` has begun.
  public static let departure = JobKind(
    "departure", progress: { (tx, departure: Departure) throws(Refusal) in try tx.progress(of: departure) }
  ) { (tx, departure: inout Departure) throws(Refusal) in
    guard try tx.carryOut(&departure) else { return false }
    guard let next = departure.nextStage else { return true }
    departure.stage = next
    return false
  }
}

extension WriteTransaction {
  /// Takes the name and the profile away, ends every way in, and begins the rest.
  public func depart(
    _ account: ID<Account>, as state: AccountState, by actor: ID<Account>
  ) throws(Refusal) -> (person: Person, job: ID<Job>) {
    guard let before = try person(account) else { throw .notFound }
    let avatar = try run { connection in
      try connection.first("select avatar_file_id from account where id = $1", account.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap(\.self)
    let revision = before.account.revision + 1
    try run { connection in
      try connection.execute(
        """
        update account
        set name = '', name_key = null, display_name = null, bio = '', role = 'member', state = $1, imported = 0,
          password = null, avatar_file_id = null, discoverable = 0, reachable_by = 'nobody', shows_receipts = 0,
          shows_presence = 0, preferences = '{}', last_seen_at = null, revision = $2
        where id = $3
        """, state.rawValue, revision, account.number)
      try connection.execute("delete from address where user_id = $1", account.number)
      try connection.execute("delete from link where user_id = $1", account.number)
      try connection.execute(
        """
        update invite
        set revoked_at = $1
        where created_by = $2 and revoked_at is null
        """, Int(now), account.number)
    }
    try endAll(of: account)
    if let avatar { try letGo(of: [ID(avatar)]) }
    try log(.userUpdated, in: .site, subject: account.number, revision: revision, actor: actor.number)
    let departure = Departure(of: account, isErasure: state == .erased, by: actor)
    let job = try startJob(kind: JobKind.departure.name, subject: account.number, by: actor, state: departure)
    guard let person = try person(account) else { throw .notFound }
    return (person, job)
  }

  /// One chunk; whether its stage is done.
  fileprivate func carryOut(_ departure: inout Departure) throws(Refusal) -> Bool {
    switch departure.stage {
    case .relations: try endRelations(departure)
    case .conversations: try leaveConversations(departure)
    case .forums: try leaveForums(departure)
    case .notes: try removeNotes(departure)
    case .actions: try takeBackActions(departure)
    case .messages: try eraseMessages(&departure)
    }
  }

  private static let chunk = 200

  /// Nobody reads the stream of who has gone; those who had to do with them are told.
  private func endRelations(_ departure: Departure) throws(Refusal) -> Bool {
    let account = departure.account
    let back = try run { connection in
      try connection.execute(
        """
        delete from relation
        where user_id = $1 and (kind, other_id) in (
          select kind, other_id
          from relation
          where user_id = $1
          limit $2
        )
        """, account.number, Self.chunk)
      let back = Set(
        try connection.all(
          """
          select user_id
          from relation
          where other_id = $1
          limit $2
          """, account.number, Self.chunk
        ) { row in ID<Account>(try row.int(0)) })
      for other in back {
        try connection.execute(
          """
          delete from relation
          where user_id = $1 and kind in ('follow', 'mute', 'block') and other_id = $2
          """, other.number, account.number)
      }
      return back.sorted()
    }
    for other in back { try logRelation(of: other, to: account, by: departure.actor) }
    return try isEmpty("select 1 from relation where user_id = $1 or other_id = $1 limit 1", account)
  }

  /// All but rooms, which are left with their forums.
  private func leaveConversations(_ departure: Departure) throws(Refusal) -> Bool {
    let most = 50
    let found = try run { connection in
      try connection.all(
        """
        select p.conversation_id
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.kind <> 'room'
        order by p.conversation_id
        limit $2
        """, departure.account.number, most
      ) { row in ID<Conversation>(try row.int(0)) }
    }
    for conversation in found {
      try leave(conversation, departure.account, by: departure.actor)
    }
    return found.count < most
  }

  private func leave(
    _ id: ID<Conversation>, _ account: ID<Account>, by actor: ID<Account>
  ) throws(Refusal) {
    if let conversation = try conversation(id), conversation.kind != .topic,
      let participant = try participant(account, of: id)
    {
      return try remove(participant, from: conversation, by: actor)
    }
    // A topic stays open without anyone, and nobody leads it.
    guard try removeRow(of: account, in: id) else { return }
    try logParticipant(.participantLeft, account, of: id, by: actor)
    try tell(.conversationRemoved, of: id, to: account, by: actor)
  }

  private func leaveForums(_ departure: Departure) throws(Refusal) -> Bool {
    let most = 10
    let forums = try run { connection in
      try connection.all(
        """
        select forum_id
        from forum_member
        where user_id = $1
        order by forum_id
        limit $2
        """, departure.account.number, most
      ) { row in ID<Forum>(try row.int(0)) }
    }
    for forum in forums {
      _ = try removeMember(departure.account, of: forum, by: departure.actor)
    }
    return forums.count < most
  }

  /// What was theirs alone: how far they had read, what they wanted to hear of, what waited for them, their stars.
  private func removeNotes(_ departure: Departure) throws(Refusal) -> Bool {
    let account = departure.account.number
    let counts = try run { connection in
      [
        try connection.execute(
          """
          delete from mark
          where user_id = $1 and conversation_id in (
            select conversation_id
            from mark
            where user_id = $1
            limit $2
          )
          """, account, Self.chunk),
        try connection.execute(
          """
          delete from level
          where user_id = $1 and place_id in (
            select place_id
            from level
            where user_id = $1
            limit $2
          )
          """, account, Self.chunk),
        try connection.execute(
          """
          delete from inbox
          where id in (
            select id
            from inbox
            where user_id = $1
            order by id
            limit $2
          )
          """, account, Self.chunk),
        try connection.execute(
          """
          delete from action
          where user_id = $1 and type = 'star' and message_id in (
            select message_id
            from action
            where user_id = $1 and type = 'star'
            order by message_at, message_id
            limit $2
          )
          """, account, Self.chunk),
      ]
    }
    return counts.allSatisfy { $0 < Self.chunk }
  }

  private func takeBackActions(_ departure: Departure) throws(Refusal) -> Bool {
    let found = try run { connection in
      try connection.all(
        """
        select a.message_id, a.type, m.conversation_id
        from action a
        join message m on m.id = a.message_id
        where a.user_id = $1
        order by a.type, a.message_at, a.message_id
        limit $2
        """, departure.account.number, Self.chunk
      ) { row in
        (message: ID<Message>(try row.int(0)), type: try row.text(1), conversation: ID<Conversation>(try row.int(2)))
      }
    }
    for action in found {
      try run { connection in
        try connection.execute(
          """
          delete from action
          where message_id = $1 and type = $2 and user_id = $3
          """, action.message.number, action.type, departure.account.number)
      }
      try log(
        .actionRemoved, in: .conversation(action.conversation), subject: action.message.number, revision: 0,
        actor: departure.actor.number)
    }
    return found.count < Self.chunk
  }

  /// How many rows a chunk may change, after which it takes no further message: one alone may have thousands of them.
  private static let enoughRows = 2_000
  private static let messageChunk = 100

  /// What a moderator had removed is unsealed for good, too.
  private func eraseMessages(_ departure: inout Departure) throws(Refusal) -> Bool {
    let found = try run { connection in
      try connection.all(
        """
        select id
        from message
        where author_id = $1 and id > $2
        order by id
        limit $3
        """, departure.account.number, departure.lastMessage, Self.messageChunk
      ) { row in ID<Message>(try row.int(0)) }
    }
    let rowsBefore = connection.totalChanges
    for id in found where connection.totalChanges - rowsBefore < Self.enoughRows {
      let message = try state(of: id)
      if message.deletion == nil {
        _ = try entomb(message, as: .erased, by: departure.actor)
      } else {
        try breakSeal(of: id)
      }
      departure.lastMessage = id.number
      departure.messages += 1
    }
    return found.count < Self.messageChunk && found.last.map { $0.number == departure.lastMessage } ?? true
  }

  private func isEmpty(_ query: SQL, _ account: ID<Account>) throws(Refusal) -> Bool {
    try run { connection in try connection.first(query, account.number) { _ in true } == nil }
  }
}

extension ReadTransaction {
  /// The stages count alike, but that within the last the messages do.
  fileprivate func progress(of departure: Departure) throws(Refusal) -> Double {
    let stages = departure.stages
    let done = Double(stages.firstIndex(of: departure.stage) ?? 0)
    guard departure.stage == .messages else { return done / Double(stages.count) }
    let left = try run { connection in
      try connection.first(
        """
        select count(*)
        from message
        where author_id = $1 and id > $2
        """, departure.account.number, departure.lastMessage
      ) { row in try row.int(0) } ?? 0
    }
    let all = Double(max(departure.messages + left, 1))
    return (done + Double(departure.messages) / all) / Double(stages.count)
  }
}
