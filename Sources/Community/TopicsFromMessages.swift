public import Model
import Storage

extension Community {
  /// Makes a topic of a message and everything that answers it. Its author may, where they may start topics, and who
  /// keeps order. What was made a topic stays one: asked again, the answer is the same.
  public func makeTopic(
    of id: ID<Message>, title: String, by caller: Caller
  ) async throws(Refusal) -> (made: TopicFromMessage, isNew: Bool) {
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
        return (TopicFromMessage(topic: moved.conversation, message: moved.id), false)
      }
      guard found.message.tombstone == nil else { throw .gone }
      guard found.message.kind == .message else { throw .forbidden }
      let ids = try tx.branch(of: id, most: most)
      guard ids.count <= most else { throw .tooMany(limit: most) }
      // What is no longer there has nothing to copy, and stays where it is.
      let branch = try tx.messages(ids).filter { $0.tombstone == nil && $0.kind == .message }
      let topic = try tx.addTopic(title, in: forum, by: actor)
      let copies = try tx.move(branch, to: topic, in: forum, by: actor)
      guard let root = copies[id] else { throw .gone }
      for author in Set(branch.map(\.author)).sorted() { try tx.takePart(author, inTopic: topic, since: 1, by: actor) }
      let made = TopicFromMessage(topic: topic, message: root)
      try tx.leaveLink(to: made, titled: title, in: found.message.conversation, by: actor)
      return (made, true)
    }
  }
}

extension WriteTransaction {
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
