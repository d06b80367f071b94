// Topics: what people start in a forum beside its room.

public import ParleyModel
import Storage

/// A topic that was asked for.
public struct MadeTopic: Sendable {
  public let topic: Topic
  /// False when the same request had made it before.
  public let isNew: Bool
}

extension Community {
  /// Starts a topic, with its first message if the draft has one.
  public func startTopic(
    _ draft: TopicDraft, in forum: ID<Forum>, by caller: Caller
  ) async throws(Refusal) -> MadeTopic {
    let creator = try caller.person(for: .write)
    let draft = try draft.checked(bounds)
    var text: ReadText?
    if let said = draft.text { text = try await ReadText.of(said, bounds, canBeEmpty: false) }
    return try await store.write { [text] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let earlier = try tx.earlierTopic(draft, in: forum, by: creator) {
        try tx.require(.read, caller, in: forum)
        return MadeTopic(topic: earlier, isNew: false)
      }
      try tx.require(draft.text == nil ? [.read, .startTopics] : [.read, .startTopics, .write], caller, in: forum)
      let id = try tx.addTopic(draft.title, in: forum, by: creator)
      if let text {
        var message = NewMessage(conversation: id, author: creator, text: text.markdown)
        message.text = try tx.called(text, in: id, by: caller)
        if let standing = try tx.standing(of: creator, in: id),
          let probation = try tx.probation(of: caller, in: standing, adding: text.counted)
        {
          try tx.keep(probation, of: creator)
        }
        let stored = try tx.post(message)
        try tx.gather(around: message, at: stored.seq)
        try tx.ring(for: message, stored: stored)
      }
      if let clientID = draft.clientID {
        try tx.remember(.conversation, by: creator, clientID, subject: id.number)
      }
      guard let topic = try tx.topic(id) else { throw .unavailable }
      return MadeTopic(topic: topic, isNew: true)
    }
  }

  /// Who started it gives it another title and says what solved it; who keeps order does all of it.
  public func changeTopic(
    _ id: ID<Conversation>, _ change: TopicChange, by caller: Caller
  ) async throws(Refusal) -> Topic {
    let actor = try caller.person(for: .write)
    let change = try change.checked(bounds)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (rights, _) = try tx.rights(of: caller, in: id)
      guard let before = try tx.topic(id) else { throw .notFound }
      let isStarter = before.createdBy == actor && rights.contains(.write)
      guard rights.contains(.moderate) || isStarter && !change.keepsOrder else { throw .forbidden }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.applied(to: before)
      guard after != before else { return before }
      if after.solvedBy != before.solvedBy { try tx.checkSolution(after) }
      if change.keepsOrder {
        try tx.audit(.topicChanged, by: actor, subject: id.number, in: before.forum, reason: change.reason)
      }
      return try tx.change(before, to: after, by: actor)
    }
  }
}

extension CommunityView {
  /// Pinned ones first, each part by the newest activity: one more than `limit`, where there are more.
  public func topics(
    of forum: ID<Forum>, after last: (isPinned: Bool, activity: Int)?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Topic] {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: forum)
      return try tx.topics(of: forum, after: last, limit: limit + 1)
    }
  }

  public func topic(_ id: ID<Conversation>, for caller: Caller) throws(Refusal) -> Topic {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: id)
      guard let topic = try tx.topic(id) else { throw .notFound }
      return topic
    }
  }
}

extension ReadTransaction {
  /// What the same request made before. Once it was changed nothing is compared.
  fileprivate func earlierTopic(
    _ draft: TopicDraft, in forum: ID<Forum>, by creator: ID<Account>
  ) throws(Refusal) -> Topic? {
    guard let clientID = draft.clientID, let made = try remembered(.conversation, by: creator, clientID) else {
      return nil
    }
    let id = ID<Conversation>(made.subject)
    guard try kind(of: id) == .topic else { throw .clientIDReused }
    guard let topic = try topic(id) else { throw .gone }
    guard topic.forum == forum, topic.revision > 1 || topic.title == draft.title else { throw .clientIDReused }
    return topic
  }

  /// A live message of the topic solves it, where forums have that.
  fileprivate func checkSolution(_ topic: Topic) throws(Refusal) {
    guard let message = topic.solvedBy else { return }
    guard try forum(topic.forum)?.isSolvable == true else { throw .invalid("solved_by", .mismatch) }
    guard try hasMessage(message, in: topic.id) else { throw .invalid("solved_by", .unknown) }
  }
}

// MARK: Checking

extension TopicDraft {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> TopicDraft {
    var checked = self
    checked.title = try Texts.title(title, bounds)
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    return checked
  }
}

extension TopicChange {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> TopicChange {
    var checked = self
    if let title { checked.title = try Texts.title(title, bounds) }
    if let reason { checked.reason = try Texts.line(reason, "reason", scalars: bounds.reasonScalars, least: 0) }
    return checked
  }
}
