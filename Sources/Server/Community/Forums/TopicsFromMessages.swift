public import ParleyModel
import Storage

extension Community {
  /// Moves a message and its replies into a new topic. Allowed for its author with the rights to write there and to create
  /// topics, and for moderators. Idempotent. Branches above `Bounds.branch` are moved by the returned job.
  public func createTopicFromMessage(
    of id: ID<Message>, title: String, by caller: Caller
  ) async throws(Refusal) -> (created: TopicFromMessage, job: ID<Job>?, isNew: Bool) {
    let actor = try caller.requireUser(.write)
    let title = try Texts.line(title, "title", scalars: bounds.titleScalars)
    let (limit, bounds) = (bounds.branch, bounds)
    let rules = try await compiledRules()
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      guard let forum = try tx.forum(of: found.message.conversation) else { throw .forbidden }
      let standing = try tx.require(.read, caller, in: forum)
      let rights = Permissions.rights(of: caller.role, in: standing)
      // A repeated request finds the tombstone of the moved message, also in a conversation that was locked meanwhile.
      let isWritable = found.rights.contains(.write) || found.message.tombstone != nil
      let mayMove = rights.contains(.moderate) || found.isBy(caller) && isWritable
      guard rights.contains(.startTopics), mayMove else { throw .forbidden }
      if let moved = try tx.movedPosition(of: id) {
        _ = try tx.rights(of: caller, in: moved.conversation)
        let job = try tx.job(.branchMove, about: moved.conversation.number)
        return (TopicFromMessage(topic: moved.conversation, message: moved.id), job, false)
      }
      guard found.message.tombstone == nil else { throw .gone }
      guard found.message.kind == .message else { throw .forbidden }
      let inTopic = Standing(kind: .topic, forum: standing)
      if let probation = try tx.probation(of: caller, in: inTopic, adding: ParsedText.empty.counted) {
        try tx.store(probation, of: actor)
      }
      let rule = try tx.rule(of: rules, matching: .empty, title: title, attachments: [], by: caller, in: inTopic)
      if let rule, rule.action != .report { throw .contentRefused }
      let ids = try tx.branch(of: id, max: limit)
      let tags = try tx.tags(of: found.message)
      let topic = try tx.addTopic(title, tags: tags, in: forum, by: actor)
      var move = BranchMove(of: found.message, to: topic, in: forum, by: actor)
      if ids.count <= limit {
        try tx.move(ids, to: topic, in: forum, by: actor)
      } else {
        _ = try tx.moveMore(&move)
      }
      guard let root = try tx.movedPosition(of: id)?.id else { throw .gone }
      let created = TopicFromMessage(topic: topic, message: root)
      try tx.leaveLink(to: created, titled: title, in: found.message.conversation, by: actor)
      if !found.isBy(caller) { try tx.audit(.messageMoved, by: actor, subject: id.number, in: forum) }
      if let rule, let moved = try tx.message(root) { try tx.report(moved, in: forum, rule, bounds) }
      guard ids.count > limit else { return (created, nil, true) }
      let job = try tx.startJob(kind: JobKind.branchMove.name, subject: topic.number, by: actor, state: move)
      return (created, job, true)
    }
  }
}

extension WriteTransaction {
  /// A tombstone has no content to move and stays.
  fileprivate func move(
    _ branch: [ID<Message>], to topic: ID<Conversation>, in forum: ID<Forum>, by actor: ID<User>
  ) throws(Refusal) {
    let live = try messages(branch).filter { $0.tombstone == nil && $0.kind == .message }
    _ = try move(live, to: topic, in: forum, by: actor)
    for author in Set(live.map(\.author)).sorted() { try takePart(author, inTopic: topic, since: 1, by: actor) }
  }

  /// Leaves a link to the topic in the conversation.
  fileprivate func leaveLink(
    to created: TopicFromMessage, titled title: String, in conversation: ID<Conversation>, by actor: ID<User>
  ) throws(Refusal) {
    var link = NewMessage(conversation: conversation, author: actor, text: title)
    link.kind = .system
    link.annotations = MessageAnnotations(json: created.annotations, types: [TopicFromMessage.annotation])
    _ = try post(link)
  }
}
