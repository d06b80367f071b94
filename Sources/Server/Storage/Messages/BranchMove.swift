// Moves a branch that is too long for one transaction to a topic, in a stored job. The job walks the conversation once,
// by `seq`. A reply has a higher `seq` than its parent, so the walk knows whether the parent belongs to the branch.
// Replies posted meanwhile are moved too. At every moment each message is live in exactly one conversation.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// The progress of moving a branch to its topic.
public struct BranchMove: Sendable {
  /// The message that starts the topic.
  let root: ID<Message>
  let conversation: ID<Conversation>
  let topic: ID<Conversation>
  let forum: ID<Forum>
  let actor: ID<User>
  /// The `seq` of the root. The walk has processed all messages up to `seq`.
  let first: Int
  var seq: Int

  public init(of root: Message, to topic: ID<Conversation>, in forum: ID<Forum>, by actor: ID<User>) {
    self.root = root.id
    conversation = root.conversation
    self.topic = topic
    self.forum = forum
    self.actor = actor
    first = root.seq
    seq = root.seq - 1
  }
}

extension JobKind {
  public static let branchMove = JobKind(
    "topic.branch", progress: { (tx, move: BranchMove) throws(Refusal) in try tx.progress(of: move) }
  ) { (tx, move: inout BranchMove) throws(Refusal) in
    try tx.moveMore(&move)
  }
}

extension WriteTransaction {
  private static let maxMoved = 100
  private static let maxVisited = 2_000

  /// Moves one chunk. Returns whether the branch is done.
  public func moveMore(_ move: inout BranchMove) throws(Refusal) -> Bool {
    guard try isOpen(move.topic), try isOpen(move.conversation) else { return true }
    var walk = BranchWalk(root: move.root, topic: move.topic)
    let rows = try rows(of: move.conversation, after: move.seq, limit: Self.maxVisited)
    var branch: [ID<Message>] = []
    var visited = 0
    for row in rows {
      guard branch.count < Self.maxMoved else { break }
      visited += 1
      move.seq = row.seq
      if try walk.contains(row.id, replyTo: row.replyTo, self) { branch.append(row.id) }
    }
    // Tombstones have no content to copy and stay in the conversation.
    let live = try messages(branch).filter { $0.tombstone == nil && $0.kind == .message }
    _ = try self.move(live, to: move.topic, in: move.forum, by: move.actor)
    for author in Set(live.map(\.author)).sorted() {
      try takePart(author, inTopic: move.topic, since: 1, by: move.actor)
    }
    return visited == rows.count && rows.count < Self.maxVisited
  }

  private func isOpen(_ conversation: ID<Conversation>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first("select deleted_at from conversation where id = $1", conversation.number) { row in
        row.isNull(0)
      } ?? false
    }
  }
}

extension ReadTransaction {
  fileprivate func rows(
    of conversation: ID<Conversation>, after seq: Int, limit: Int
  ) throws(Refusal) -> [(id: ID<Message>, seq: Int, replyTo: ID<Message>?)] {
    try run { connection in
      try connection.all(
        """
        select id, seq, reply_to
        from message
        where conversation_id = $1 and seq > $2
        order by seq
        limit $3
        """, conversation.number, seq, limit
      ) { row in (ID(try row.int(0)), try row.int(1), try row.optionalInt(2).map { ID($0) }) }
    }
  }

  fileprivate func progress(of move: BranchMove) throws(Refusal) -> Double {
    let last = try lastSeq(of: move.conversation) ?? move.seq
    return Double(move.seq - move.first + 1) / Double(max(last - move.first + 1, 1))
  }
}

/// Membership of a branch for one range of messages.
private struct BranchWalk {
  let root: ID<Message>
  let topic: ID<Conversation>
  private var known: [ID<Message>: Bool] = [:]

  init(root: ID<Message>, topic: ID<Conversation>) {
    self.root = root
    self.topic = topic
    known[root] = true
  }

  /// Must be called for each message of the range, in order.
  mutating func contains(
    _ id: ID<Message>, replyTo reply: ID<Message>?, _ tx: ReadTransaction
  ) throws(Refusal) -> Bool {
    if id == root { return true }
    let isIn = try reply.map { reply throws(Refusal) in try contains(reply, tx) } ?? false
    known[id] = isIn
    return isIn
  }

  /// For a message before the range: it was moved to the topic, or it was deleted and its own parent decides.
  private mutating func contains(_ id: ID<Message>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    var path: [ID<Message>] = []
    var next: ID<Message>? = id
    var isIn = false
    while let id = next {
      if let known = known[id] {
        isIn = known
        break
      }
      path.append(id)
      guard id > root, let position = try tx.branchPosition(of: id) else { break }
      if position.topic == topic {
        isIn = true
        break
      }
      next = position.isGone ? position.replyTo : nil
    }
    for id in path { known[id] = isIn }
    return isIn
  }
}

extension ReadTransaction {
  fileprivate func branchPosition(
    of message: ID<Message>
  ) throws(Refusal) -> (replyTo: ID<Message>?, isGone: Bool, topic: ID<Conversation>?)? {
    try run { connection in
      try connection.first(
        """
        select m.reply_to, m.deletion, c.conversation_id
        from message m
        left join message c on c.id = m.moved_to
        where m.id = $1
        """, message.number
      ) { row in
        (try row.optionalInt(0).map { ID($0) }, !row.isNull(1), try row.optionalInt(2).map { ID($0) })
      }
    }
  }
}

extension BranchMove: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    root = try object.read("root")
    conversation = try object.read("conversation")
    topic = try object.read("topic")
    forum = try object.read("forum")
    actor = try object.read("actor")
    first = try object.int("first")
    seq = try object.int("seq")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("root", root)
      json.field("conversation", conversation)
      json.field("topic", topic)
      json.field("forum", forum)
      json.field("actor", actor)
      json.field("first", first)
      json.field("seq", seq)
    }
  }
}
