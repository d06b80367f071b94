// Polls of messages. The counts are stored beside the votes, so that a page reads one row per option. A vote logs two
// events: the totals in the stream of the conversation, without an actor, and the vote itself in the stream of its user.
// So no other user learns from the log who has voted.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  func add(_ poll: Poll, to message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into poll (message_id, choices, anonymous, closes_at)
        values ($1, $2, $3, $4)
        """, message.number, poll.choices, poll.isAnonymous, poll.closesAt.map { Int($0) })
      for (position, option) in poll.options.enumerated() {
        try connection.execute(
          """
          insert into poll_option (message_id, position, text)
          values ($1, $2, $3)
          """, message.number, position, option.text)
      }
    }
  }

  /// Replaces the vote of a user. An empty vote withdraws it.
  public func setVote(
    _ options: [Int], in message: ID<Message>, of conversation: ID<Conversation>, by user: ID<User>
  ) throws(Refusal) {
    let before = try vote(of: user, in: message)
    guard before != options else { return }
    for option in before where !options.contains(option) {
      try run { connection in
        try connection.execute(
          """
          delete from vote
          where message_id = $1 and position = $2 and user_id = $3
          """, message.number, option, user.number)
      }
      try count(-1, option, of: message)
    }
    for option in options where !before.contains(option) {
      try run { connection in
        try connection.execute(
          """
          insert into vote (message_id, position, user_id)
          values ($1, $2, $3)
          """, message.number, option, user.number)
      }
      try count(1, option, of: message)
    }
    if before.isEmpty != options.isEmpty {
      try run { connection in
        try connection.execute(
          "update poll set voters = voters + $1 where message_id = $2", options.isEmpty ? -1 : 1, message.number)
      }
    }
    try log(.pollUpdated, in: .conversation(conversation), subject: message.number, revision: 0, actor: 0)
    try log(.pollUpdated, in: .user(user), subject: message.number, revision: 0, actor: user.number)
  }

  private func count(_ change: Int, _ option: Int, of message: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update poll_option
        set votes = votes + $1
        where message_id = $2 and position = $3
        """, change, message.number, option)
    }
  }

  /// Closes an open poll.
  public func closePoll(
    of message: ID<Message>, in conversation: ID<Conversation>, by user: ID<User>
  ) throws(Refusal) {
    try run { connection in
      try connection.execute("update poll set closes_at = $1 where message_id = $2", Int(now), message.number)
    }
    try log(
      .pollUpdated, in: .conversation(conversation), subject: message.number, revision: 0, actor: user.number)
  }

  /// Moves the poll of a message with its votes to a copy of the message.
  func movePoll(of message: ID<Message>, to copy: ID<Message>) throws(Refusal) {
    try run { connection in
      let count = try connection.execute(
        "update poll set message_id = $1 where message_id = $2", copy.number, message.number)
      guard count > 0 else { return }
      try connection.execute("update message set has_poll = 1 where id = $1", copy.number)
      try connection.execute("update message set has_poll = null where id = $1", message.number)
    }
  }

  /// Deletes the poll of a tombstone with all votes.
  func removePoll(of message: ID<Message>) throws(Refusal) {
    try run { connection in
      let count = try connection.execute("delete from poll where message_id = $1", message.number)
      guard count > 0 else { return }
      try connection.execute("update message set has_poll = null where id = $1", message.number)
    }
  }

  /// Removes votes of a user, at most `limit` polls. Returns whether none is left.
  func removeVotes(of user: ID<User>, limit: Int) throws(Refusal) -> Bool {
    let found = try run { connection in
      try connection.all(
        """
        select v.message_id, m.conversation_id
        from vote v
        join message m on m.id = v.message_id
        where v.user_id = $1
        group by v.message_id
        order by v.message_id
        limit $2
        """, user.number, limit
      ) { row in (message: ID<Message>(try row.int(0)), conversation: ID<Conversation>(try row.int(1))) }
    }
    for vote in found { try setVote([], in: vote.message, of: vote.conversation, by: user) }
    return found.count < limit
  }
}

extension ReadTransaction {
  /// The polls of these messages.
  func polls(of messages: [Int]) throws(Refusal) -> [Int: Poll] {
    var polls: [Int: Poll] = [:]
    guard !messages.isEmpty else { return polls }
    try run { connection in
      try Self.pollsByMessage.each(messages, connection) { row in
        polls[try row.int(0)] = Poll(
          [], choices: try row.int(1), isAnonymous: try row.bool(2), closesAt: try row.optionalInt(3).map { Int64($0) },
          voters: try row.int(4))
      }
      try Self.optionsByMessage.each(messages, connection) { row in
        polls[try row.int(0)]?.options.append(Poll.Option(try row.text(1), votes: try row.int(2)))
      }
    }
    return polls
  }

  private static let pollsByMessage = ListQuery { list in
    """
    select message_id, choices, anonymous, closes_at, voters
    from poll
    where message_id in (\(list))
    """
  }

  private static let optionsByMessage = ListQuery { list in
    """
    select message_id, text, votes
    from poll_option
    where message_id in (\(list))
    order by message_id, position
    """
  }

  /// The options that a user has chosen, in ascending order.
  public func vote(of user: ID<User>, in message: ID<Message>) throws(Refusal) -> [Int] {
    try votes(of: user, in: [message])[message] ?? []
  }

  /// The user's vote in each of these messages.
  public func votes(of user: ID<User>, in messages: [ID<Message>]) throws(Refusal) -> [ID<Message>: [Int]] {
    var found: [ID<Message>: [Int]] = [:]
    guard !messages.isEmpty else { return found }
    try run { connection in
      try Self.ownVotes.each(messages.map(\.number), and: user.number, connection) { row in
        found[ID(try row.int(0)), default: []].append(try row.int(1))
      }
    }
    return found
  }

  private static let ownVotes = ListQuery { list, user in
    """
    select message_id, position
    from vote
    where message_id in (\(list)) and user_id = \(user)
    order by message_id, position
    """
  }

  /// The votes of users in the polls of messages.
  public func votes(of subjects: some Sequence<UserSubject<Message>>) throws(Refusal) -> [UserSubject<Message>: [Int]] {
    var found: [UserSubject<Message>: [Int]] = [:]
    try run { connection in
      try Self.votesOfUsers.each(subjects.map(\.pair), connection) { row in
        found[UserSubject(ID(try row.int(0)), ID(try row.int(1))), default: []].append(try row.int(2))
      }
    }
    for subject in found.keys { found[subject]?.sort() }
    return found
  }

  private static let votesOfUsers = PairQuery(
    """
    select w.a, w.b, v.position
    from wanted w
    cross join vote v on v.user_id = w.a and v.message_id = w.b
    """)

  /// The votes in a poll by option and user.
  public func votes(
    in message: ID<Message>, option: Int? = nil, _ slice: ListSlice
  ) throws(Refusal) -> [Vote] {
    let page = Keyset(slice, .ascending)
    return try run { connection in
      try connection.all(
        SQL(
          """
          select position, user_id
          from vote
          where message_id = $1 and position between $2 and $3 and (position, user_id) \(page.comparison) ($4, $5)
          order by position \(page.order), user_id \(page.order)
          limit $6
          """), message.number, option ?? 0, option ?? Poll.optionCounts.upperBound, page.number(), page.number(1),
        slice.limit
      ) { row in Vote(option: try row.int(0), user: ID(try row.int(1))) }
    }
  }
}
