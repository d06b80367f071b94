// A branch that is too long for one transaction becomes a topic in a stored job. It walks the conversation once, in its order: an
// answer stands behind what it answers, so when a message is looked at it is known whether what it answers belongs to the
// branch. What is said in answer to the branch meanwhile comes along. At every moment each message is in one place.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// How far a branch has come into its topic.
public struct BranchMove: Sendable {
  /// The message that the topic is made of.
  let root: ID<Message>
  let conversation: ID<Conversation>
  let topic: ID<Conversation>
  let forum: ID<Forum>
  let actor: ID<User>
  /// Where the branch begins; all up to `seq` has been looked at.
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
  private static let movedAtOnce = 100
  private static let lookedAtAtOnce = 2_000

  /// One chunk; whether nothing is left.
  public func moveMore(_ move: inout BranchMove) throws(Refusal) -> Bool {
    guard try isOpen(move.topic), try isOpen(move.conversation) else { return true }
    var walk = BranchWalk(root: move.root, topic: move.topic)
    let rows = try stretch(of: move.conversation, after: move.seq, limit: Self.lookedAtAtOnce)
    var branch: [ID<Message>] = []
    var looked = 0
    for row in rows {
      guard branch.count < Self.movedAtOnce else { break }
      looked += 1
      move.seq = row.seq
      if try walk.holds(row.id, answering: row.replyTo, self) { branch.append(row.id) }
    }
    // What is no longer there has nothing to copy, and stays where it is.
    let live = try messages(branch).filter { $0.tombstone == nil && $0.kind == .message }
    _ = try self.move(live, to: move.topic, in: move.forum, by: move.actor)
    for author in Set(live.map(\.author)).sorted() {
      try takePart(author, inTopic: move.topic, since: 1, by: move.actor)
    }
    return looked == rows.count && rows.count < Self.lookedAtAtOnce
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
  fileprivate func stretch(
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

/// Knows of the messages of one stretch whether they belong to a branch.
private struct BranchWalk {
  let root: ID<Message>
  let topic: ID<Conversation>
  private var known: [ID<Message>: Bool] = [:]

  init(root: ID<Message>, topic: ID<Conversation>) {
    self.root = root
    self.topic = topic
    known[root] = true
  }

  /// For each message of the stretch, in order.
  mutating func holds(
    _ id: ID<Message>, answering reply: ID<Message>?, _ tx: ReadTransaction
  ) throws(Refusal) -> Bool {
    if id == root { return true }
    let isIn = try reply.map { reply throws(Refusal) in try holds(reply, tx) } ?? false
    known[id] = isIn
    return isIn
  }

  /// Of one before the stretch: it has been moved already, or it was deleted and what it answers tells.
  private mutating func holds(_ id: ID<Message>, _ tx: ReadTransaction) throws(Refusal) -> Bool {
    var path: [ID<Message>] = []
    var next: ID<Message>? = id
    var isIn = false
    while let id = next {
      if let known = known[id] {
        isIn = known
        break
      }
      path.append(id)
      guard id > root, let place = try tx.branchPosition(of: id) else { break }
      if place.topic == topic {
        isIn = true
        break
      }
      next = place.isGone ? place.replyTo : nil
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
