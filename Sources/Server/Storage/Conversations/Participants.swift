public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  public func participants(
    of conversation: ID<Conversation>, _ slice: ListSlice
  ) throws(Refusal) -> [Participant] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select user_id, role
          from participant
          where conversation_id = $1 and user_id \(page.comparison) $2
          order by user_id \(page.order)
          limit $3
          """), conversation.number, page.number(), slice.limit
      ) { row in Participant(ID(try row.int(0)), try row.word(1)) }
    }
  }

  public func participant(
    _ user: ID<User>, of conversation: ID<Conversation>
  ) throws(Refusal) -> Participant? {
    try run { connection in
      try connection.first(
        """
        select role
        from participant
        where conversation_id = $1 and user_id = $2
        """, conversation.number, user.number
      ) { row in Participant(user, try row.word(0)) }
    }
  }

  /// The number of participants, counted up to `most`.
  public func participantCount(of conversation: ID<Conversation>, upTo limit: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from (
          select 1
          from participant
          where conversation_id = $1
          limit $2
        ) as waiting
        """, conversation.number, limit
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// Whether the conversation has an admin, another than `user`.
  public func hasAdmin(
    of conversation: ID<Conversation>, besides user: ID<User>? = nil
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from participant
        where conversation_id = $1 and user_id is not $2 and role = 'admin'
        limit 1
        """, conversation.number, user?.number
      ) { _ in true } ?? false
    }
  }

  /// The next admin after the last one left: the longest-standing member, else the longest-standing reader.
  fileprivate func nextAdmin(of conversation: Conversation) throws(Refusal) -> ID<User>? {
    try run { connection in
      try connection.first(
        """
        select user_id
        from participant
        where conversation_id = $1 and request = 0 and (role = 'member' or role = 'reader' and not $2)
        order by role = 'reader', joined_at, user_id
        limit 1
        """, conversation.id.number, conversation.writers.isImmutable
      ) { row in ID(try row.int(0)) }
    }
  }
}

extension WriteTransaction {
  /// Adds a participant. The visible history begins at `fromSeq`, or now with nil.
  public func add(
    _ participant: NewParticipant, to conversation: Conversation, fromSeq: Int?, by actor: ID<User>
  ) throws(Refusal) {
    let head = try offset(in: conversation.id)
    try insert(
      participant, in: conversation.id, fromSeq: fromSeq ?? conversation.lastSeq + 1,
      fromOffset: fromSeq == nil ? head + 1 : 1, joinedSeq: conversation.lastSeq)
    try logParticipant(.participantJoined, participant.user, of: conversation.id, by: actor)
    try logToUser(.conversationCreated, of: conversation.id, to: participant.user, by: actor)
    try becomeOrdinary(conversation, by: actor)
  }

  public func setRole(
    _ role: ParticipantRole, of user: ID<User>, in conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update participant
        set role = $1
        where conversation_id = $2 and user_id = $3
        """, role.rawValue, conversation.number, user.number)
    }
    try logParticipant(.participantChanged, user, of: conversation, by: actor)
  }

  /// Removes a participant. A conversation without participants is closed.
  public func remove(
    _ participant: Participant, from conversation: Conversation, by actor: ID<User>
  ) throws(Refusal) {
    _ = try removeRow(of: participant.user, in: conversation.id)
    try logParticipant(.participantLeft, participant.user, of: conversation.id, by: actor)
    try logToUser(.conversationRemoved, of: conversation.id, to: participant.user, by: actor)
    guard try participantCount(of: conversation.id, upTo: 1) > 0 else {
      return try deactivate(conversation, by: actor)
    }
    try becomeOrdinary(conversation, by: actor)
    try promoteNextAdmin(of: conversation, after: participant, by: actor)
  }

  /// Promotes the longest-standing participant after the last admin, `participant`, left.
  func promoteNextAdmin(
    of conversation: Conversation, after participant: Participant, by actor: ID<User>
  ) throws(Refusal) {
    guard participant.role == .admin else { return }
    try promoteNextAdmin(of: conversation, by: actor)
  }

  /// Promotes the longest-standing participant if there is no admin. A pending request waits for its answer.
  func promoteNextAdmin(of conversation: Conversation, by actor: ID<User>) throws(Refusal) {
    guard try !hasAdmin(of: conversation.id), let next = try nextAdmin(of: conversation) else { return }
    try setRole(.admin, of: next, in: conversation.id, by: actor)
  }

  /// Adds an author or a mentioned user to a topic. Messages before `seq`, the message that added the user, are visible
  /// but not unread.
  public func takePart(
    _ user: ID<User>, inTopic topic: ID<Conversation>, since seq: Int, by actor: ID<User>
  ) throws(Refusal) {
    guard try participant(user, of: topic) == nil else { return }
    try insert(NewParticipant(user), in: topic, fromSeq: 1, fromOffset: 1, joinedSeq: seq - 1)
    try logParticipant(.participantJoined, user, of: topic, by: actor)
    try logToUser(.conversationCreated, of: topic, to: user, by: actor)
  }

  /// Adds a user to a topic, with all of it unread, unless the user is a participant already.
  public func follow(_ topic: Conversation, by user: ID<User>) throws(Refusal) {
    guard try participant(user, of: topic.id) == nil else { return }
    try add(NewParticipant(user), to: topic, fromSeq: 1, by: user)
  }

  /// Drops the distinct key after the participants changed.
  private func becomeOrdinary(_ conversation: Conversation, by actor: ID<User>) throws(Refusal) {
    guard conversation.isDistinct else { return }
    var ordinary = conversation
    ordinary.isDistinct = false
    _ = try change(ordinary, from: conversation, by: actor)
  }

  func insert(
    _ participant: NewParticipant, in conversation: ID<Conversation>, fromSeq: Int, fromOffset: Int, joinedSeq: Int
  ) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into participant (
          conversation_id, user_id, role, joined_at, from_seq, from_offset, joined_seq, request)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, conversation.number, participant.user.number, participant.role.rawValue, Int(now), fromSeq,
        fromOffset, joinedSeq, participant.isRequest)
    }
  }

  /// Returns whether there was a row.
  func removeRow(of user: ID<User>, in conversation: ID<Conversation>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from participant
        where conversation_id = $1 and user_id = $2
        """, conversation.number, user.number) == 1
    }
  }

  func logParticipant(
    _ kind: Event.Kind, _ user: ID<User>, of conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    try log(kind, in: .conversation(conversation), subject: user.number, revision: 0, actor: actor.number)
  }

  private func offset(in conversation: ID<Conversation>) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select head
        from stream
        where id = $1
        """, EventStream.conversation(conversation).number
      ) { row in try row.int(0) } ?? 0
    }
  }
}
