// Positions of messages, and the facts about their conversation and forum that permission rules need.

public import ParleyModel
import ParleySQLite

/// The position of a message: its conversation and `seq`.
public struct MessagePosition: Sendable, Hashable {
  public let conversation: ID<Conversation>
  public let seq: Int
}

extension ReadTransaction {
  /// The position of a message; nil for an unknown id.
  public func position(of message: ID<Message>) throws(Refusal) -> MessagePosition? {
    try run { connection in
      try connection.first(
        """
        select conversation_id, seq
        from message
        where id = $1
        """, message.number
      ) { row in MessagePosition(conversation: ID(try row.int(0)), seq: try row.int(1)) }
    }
  }

  /// The forum of a room or topic; nil for other conversations.
  public func forum(of conversation: ID<Conversation>) throws(Refusal) -> ID<Forum>? {
    try run { connection in
      try connection.first(
        """
        select forum_id
        from conversation
        where id = $1
        """, conversation.number
      ) { row in try row.optionalInt(0).map { ID($0) } }
    }.flatMap(\.self)
  }

  /// Whether all readers of this conversation may see earlier texts.
  public func showsRevisions(_ conversation: ID<Conversation>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select f.shows_revisions
        from conversation c
        join forum f on f.id = c.forum_id
        where c.id = $1
        """, conversation.number
      ) { row in try row.bool(0) } ?? false
    }
  }

  /// Milliseconds until a user may write again in slow mode; 0 if the user may write now.
  ///
  /// In slow mode each user writes once in that time, so the query reads about one row per active author. A message in the
  /// future is from before the clock was set back, and does not count.
  public func wait(
    of author: ID<User>, in conversation: ID<Conversation>, slowSeconds: Int
  ) throws(Refusal) -> Int64 {
    guard slowSeconds > 0 else { return 0 }
    let pause = 1_000 * Int64(slowSeconds)
    let last = try run { connection in
      try connection.first(
        """
        select max(created_at)
        from message
        where conversation_id = $1 and coalesce(latest_at, created_at) > $2 and author_id = $3 and created_at <= $4
        and kind = 'message' and moved_from is null
        """, conversation.number, Int(now - pause), author.number, Int(now)
      ) { row in try row.optionalInt(0) }
    }
    return last.flatMap(\.self).map { max(0, Int64($0) + pause - now) } ?? 0
  }

  /// The active user with this name, and their role on the site.
  public func user(called name: String) throws(Refusal) -> (id: ID<User>, role: Role)? {
    try run { connection in
      try connection.first(
        """
        select id, role
        from account
        where name_key = $1 and state = 'active'
        """, UserName.key(name)
      ) { row in (id: ID(try row.int(0)), role: try row.word(1)) }
    }
  }

  /// Whether this user uploaded all of these files.
  public func owns(_ files: [ID<File>], _ owner: ID<User>) throws(Refusal) -> Bool {
    for file in files {
      let isOwn = try run { connection in
        try connection.first(
          """
          select 1
          from file
          where id = $1 and owner_id = $2
          """, file.number, owner.number
        ) { _ in true } ?? false
      }
      guard isOwn else { return false }
    }
    return true
  }
}
