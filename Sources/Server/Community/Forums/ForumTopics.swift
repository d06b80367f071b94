// Topics of a forum.

public import ParleyModel
import Storage

/// The result of creating a topic.
public struct CreatedTopic: Sendable {
  public let topic: Topic
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  /// Creates a topic, with its first message if the draft has one.
  public func createTopic(
    _ draft: TopicDraft, in forum: ID<Forum>, by caller: Caller
  ) async throws(Refusal) -> CreatedTopic {
    let creator = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    var text: ParsedText?
    if draft.hasMessage {
      let canBeEmpty = draft.text == nil || !draft.attachments.isEmpty
      text = try await ParsedText.of(draft.text ?? "", bounds, canBeEmpty: canBeEmpty)
    }
    let bounds = bounds
    let rules = try await compiledRules()
    let created: CreatedTopic? = try await store.write { [text] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let earlier = try tx.earlierTopic(draft, in: forum, by: creator) {
        try tx.require(.read, caller, in: forum)
        return CreatedTopic(topic: earlier, isNew: false)
      }
      let inForum = try tx.require(
        draft.hasMessage ? [.read, .startTopics, .write] : [.read, .startTopics], caller, in: forum)
      guard try tx.mayAttach(draft.attachments, caller) else { throw .invalid("attachments", .unknown) }
      try draft.poll?.checkClosing(after: tx.now)
      let standing = Standing(kind: .topic, forum: inForum)
      if let probation = try tx.probation(of: caller, in: standing, adding: (text ?? .empty).counted) {
        try tx.store(probation, of: creator)
      }
      let rule = try tx.rule(
        of: rules, matching: text ?? .empty, title: draft.title, options: draft.poll?.options ?? [],
        attachments: draft.attachments, descriptions: draft.descriptions, by: caller, in: standing)
      if let rule, rule.action != .report {
        guard rule.action == .hold else { throw .contentRefused }
        try tx.hold(HeldPost(draft), by: creator, in: nil, of: forum, rule, bounds)
        return nil
      }
      let (id, opening) = try tx.startTopic(
        HeldPost(draft), draft.title, text, in: forum, by: caller, bounds)
      if let rule, let opening, let message = try tx.message(opening.id) {
        try tx.report(message, in: forum, rule, bounds)
      }
      if let clientID = draft.clientID {
        try tx.remember(.conversation, by: creator, clientID, subject: id.number)
      }
      guard let topic = try tx.topic(id) else { throw .unavailable }
      return CreatedTopic(topic: topic, isNew: true)
    }
    guard let created else { throw .heldForReview }
    return created
  }

  /// Updates a topic. Its author may change the title and the solution, moderators all fields.
  public func updateTopic(
    _ id: ID<Conversation>, _ change: TopicChange, by caller: Caller
  ) async throws(Refusal) -> Topic {
    let actor = try caller.requireUser(.write)
    let change = try change.checked(bounds)
    let title = try change.fields[\.title].map { title throws(Refusal) in try ParsedText.again(title, bounds) }
    let rules = try await compiledRules()
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (rights, standing) = try tx.rights(of: caller, in: id)
      guard let before = try tx.topic(id) else { throw .notFound }
      let isStarter = before.createdBy == actor && rights.contains(.write)
      guard rights.contains(.moderate) || isStarter && !change.isModerator else { throw .forbidden }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.fields.applied(to: before)
      guard after != before else { return before }
      if let title, after.title != before.title {
        _ = try tx.probation(of: caller, in: standing, adding: .none)
        let rule = try tx.rule(of: rules, matching: title, attachments: [], by: caller, in: standing)
        if let rule, rule.action != .report { throw .contentRefused }
      }
      if after.solvedBy != before.solvedBy { try tx.checkSolution(after) }
      if change.isModerator {
        try tx.audit(
          .topicChanged, by: actor, subject: id.number, in: before.forum, reason: change.reason,
          changes: after.changes(since: before))
      }
      return try tx.change(before, to: after, by: actor)
    }
  }
}

extension WriteTransaction {
  /// Adds a topic, with its first message if there is a text. Files and poll of the message are those of the post.
  func startTopic(
    _ post: HeldPost, _ title: String, _ text: ParsedText?, in forum: ID<Forum>, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> (topic: ID<Conversation>, opening: StoredMessage?) {
    let author = try caller.requireUser()
    let topic = try addTopic(title, tags: Topic.tags(from: text?.hashtags ?? []), in: forum, by: author)
    guard let text else { return (topic, nil) }
    var message = NewMessage(conversation: topic, author: author, text: text.markdown)
    message.attachments = post.attachments
    message.descriptions = post.descriptions
    message.poll = post.poll.map { Poll($0) }
    return (topic, try publish(&message, text, Standing(kind: .topic), by: caller, bounds))
  }
}

extension CommunityView {
  /// Pinned topics first, then by latest activity.
  public func listTopics(
    of forum: ID<Forum>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<ListedTopic> {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: forum)
      let new: Set<ID<Conversation>>?
      if let user = caller.user { new = Set(try tx.newTopics(in: forum, for: user).map(\.id)) } else { new = nil }
      return try ListPage(page, by: \.topic.key) {
        slice throws(Refusal) in
        try tx.listed(try tx.topics(of: forum, slice), new: new, for: caller)
      }
    }
  }

  public func getTopic(_ id: ID<Conversation>, for caller: Caller) throws(Refusal) -> Topic {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: id)
      guard let topic = try tx.topic(id) else { throw .notFound }
      return topic
    }
  }
}

extension ReadTransaction {
  /// The topics as lists show them. Without a late start of the forum's history, no query per topic checks access.
  func listed(
    _ topics: [Topic], new: Set<ID<Conversation>>?, for caller: Caller
  ) throws(Refusal) -> [ListedTopic] {
    let limited = try forumsWithHistoryStart(
      among: Array(Set(topics.map(\.forum))), for: caller.user ?? ID(0))
    var listed: [ListedTopic] = []
    for topic in topics {
      let start = try limited.contains(topic.forum) ? historyStart(of: topic.id, for: caller) ?? Int.max : 1
      let facts = try facts(of: topic, from: start)
      var authors = [topic.createdBy]
      for author in facts.authors where authors.count < ListedTopic.maxAuthors && !authors.contains(author) {
        authors.append(author)
      }
      listed.append(
        ListedTopic(
          topic, isNew: new?.contains(topic.id), excerpt: Texts.excerpt(facts.opening, scalars: ListedTopic.maxExcerpt),
          authors: authors, lastActivityAt: facts.lastMessageAt ?? topic.createdAt))
    }
    return listed
  }

  /// The topic that an earlier request with the same `client_id` created. Not compared after it was changed.
  fileprivate func earlierTopic(
    _ draft: TopicDraft, in forum: ID<Forum>, by creator: ID<User>
  ) throws(Refusal) -> Topic? {
    guard let clientID = draft.clientID, let previous = try remembered(.conversation, by: creator, clientID) else {
      return nil
    }
    let id = ID<Conversation>(previous.subject)
    guard try kind(of: id) == .topic else { throw .clientIDReused }
    guard let topic = try topic(id) else { throw .gone }
    guard topic.forum == forum, topic.revision > 1 || topic.title == draft.title else { throw .clientIDReused }
    return topic
  }

  /// The solution must be a message of the topic, in a forum with solutions.
  fileprivate func checkSolution(_ topic: Topic) throws(Refusal) {
    guard let message = topic.solvedBy else { return }
    guard try forum(topic.forum)?.isSolvable == true else { throw .invalid("solved_by", .mismatch) }
    guard try hasMessage(message, in: topic.id) else { throw .invalid("solved_by", .unknown) }
  }
}

// MARK: Validation

extension TopicDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> TopicDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.title = try Texts.title(title, bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    check { () throws(Refusal) in try attachments.check(bounds) }
    check { () throws(Refusal) in
      checked.descriptions = try descriptions.checkedDescriptions(bounds)
      try descriptions.checkCount(of: attachments)
    }
    check { () throws(Refusal) in
      checked.poll = try poll?.checked()
      // The text is the question.
      guard poll == nil || hasMessage else { throw .invalid("text", .missing) }
    }
    try check.finish()
    return checked
  }

  fileprivate var hasMessage: Bool { text != nil || !attachments.isEmpty }
}

extension TopicChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> TopicChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in
      try checked.fields.revise(\.title) { title throws(Refusal) in try Texts.title(title, bounds) }
    }
    check { () throws(Refusal) in
      if let reason { checked.reason = try Texts.line(reason, "reason", scalars: bounds.reasonScalars, atLeast: 0) }
    }
    try check.finish()
    return checked
  }
}
