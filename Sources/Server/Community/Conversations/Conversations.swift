// Conversations that people begin: of two, of several, for an app, and what one person posts.

public import ParleyModel
import Storage

/// A conversation that was asked for, as its maker has it.
public struct MadeConversation: Sendable {
  public let conversation: OwnConversation
  /// False when it was there before.
  public let isNew: Bool
}

extension Community {
  /// Makes a conversation, or gives back the one that there may be only one of.
  public func createConversation(
    _ draft: ConversationDraft, by caller: Caller
  ) async throws(Refusal) -> MadeConversation {
    let creator = try caller.person(for: .write)
    let new = try checked(draft)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.conversation, by: creator, clientID) {
        let id = ID<Conversation>(earlier.subject)
        guard try tx.kind(of: id) == draft.kind else { throw .clientIDReused }
        guard try tx.conversation(id) != nil else { throw .gone }
        return MadeConversation(conversation: try tx.shown(id, to: caller, creator, bounds), isNew: false)
      }
      guard Permissions.mayBeginConversations(caller.role) else { throw .forbidden }
      let (id, isNew) = try tx.makeConversation(new, draft, by: creator, caller)
      if let clientID = draft.clientID {
        try tx.remember(.conversation, by: creator, clientID, subject: id.number)
      }
      return MadeConversation(conversation: try tx.shown(id, to: caller, creator, bounds), isNew: isNew)
    }
  }

  public func change(
    _ id: ID<Conversation>, _ change: ConversationChange, by caller: Caller
  ) async throws(Refusal) -> OwnConversation {
    let actor = try caller.person(for: .write)
    var change = change
    if case .set(let title) = change.title { change.title = .set(try checkedTitle(title)) }
    try check(annotationBytes: change.annotations?.bytes.count)
    if change.writers?.audience == .anyone { throw .invalid("writers.open_to", .invalid) }
    if let reason = change.reason { change.reason = try Texts.reason(reason, bounds) }
    return try await store.write { [change, bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(change.needs, caller, in: id)
      // A room and a topic are changed as parts of their forum.
      guard let old = try tx.conversation(id), !old.kind.isInForum else { throw .forbidden }
      if let revision = change.ifRevision, revision != old.revision { throw .conflict }
      try change.checkFits(old)
      var new = old
      change.apply(to: &new)
      guard new != old else { return try tx.shown(id, to: caller, actor, bounds) }
      if new.readers.audience.isWider(than: old.readers.audience) {
        try tx.openHistory(of: old, from: old.readers.audience, beginning: change.from == .beginning)
      }
      if new.isLocked != old.isLocked || new.slowSeconds != old.slowSeconds {
        try tx.audit(.conversationChanged, by: actor, subject: id.number, reason: change.reason)
      }
      _ = try tx.change(new, from: old, by: actor)
      return try tx.shown(id, to: caller, actor, bounds)
    }
  }

  /// Ends a group, a channel or a topic for everyone in it.
  public func delete(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      try tx.require(.manage, caller, in: id)
      guard let conversation = try tx.conversation(id) else { throw .notFound }
      // A room goes with its forum, a feed with its owner.
      guard conversation.kind != .room, conversation.kind != .feed else { throw .forbidden }
      try tx.delete(conversation, by: actor)
    }
  }

  // MARK: Checking

  private func checked(_ draft: ConversationDraft) throws(Refusal) -> NewConversation {
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.participants.count <= bounds.invitedAtOnce else {
      throw .invalid("participants", .tooMany(limit: bounds.invitedAtOnce))
    }
    var new = NewConversation(draft.kind)
    switch draft.kind {
    // These are made with a forum, and in one.
    case .room, .topic: throw .invalid("kind", .invalid)
    case .direct: try draft.refuse(title: true, lists: true)
    case .group: try draft.refuse(title: false, lists: true)
    case .channel:
      guard let type = draft.type else { throw .invalid("type", .missing) }
      guard TypeName.isWellFormed(type) else { throw .invalid("type", .invalid) }
      new.type = type
      new.readers = draft.readers ?? .init()
      new.writers = draft.writers ?? .init()
      guard new.writers.audience != .anyone else { throw .invalid("writers.open_to", .invalid) }
    case .feed:
      try draft.refuse(title: true, lists: false)
      guard draft.participants.isEmpty else { throw .invalid("participants", .tooMany(limit: 0)) }
      guard draft.writers == nil else { throw .invalid("writers", .invalid) }
      new.readers = draft.readers ?? .init(.people)
    }
    new.title = try draft.title.map { title throws(Refusal) in try checkedTitle(title) }
    try check(annotationBytes: draft.annotations?.bytes.count)
    new.annotations = draft.annotations ?? new.annotations
    new.isHistoryVisible = draft.isHistoryVisible
    return new
  }

  private func checkedTitle(_ title: String) throws(Refusal) -> String {
    try Texts.line(title, "title", scalars: bounds.titleScalars)
  }

  private func check(annotationBytes: Int?) throws(Refusal) {
    guard let annotationBytes, annotationBytes > bounds.annotationBytes else { return }
    throw .invalid("annotations", .tooLong(limit: bounds.annotationBytes))
  }
}

extension CommunityView {
  /// What kind of conversation it is, for who may read it.
  public func kind(of id: ID<Conversation>, for caller: Caller) throws(Refusal) -> Conversation.Kind {
    try read { tx throws(Refusal) in try tx.rights(of: caller, in: id).1.kind }
  }

  public func conversation(_ id: ID<Conversation>, for caller: Caller) throws(Refusal) -> SeenConversation {
    try read { tx throws(Refusal) in
      if let person = caller.account { return .bySomebody(try tx.shown(id, to: caller, person, community.bounds)) }
      try tx.require(.read, caller, in: id)
      guard var conversation = try tx.conversation(id) else { throw .notFound }
      // Who takes part is for those with an account.
      conversation.participants = nil
      return .byNobody(conversation)
    }
  }

  /// The caller's own, last active first, and before which activity the next page begins.
  public func conversations(
    kind: Conversation.Kind?, type: String?, before activity: Int?, limit: Int, for caller: Caller
  ) throws(Refusal) -> (conversations: [OwnConversation], next: Int?) {
    let person = try caller.person()
    return try read { tx throws(Refusal) in
      let found = try tx.conversations(
        of: person, seeing: Permissions.readable(to: caller.role), kind: kind, type: type, before: activity,
        limit: limit + 1)
      let page = found.prefix(limit)
      var places: [(id: ID<Conversation>, fromSeq: Int)] = []
      for (id, _) in page {
        let (_, standing) = try tx.rights(of: caller, in: id)
        places.append((id, Permissions.fromSeq(of: caller.role, in: standing)))
      }
      let conversations = try tx.seen(tx.conversations(places, of: person), by: caller, community.bounds)
      return (conversations, found.count > limit ? page.last?.activity : nil)
    }
  }

  /// What somebody posts for those who follow; `notFound` where there is none that the caller may read.
  public func feed(of owner: ID<Account>, for caller: Caller) throws(Refusal) -> SeenConversation {
    guard let feed = try read({ tx throws(Refusal) in try tx.feed(of: owner) }) else { throw .notFound }
    return try conversation(feed, for: caller)
  }
}

extension ReadTransaction {
  /// With what the caller thinks of each one's last message.
  func seen(
    _ conversations: [OwnConversation], by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> [OwnConversation] {
    var last = try seen(conversations.compactMap(\.lastMessage?.message), by: caller, bounds)[...]
    return conversations.map { conversation in
      var conversation = conversation
      if conversation.lastMessage != nil { conversation.lastMessage = last.popFirst() }
      return conversation
    }
  }

  /// As the caller has it, who may read it.
  func shown(
    _ id: ID<Conversation>, to caller: Caller, _ person: ID<Account>, _ bounds: Bounds
  ) throws(Refusal) -> OwnConversation {
    let (_, standing) = try rights(of: caller, in: id)
    let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
    let found = try seen(conversations([(id, fromSeq)], of: person), by: caller, bounds)
    guard let own = found.first else { throw .notFound }
    return own
  }

  /// Somebody who is asked to take part, and whether it waits for them to agree.
  func invited(
    _ account: ID<Account>, _ role: ParticipantRole, by person: ID<Account>, _ caller: Caller, _ field: String
  ) throws(Refusal) -> NewParticipant {
    let known: Bool
    do {
      known = try self.person(.id(account), for: caller).rights.contains(.see)
    } catch Refusal.notFound {
      known = false
    }
    guard known, let acquaintance = try acquaintance(of: person, with: account) else {
      throw .invalid(field, .unknown)
    }
    switch Permissions.approach(acquaintance) {
    case .refused: throw .invalid(field, .unreachable)
    case .waiting: return NewParticipant(account, role, isRequest: true)
    case .welcome: return NewParticipant(account, role)
    }
  }
}

extension WriteTransaction {
  fileprivate func makeConversation(
    _ new: NewConversation, _ draft: ConversationDraft, by creator: ID<Account>, _ caller: Caller
  ) throws(Refusal) -> (id: ID<Conversation>, isNew: Bool) {
    var new = new
    if new.kind == .feed {
      if let feed = try feed(of: creator) { return (feed, false) }
      new.owner = creator
      return (try add(new, by: creator), true)
    }
    let others = try people(draft.participants, besides: creator, caller)
    if new.kind == .direct {
      guard others.count == 1 else { throw .invalid("participants", others.isEmpty ? .missing : .tooMany(limit: 1)) }
    }
    if draft.isDistinct || new.kind == .direct {
      let key = Self.key(of: new, [creator] + others.map(\.account))
      new.distinctKey = key
      if let found = try conversation(distinct: key) {
        if !found.isOpen { try takeBack(found.id, by: creator) }
        return (found.id, false)
      }
    }
    new.participants = [NewParticipant(creator, new.kind == .direct ? .member : .admin)]
    for other in others {
      new.participants.append(try invited(other.account, other.role, by: creator, caller, other.field))
    }
    let id = try add(new, by: creator)
    for participant in new.participants where participant.isRequest {
      try ring(participant.account, toTake: id, from: creator)
    }
    return (id, true)
  }

  /// Who refused a conversation may want it after all; nobody else can make them.
  private func takeBack(_ id: ID<Conversation>, by account: ID<Account>) throws(Refusal) {
    guard let request = try request(of: account, in: id), request.isWaiting else {
      throw .invalid("participants[0]", .unreachable)
    }
    try takeRequest(of: id, by: account, from: request.from, wasRefused: true)
  }

  private struct Other {
    let account: ID<Account>
    let role: ParticipantRole
    let field: String
  }

  /// Everyone once, and who asks not among them.
  private func people(
    _ list: [ConversationDraft.Invited], besides creator: ID<Account>, _ caller: Caller
  ) throws(Refusal) -> [Other] {
    var seen: Set<ID<Account>> = [creator]
    var others: [Other] = []
    for (place, invited) in list.enumerated() {
      let field = "participants[\(place)]"
      let id: ID<Account>
      do {
        id = try account(invited.account, for: caller)
      } catch Refusal.notFound {
        throw .invalid(field, .unknown)
      }
      guard seen.insert(id).inserted else { continue }
      others.append(Other(account: id, role: invited.role, field: field))
    }
    return others
  }

  private static func key(of new: NewConversation, _ people: [ID<Account>]) -> String {
    let people = people.sorted().map(\.description).joined(separator: ",")
    return [new.kind.rawValue, new.type, people].compactMap(\.self).joined(separator: " ")
  }
}

extension ConversationDraft {
  /// What only other kinds have.
  fileprivate func refuse(title isRefused: Bool, lists: Bool) throws(Refusal) {
    if isRefused, title != nil { throw .invalid("title", .invalid) }
    if type != nil { throw .invalid("type", .invalid) }
    if lists, readers != nil { throw .invalid("readers", .invalid) }
    if lists, writers != nil { throw .invalid("writers", .invalid) }
  }
}

extension ConversationChange {
  /// Slowing down and locking keep order; the rest changes what the conversation is.
  fileprivate var needs: Rights {
    let manages = hasTitle || annotations != nil || readers != nil || writers != nil || isHistoryVisible != nil
    return manages ? [.read, .manage] : [.read, .moderate]
  }

  private var hasTitle: Bool {
    if case .unchanged = title { return false }
    return true
  }

  /// What this kind does not have, and what was settled for good.
  fileprivate func checkFits(_ conversation: Conversation) throws(Refusal) {
    if hasTitle, conversation.kind == .feed { throw .invalid("title", .invalid) }
    if readers != nil, conversation.kind != .channel, conversation.kind != .feed { throw .invalid("readers", .invalid) }
    if writers != nil, conversation.kind != .channel { throw .invalid("writers", .invalid) }
    if isHistoryVisible != nil, !conversation.kind.isJoined { throw .invalid("history_visible", .invalid) }
    for (change, old) in [(readers, conversation.readers), (writers, conversation.writers)] where old.isImmutable {
      if let change, change.applied(to: old) != old { throw .forbidden }
    }
  }

  fileprivate func apply(to conversation: inout Conversation) {
    switch title {
    case .unchanged: break
    case .cleared: conversation.title = nil
    case .set(let text): conversation.title = text
    }
    if let annotations { conversation.annotations = annotations }
    if let readers { conversation.readers = readers.applied(to: conversation.readers) }
    if let writers { conversation.writers = writers.applied(to: conversation.writers) }
    if let isHistoryVisible { conversation.isHistoryVisible = isHistoryVisible }
    if let slowSeconds { conversation.slowSeconds = slowSeconds }
    if let isLocked { conversation.isLocked = isLocked }
  }
}

extension Audience {
  fileprivate func isWider(than other: Audience) -> Bool { width > other.width }

  private var width: Int {
    switch self {
    case .listed: 0
    case .people: 1
    case .anyone: 2
    }
  }
}
