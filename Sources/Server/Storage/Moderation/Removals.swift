// Bulk removal and restoration of a user's messages since a time. Each message is removed as by a moderator; its seal
// names the removal, so that undoing it restores exactly those messages.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A new removal, validated by the Community layer.
public struct NewRemoval: Sendable {
  public var author: ID<User>?
  public var invite: ID<Invite>?
  public var forum: ID<Forum>?
  public let since: Int64
  public let reason: String?

  public init(since: Int64, reason: String?) {
    self.since = since
    self.reason = reason
  }
}

/// Progress of a removal job.
public struct RemovalProgress: Sendable {
  public let removal: ID<Removal>
  /// Authors up to this id are done.
  public var author = ID<User>(0)
  /// Messages of the next author down to this id are done.
  public var message: ID<Message>?

  public init(_ removal: ID<Removal>) { self.removal = removal }
}

/// Progress of a restoration job.
public struct RestorationProgress: Sendable {
  public let removal: ID<Removal>
  public let actor: ID<User>
  /// Messages up to this id are done.
  public var message = ID<Message>(0)

  public init(_ removal: ID<Removal>, by actor: ID<User>) {
    self.removal = removal
    self.actor = actor
  }
}

/// A message examined by a removal.
public struct RemovalCandidate: Sendable {
  public let id: ID<Message>
  public let conversation: ID<Conversation>
  public let createdAt: Int64
  /// Neither a tombstone nor a system message.
  public let isLive: Bool
}

extension ReadTransaction {
  public func removal(_ id: ID<Removal>) throws(Refusal) -> Removal? {
    try run { connection in
      try connection.first(
        """
        select author_id, invite_id, forum_id, since, reason, created_by, created_at, removed, finished_at, undone_by,
          undone_at, restored, restored_at
        from removal
        where id = $1
        """, id.number
      ) { row in
        Removal(
          id: id, author: try row.optionalInt("author_id").map { ID($0) },
          invite: try row.optionalInt("invite_id").map { ID($0) },
          forum: try row.optionalInt("forum_id").map { ID($0) },
          since: Int64(try row.int("since")), reason: try row.optionalText("reason"),
          createdBy: ID(try row.int("created_by")), createdAt: Int64(try row.int("created_at")),
          removedCount: try row.int("removed"), finishedAt: try row.optionalInt("finished_at").map { Int64($0) },
          undoneBy: try row.optionalInt("undone_by").map { ID($0) },
          undoneAt: try row.optionalInt("undone_at").map { Int64($0) }, restoredCount: try row.int("restored"),
          restoredAt: try row.optionalInt("restored_at").map { Int64($0) })
      }
    }
  }

  /// Messages of an author with ids below `message`, newest first.
  public func candidates(
    by author: ID<User>, before message: ID<Message>?, limit: Int
  ) throws(Refusal) -> [RemovalCandidate] {
    try run { connection in
      try connection.all(
        """
        select id, conversation_id, created_at, deletion is null and kind = 'message'
        from message
        where author_id = $1 and id < $2
        order by id desc
        limit $3
        """, author.number, message?.number ?? Int.max, limit
      ) { row in
        RemovalCandidate(
          id: ID(try row.int(0)), conversation: ID(try row.int(1)), createdAt: Int64(try row.int(2)),
          isLive: try row.bool(3))
      }
    }
  }
}

extension WriteTransaction {
  public func add(_ removal: NewRemoval, by actor: ID<User>) throws(Refusal) -> ID<Removal> {
    let id = nextID()
    try run { connection in
      try connection.execute(
        """
        insert into removal (id, author_id, invite_id, forum_id, since, reason, created_by, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        """, id, removal.author?.number, removal.invite?.number, removal.forum?.number, Int(removal.since),
        removal.reason, actor.number, Int(now))
    }
    return ID(id)
  }

  /// Records the progress of a removal.
  public func recordProgress(_ count: Int, removedBy removal: ID<Removal>, isFinished: Bool) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update removal
        set removed = removed + $1, finished_at = $2
        where id = $3
        """, count, isFinished ? Int(now) : nil, removal.number)
    }
  }

  /// Marks a removal as undone, so that its job stops. Returns whether it was not undone before.
  public func markUndone(_ removal: ID<Removal>, by actor: ID<User>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        update removal
        set undone_by = $1, undone_at = $2, finished_at = coalesce(finished_at, $2)
        where id = $3 and undone_at is null
        """, actor.number, Int(now), removal.number) == 1
    }
  }

  private static let restoredPerChunk = 100
  /// A message may have hundreds of revisions, so changed rows are limited too.
  public static let changesPerChunk = 2_000

  /// Restores one chunk. Returns true when the restoration is complete. Messages of closed conversations and expired
  /// seals are not restored.
  ///
  /// - Parameter isReader: whether a user can read a message.
  public func restoreNextChunk(
    _ progress: inout RestorationProgress,
    readableBy isReader: (ID<User>, MessagePosition) throws(Refusal) -> Bool = { _, _ throws(Refusal) in true }
  ) throws(Refusal) -> Bool {
    let start = changeCount
    let sealed = try run { connection in
      try connection.all(
        """
        select s.message_id, s.until > $1 and c.state = 'open'
        from sealed s
        join message m on m.id = s.message_id
        join conversation c on c.id = m.conversation_id
        where s.removal_id = $2 and s.message_id > $3
        order by s.message_id
        limit $4
        """, Int(now), progress.removal.number, progress.message.number, Self.restoredPerChunk
      ) { row in (id: ID<Message>(try row.int(0)), canBeRestored: try row.bool(1)) }
    }
    var count = 0
    var hasMore = sealed.count == Self.restoredPerChunk
    for (id, canBeRestored) in sealed {
      progress.message = id
      if canBeRestored {
        try restore(id, by: progress.actor, readableBy: isReader)
        count += 1
      }
      guard changeCount - start < Self.changesPerChunk else {
        hasMore = true
        break
      }
    }
    try run { connection in
      try connection.execute(
        """
        update removal
        set restored = restored + $1, restored_at = $2
        where id = $3
        """, count, hasMore ? nil : Int(now), progress.removal.number)
    }
    return !hasMore
  }

  /// Rows changed by this connection since it was opened, to limit chunks.
  public var changeCount: Int { connection.totalChanges }
}

extension RemovalProgress: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    removal = try object.read("removal")
    author = ID(try object.int("author"))
    message = try object.optional("message")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("removal", removal)
      json.field("author", author.number)
      json.field("message", message)
    }
  }
}

extension RestorationProgress: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    removal = try object.read("removal")
    actor = try object.read("actor")
    message = ID(try object.int("message"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("removal", removal)
      json.field("actor", actor)
      json.field("message", message.number)
    }
  }
}
