// The solution of a topic is a live message of the topic. A deletion or a move of the message clears it, and the restore
// of a removed message sets it again.

import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Whether a message is the solution of its topic.
  func isSolution(_ id: ID<Message>) throws(Refusal) -> Bool {
    try run { connection in
      try connection.first(
        """
        select 1
        from message m
        join conversation c on c.id = m.conversation_id
        where m.id = $1 and c.solved_by = m.id
        """, id.number
      ) { _ in true } ?? false
    }
  }
}

extension WriteTransaction {
  /// Clears the solution of a topic if it is this message. A closed topic logs no event.
  func clearSolution(_ id: ID<Message>, of topic: ID<Conversation>, by actor: ID<User>) throws(Refusal) {
    let changed = try run { connection in
      try connection.first(
        """
        update conversation
        set solved_by = null, revision = revision + (state = 'open')
        where id = $1 and solved_by = $2
        returning forum_id, revision, state = 'open'
        """, topic.number, id.number
      ) { row in (forum: try row.optionalInt(0), revision: try row.int(1), isOpen: try row.bool(2)) }
    }
    guard let changed, changed.isOpen, let forum = changed.forum else { return }
    try logSolution(of: topic, in: ID(forum), changed.revision, by: actor)
  }

  /// Sets the solution of an open topic that has none.
  func restoreSolution(_ id: ID<Message>, of topic: ID<Conversation>, by actor: ID<User>) throws(Refusal) {
    let changed = try run { connection in
      try connection.first(
        """
        update conversation
        set solved_by = $1, revision = revision + 1
        where id = $2 and kind = 'topic' and state = 'open' and solved_by is null
        returning forum_id, revision
        """, id.number, topic.number
      ) { row in (forum: try row.optionalInt(0), revision: try row.int(1)) }
    }
    guard let changed, let forum = changed.forum else { return }
    try logSolution(of: topic, in: ID(forum), changed.revision, by: actor)
  }

  private func logSolution(
    of topic: ID<Conversation>, in forum: ID<Forum>, _ revision: Int, by actor: ID<User>
  ) throws(Refusal) {
    for stream in [EventStream.conversation(topic), .forum(forum)] {
      try log(.conversationUpdated, in: stream, subject: topic.number, revision: revision, actor: actor.number)
    }
  }
}
