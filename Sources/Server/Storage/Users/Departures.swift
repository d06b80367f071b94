// Leaving and erasure. One transaction removes the name, the profile, sessions, tokens and links. A stored job removes
// the rest, which may be large: relations, participations, and for an erasure actions and messages.
//
// The emptied user row remains: messages, tombstones and the event log refer to its id.

public import ParleyModel
import ParleySQLite

extension JobKind {
  /// Completes `WriteTransaction.depart`.
  public static let departure = JobKind(
    "departure", progress: { (tx, departure: Departure) throws(Refusal) in try tx.progress(of: departure) }
  ) { (tx, departure: inout Departure) throws(Refusal) in
    guard try tx.runChunk(&departure) else { return false }
    guard let next = departure.nextStage else {
      // Archives of other users have messages of this one.
      if departure.isErasure { try tx.discardExports() }
      return true
    }
    departure.stage = next
    return false
  }
}

extension WriteTransaction {
  /// Clears name and profile, revokes sessions, tokens, links and invites, and starts the job for the rest.
  public func depart(
    _ user: ID<User>, as state: UserState, destroyingFiles: Bool = false, by actor: ID<User>
  ) throws(Refusal) -> (user: User, job: ID<Job>) {
    guard let before = try self.user(user) else { throw .notFound }
    let avatar = try run { connection in
      try connection.first("select avatar_file_id from account where id = $1", user.number) { row in
        try row.optionalInt(0)
      }
    }.flatMap(\.self)
    try forgetImportedAddresses(of: user)
    let revision = before.summary.revision + 1
    try run { connection in
      try connection.execute(
        """
        update account
        set name = '', name_key = null, display_name = null, bio = '', status_text = null, status_emoji = null,
          status_expires_at = null, role = 'member', state = $1, imported = 0, password = null, owner_id = null, avatar_file_id = null, discoverable = 0, reachable_by = 'nobody', shows_receipts = 0,
          shows_presence = 0, shows_stars = 0, preferences = '{}', last_seen_at = null, revision = $2
        where id = $3
        """, state.rawValue, revision, user.number)
      try connection.execute("delete from user_term where user_id = $1", user.number)
      try connection.execute("delete from user_group_member where user_id = $1", user.number)
      try connection.execute("delete from address where user_id = $1", user.number)
      try connection.execute("delete from link where user_id = $1", user.number)
      try connection.execute("delete from totp where user_id = $1", user.number)
      try connection.execute("delete from recovery_code where user_id = $1", user.number)
      try connection.execute("delete from passkey where user_id = $1", user.number)
      try connection.execute("delete from identity where user_id = $1", user.number)
      try connection.execute("delete from sign_in where user_id = $1", user.number)
      try connection.execute("delete from email where user_id = $1", user.number)
      try connection.execute("delete from mail_bounce where user_id = $1", user.number)
      try connection.execute("delete from mail_delivery where user_id = $1", user.number)
      try connection.execute("delete from notification_settings where user_id = $1", user.number)
      try connection.execute("delete from timeline_filter where user_id = $1", user.number)
      try connection.execute("delete from timeline_position where user_id = $1", user.number)
      try connection.execute("delete from mormessages_subscription where user_id = $1", user.number)
      try connection.execute("delete from dialect_marker where user_id = $1", user.number)
      // The received bytes are removed by `Store.removeOrphanedParts`.
      try connection.execute("delete from upload where owner_id = $1", user.number)
    }
    try revokeInvites(of: user)
    // The archive is removed by `Store.stopRemovedExport`.
    try removeExport(of: user)
    try removeDialectProfile(of: user)
    try revokeWebhooks(of: user)
    try disableWebhookEndpoints(of: user)
    try disableCommands(of: user)
    try deleteCommands(ofBot: user)
    try deleteWebhook(ofBot: user)
    try removeOwner(user, by: actor)
    try endAllSessions(of: user)
    if state == .erased { try noteErasure(of: before, destroyingFiles: destroyingFiles) }
    if let avatar { try release([ID(avatar)]) }
    try log(.userUpdated, in: .site, subject: user.number, revision: revision, actor: actor.number)
    let departure = Departure(
      of: user, isErasure: state == .erased, destroysFiles: destroyingFiles, by: actor)
    let job = try startJob(kind: JobKind.departure.name, subject: user.number, by: actor, state: departure)
    guard let user = try self.user(user) else { throw .notFound }
    return (user, job)
  }

  private func noteErasure(of user: User, destroyingFiles: Bool) throws(Refusal) {
    let (id, createdAt) = (user.summary.id.number, Int(user.summary.createdAt))
    erasures.append(try run { _ in try Erasure(user: id, createdAt: createdAt) })
    guard destroyingFiles else { return }
    erasures.append(try run { _ in try Erasure(destroyedUser: id, createdAt: createdAt) })
  }

  /// Runs one chunk. Returns whether the stage is complete.
  fileprivate func runChunk(_ departure: inout Departure) throws(Refusal) -> Bool {
    switch departure.stage {
    case .relations: try endRelations(departure)
    case .conversations: try leaveConversations(departure)
    case .forums: try leaveForums(departure)
    case .notes: try removePrivateData(departure)
    case .actions: try removeActions(departure)
    case .messages: try eraseMessages(&departure)
    case .reports: try removeReportCopies(&departure)
    case .files: try destroyFiles(of: departure.user, by: departure.actor)
    }
  }

  private static let chunk = 200

  /// Removes relations in both directions. Only the other users get an event: the stream of a departed user has no
  /// readers.
  private func endRelations(_ departure: Departure) throws(Refusal) -> Bool {
    let user = departure.user
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
        """, user.number, Self.chunk)
      let back = Set(
        try connection.all(
          """
          select user_id
          from relation
          where other_id = $1
          limit $2
          """, user.number, Self.chunk
        ) { row in ID<User>(try row.int(0)) })
      for other in back {
        try connection.execute(
          """
          delete from relation
          where user_id = $1 and kind in ('follow', 'mute', 'block') and other_id = $2
          """, other.number, user.number)
      }
      return back.sorted()
    }
    for other in back { try logRelation(of: other, to: user, by: departure.actor) }
    return try isEmpty("select 1 from relation where user_id = $1 or other_id = $1 limit 1", user)
  }

  /// Leaves all conversations but rooms, which `leaveForums` covers.
  private func leaveConversations(_ departure: Departure) throws(Refusal) -> Bool {
    let limit = 50
    let found = try run { connection in
      try connection.all(
        """
        select p.conversation_id
        from participant p
        join conversation c on c.id = p.conversation_id
        where p.user_id = $1 and c.kind <> 'room'
        order by p.conversation_id
        limit $2
        """, departure.user.number, limit
      ) { row in ID<Conversation>(try row.int(0)) }
    }
    for conversation in found {
      try leave(conversation, departure.user, by: departure.actor)
    }
    return found.count < limit
  }

  private func leave(
    _ id: ID<Conversation>, _ user: ID<User>, by actor: ID<User>
  ) throws(Refusal) {
    if let conversation = try conversation(id), conversation.kind != .topic,
      let participant = try participant(user, of: id)
    {
      return try remove(participant, from: conversation, by: actor)
    }
    // A topic has no owner and stays open without participants.
    guard try removeRow(of: user, in: id) else { return }
    try logParticipant(.participantLeft, user, of: id, by: actor)
    try logToUser(.conversationRemoved, of: id, to: user, by: actor)
  }

  private func leaveForums(_ departure: Departure) throws(Refusal) -> Bool {
    let limit = 10
    let forums = try run { connection in
      try connection.all(
        """
        select forum_id
        from forum_member
        where user_id = $1
        order by forum_id
        limit $2
        """, departure.user.number, limit
      ) { row in ID<Forum>(try row.int(0)) }
    }
    for forum in forums {
      let role = try role(of: departure.user, in: forum)
      _ = try removeMember(departure.user, of: forum, by: departure.actor)
      if role == .admin { try promoteNextAdmin(of: forum, excluding: departure.user) }
    }
    return forums.count < limit
  }

  /// Deletes private data: votes, presses of buttons, uses of commands, read positions, conversations for later, notification levels, notifications, stars.
  private func removePrivateData(_ departure: Departure) throws(Refusal) -> Bool {
    guard try removeVotes(of: departure.user, limit: Self.chunk) else { return false }
    guard try removePresses(of: departure.user, limit: Self.chunk) else { return false }
    guard try removeInvocations(of: departure.user, limit: Self.chunk) else { return false }
    let user = departure.user.number
    let tables = [("read_position", "conversation_id"), ("later", "conversation_id"), ("level", "scope_id")]
    let counts = try run { connection in
      try tables.map { table, key in
        try connection.execute(
          SQL(
            """
            delete from \(table)
            where user_id = $1 and \(key) in (
              select \(key)
              from \(table)
              where user_id = $1
              limit $2
            )
            """), user, Self.chunk)
      } + [
        try connection.execute(
          """
          delete from notification
          where id in (
            select id
            from notification
            where user_id = $1
            order by id
            limit $2
          )
          """, user, Self.chunk),
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
          """, user, Self.chunk),
      ]
    }
    return counts.allSatisfy { $0 < Self.chunk }
  }

  /// Removes the copies of the user's messages in reports. The reports remain.
  private func removeReportCopies(_ departure: inout Departure) throws(Refusal) -> Bool {
    let user = departure.user.number
    let copies = try run { connection in
      try connection.execute(
        """
        update report
        set copy = null, surroundings = null, copy_until = iif(held is null, null, copy_until)
        where id in (
          select id
          from report
          where user_id = $1 and copy is not null
          limit $2
        )
        """, user, Self.chunk)
    }
    if copies > 0 { try recordDestruction() }
    guard copies < Self.chunk else { return false }
    let first = departure.lastReport
    // Only open reports have a context.
    let open = try run { connection in
      try connection.all(
        """
        select id
        from report
        where state = 'open' and id > $1
        order by id
        limit $2
        """, first, Self.chunk
      ) { row in try row.int(0) }
    }
    guard let last = open.last else { return true }
    let contexts = try run { connection in
      try connection.execute(
        """
        update report
        set surroundings = (
          select json_group_array(json(value))
          from json_each(surroundings)
          where value ->> 'author_id' <> $1
        )
        where state = 'open' and id > $2 and id <= $3 and surroundings is not null and exists (
          select 1
          from json_each(surroundings)
          where value ->> 'author_id' = $1
        )
        """, String(user), first, last)
    }
    if contexts > 0 { try recordDestruction() }
    departure.lastReport = last
    return open.count < Self.chunk
  }

  private func removeActions(_ departure: Departure) throws(Refusal) -> Bool {
    let found = try run { connection in
      try connection.all(
        """
        select a.message_id, a.type, m.conversation_id
        from action a
        join message m on m.id = a.message_id
        where a.user_id = $1
        order by a.type, a.message_at, a.message_id
        limit $2
        """, departure.user.number, Self.chunk
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
          """, action.message.number, action.type, departure.user.number)
      }
      try log(
        .actionRemoved, in: .conversation(action.conversation), subject: action.message.number, revision: 0,
        actor: departure.actor.number)
    }
    return found.count < Self.chunk
  }

  /// Limit of changed rows per chunk: one message alone may have thousands.
  private static let maxRowsPerChunk = 2_000
  private static let messageChunk = 100

  /// Erases messages. One removed by a moderator can no longer be restored.
  private func eraseMessages(_ departure: inout Departure) throws(Refusal) -> Bool {
    guard try dropHeldPosts(of: departure.user, limit: Self.messageChunk) else { return false }
    guard try removeSuppliedUUIDs(of: departure.user, limit: Self.chunk) else { return false }
    let found = try run { connection in
      try connection.all(
        """
        select id
        from message
        where author_id = $1 and id > $2
        order by id
        limit $3
        """, departure.user.number, departure.lastMessage, Self.messageChunk
      ) { row in ID<Message>(try row.int(0)) }
    }
    let rowsBefore = connection.totalChanges
    for id in found where connection.totalChanges - rowsBefore < Self.maxRowsPerChunk {
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

  private func isEmpty(_ query: SQL, _ user: ID<User>) throws(Refusal) -> Bool {
    try run { connection in try connection.first(query, user.number) { _ in true } == nil }
  }
}

extension ReadTransaction {
  /// Each stage counts equally; within that of messages, progress is counted by these.
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
        """, departure.user.number, departure.lastMessage
      ) { row in try row.int(0) } ?? 0
    }
    let all = Double(max(departure.messages + left, 1))
    return (done + Double(departure.messages) / all) / Double(stages.count)
  }
}
