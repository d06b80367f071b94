// Erasure of a deleted forum, in a stored job: closes its conversations and turns their messages into tombstones.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// Progress of a forum's erasure.
public struct ForumErasure: Sendable {
  let forum: ID<Forum>
  let actor: ID<User>
  /// Conversations below this id are done, and in this one all messages up to `seq`.
  var conversation = ID<Conversation>(0)
  var seq = 0

  public init(_ forum: ID<Forum>, by actor: ID<User>) {
    self.forum = forum
    self.actor = actor
  }
}

extension JobKind {
  public static let forumErasure = JobKind(
    "forum.erasure", progress: { (tx, erasure: ForumErasure) throws(Refusal) in try tx.progress(of: erasure) }
  ) { (tx, erasure: inout ForumErasure) throws(Refusal) in
    try tx.eraseNextChunk(&erasure)
  }
}

extension WriteTransaction {
  private static let messagesPerChunk = 100
  /// A message may have hundreds of revisions, so changed rows are limited too.
  private static let erasedRowsPerChunk = 2_000

  /// Runs one chunk. Returns true when the erasure is complete.
  func eraseNextChunk(_ erasure: inout ForumErasure) throws(Refusal) -> Bool {
    let start = connection.totalChanges
    var left = Self.messagesPerChunk
    while left > 0, connection.totalChanges - start < Self.erasedRowsPerChunk {
      if erasure.seq == 0 {
        guard let next = try conversation(of: erasure.forum, after: erasure.conversation) else { return true }
        try close(next)
        erasure.conversation = next
      }
      left -= 1
      if let message = try message(in: erasure.conversation, after: erasure.seq) {
        try erase(message.id, by: erasure.actor)
        erasure.seq = message.seq
      } else {
        erasure.seq = 0
      }
    }
    return false
  }

  private func close(_ conversation: ID<Conversation>) throws(Refusal) {
    try indexingTitle(of: conversation) { () throws(Refusal) in
      _ = try run { connection in
        try connection.execute(
          """
          update conversation
          set state = 'deleted', deleted_at = $1, title = null
          where id = $2
          """, Int(now), conversation.number)
      }
    }
  }

  private func message(
    in conversation: ID<Conversation>, after seq: Int
  ) throws(Refusal) -> (id: ID<Message>, seq: Int)? {
    try run { connection in
      try connection.first(
        """
        select id, seq
        from message
        where conversation_id = $1 and seq > $2
        order by seq
        limit 1
        """, conversation.number, seq
      ) { row in (ID(try row.int(0)), try row.int(1)) }
    }
  }

  /// Erases a message. One removed by a moderator can no longer be restored.
  private func erase(_ id: ID<Message>, by actor: ID<User>) throws(Refusal) {
    let message = try state(of: id)
    guard message.deletion == nil else { return try breakSeal(of: id) }
    _ = try entomb(message, as: .erased, by: actor)
  }
}

extension ReadTransaction {
  fileprivate func progress(of erasure: ForumErasure) throws(Refusal) -> Double {
    let isInside = erasure.seq > 0
    let last = isInside ? try lastSeq(of: erasure.conversation) ?? 1 : 1
    return try share(
      of: erasure.forum, upTo: erasure.conversation, inside: isInside ? Double(erasure.seq) / Double(max(last, 1)) : nil
    )
  }

  /// Fraction of a forum's conversations that a job has processed. `inside` is its progress in `conversation`, nil if
  /// that conversation is done.
  public func share(
    of forum: ID<Forum>, upTo conversation: ID<Conversation>, inside: Double?
  ) throws(Refusal) -> Double {
    let (done, all) = try run { connection in
      try connection.first(
        """
        select count(*) filter (where id <= $1), count(*)
        from conversation
        where forum_id = $2
        """, conversation.number, forum.number
      ) { row in (Double(try row.int(0)), Double(try row.int(1))) } ?? (0, 0)
    }
    guard all > 0 else { return 1 }
    return (inside.map { done - 1 + $0 } ?? done) / all
  }
}

extension ForumErasure: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    forum = try object.read("forum")
    actor = try object.read("actor")
    conversation = ID(try object.int("conversation"))
    seq = try object.int("seq")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("actor", actor)
      json.field("conversation", conversation.number)
      json.field("seq", seq)
    }
  }
}
