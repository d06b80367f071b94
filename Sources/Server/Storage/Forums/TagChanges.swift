// A start of a reader's history hides the tags of earlier topics, for all readers. A change of the latest start raises
// the revision of each topic whose tags it hides or shows, so that clients replace their copies.

public import ParleyJSON
import ParleyModel
import ParleySQLite

/// Job: announces the tags of the topics between an earlier and a later start of history.
public struct TagChange: Sendable {
  let forum: ID<Forum>
  let actor: ID<User>
  /// Topics up to this id are done.
  var after: Int
  let through: Int
}

extension JobKind {
  /// Announces tags beyond the first chunk.
  public static let tagChange = JobKind("forum.tags") { (tx, change: inout TagChange) throws(Refusal) in
    try tx.announceNextTags(&change)
  }
}

extension WriteTransaction {
  private static let announcedTopics = 200

  /// Runs a change of the starts of history in a forum, and announces the tags that it hides or shows: the first chunk at
  /// once, the rest in a stored job.
  func announcingTags(
    of forum: ID<Forum>, by actor: ID<User>, _ body: () throws(Refusal) -> Void
  ) throws(Refusal) {
    let before = try firstTagged(in: forum)
    try body()
    let start = try firstTagged(in: forum)
    guard start != before else { return }
    var change = TagChange(forum: forum, actor: actor, after: min(before, start), through: max(before, start))
    guard try !announceNextTags(&change) else { return }
    _ = try startJob(kind: JobKind.tagChange.name, subject: forum.number, by: actor, state: change)
  }

  /// Returns whether all are announced.
  fileprivate func announceNextTags(_ change: inout TagChange) throws(Refusal) -> Bool {
    let topics = try run { connection in
      try connection.all(
        """
        update conversation
        set revision = revision + 1
        where id in (
          select id
          from conversation
          where forum_id = $1 and id > $2 and id <= $3 and kind = 'topic' and state = 'open' and tags is not null
          order by id
          limit $4
        )
        returning id, revision
        """, change.forum.number, change.after, change.through, Self.announcedTopics
      ) { row in (id: ID<Conversation>(try row.int(0)), revision: try row.int(1)) }
    }
    for topic in topics.sorted(by: { $0.id < $1.id }) {
      for stream in [EventStream.conversation(topic.id), .forum(change.forum)] {
        try log(
          .conversationUpdated, in: stream, subject: topic.id.number, revision: topic.revision,
          actor: change.actor.number)
      }
      change.after = topic.id.number
    }
    return topics.count < Self.announcedTopics
  }
}

extension TagChange: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    forum = try object.read("forum")
    actor = try object.read("actor")
    after = try object.int("after")
    through = try object.int("through")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("actor", actor)
      json.field("after", after)
      json.field("through", through)
    }
  }
}
