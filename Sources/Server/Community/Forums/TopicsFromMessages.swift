public import ParleyModel
import Storage

extension Community {
  /// Makes a topic of a message and everything that answers it. Its author may, where they may start topics, and who
  /// keeps order. What was made a topic stays one: asked again, the answer is the same. What is more than one transaction
  /// moves is moved by the job that comes back.
  public func makeTopic(
    of id: ID<Message>, title: String, by caller: Caller
  ) async throws(Refusal) -> (made: TopicFromMessage, job: ID<Job>?, isNew: Bool) {
    let actor = try caller.person(for: .write)
    let title = try Texts.line(title, "title", scalars: bounds.titleScalars)
    let most = bounds.branch
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let found = try tx.message(id, for: caller)
      guard let forum = try tx.forum(of: found.message.conversation) else { throw .forbidden }
      let standing = try tx.require(.read, caller, in: forum)
      let rights = Permissions.rights(of: caller.role, in: standing)
      guard rights.contains(.startTopics), found.isBy(caller) || rights.contains(.moderate) else { throw .forbidden }
      if let moved = try tx.movedPlace(of: id) {
        _ = try tx.rights(of: caller, in: moved.conversation)
        let job = try tx.job(.branchMove, about: moved.conversation.number)
        return (TopicFromMessage(topic: moved.conversation, message: moved.id), job, false)
      }
      guard found.message.tombstone == nil else { throw .gone }
      guard found.message.kind == .message else { throw .forbidden }
      let ids = try tx.branch(of: id, most: most)
      let topic = try tx.addTopic(title, in: forum, by: actor)
      var move = BranchMove(of: found.message, to: topic, in: forum, by: actor)
      if ids.count <= most {
        try tx.move(ids, to: topic, in: forum, by: actor)
      } else {
        _ = try tx.moveMore(&move)
      }
      guard let root = try tx.movedPlace(of: id)?.id else { throw .gone }
      let made = TopicFromMessage(topic: topic, message: root)
      try tx.leaveLink(to: made, titled: title, in: found.message.conversation, by: actor)
      guard ids.count > most else { return (made, nil, true) }
      let job = try tx.startJob(kind: JobKind.branchMove.name, subject: topic.number, by: actor, state: move)
      return (made, job, true)
    }
  }
}

extension WriteTransaction {
  /// What is no longer there has nothing to copy, and stays where it is.
  fileprivate func move(
    _ branch: [ID<Message>], to topic: ID<Conversation>, in forum: ID<Forum>, by actor: ID<Account>
  ) throws(Refusal) {
    let live = try messages(branch).filter { $0.tombstone == nil && $0.kind == .message }
    _ = try move(live, to: topic, in: forum, by: actor)
    for author in Set(live.map(\.author)).sorted() { try takePart(author, inTopic: topic, since: 1, by: actor) }
  }

  /// Says where it went to those who read along.
  fileprivate func leaveLink(
    to made: TopicFromMessage, titled title: String, in conversation: ID<Conversation>, by actor: ID<Account>
  ) throws(Refusal) {
    var link = NewMessage(conversation: conversation, author: actor, text: title)
    link.kind = .system
    link.annotations = MessageAnnotations(json: made.annotations, types: [TopicFromMessage.annotation])
    _ = try post(link)
  }
}
