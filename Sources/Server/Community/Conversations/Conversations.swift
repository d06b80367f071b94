// Direct conversations, groups, channels and feeds.

public import ParleyModel
import Storage

/// The result of creating a conversation.
public struct CreatedConversation: Sendable {
  public let conversation: OwnConversation
  /// False if the conversation existed before.
  public let isNew: Bool
}

extension Community {
  /// Creates a conversation, or returns the existing direct or distinct one.
  public func createConversation(
    _ draft: ConversationDraft, by caller: Caller
  ) async throws(Refusal) -> CreatedConversation {
    let creator = try caller.requireUser(.write)
    let new = try checked(draft)
    let fingerprint = try draft.fingerprint()
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.conversation, by: creator, clientID) {
        let id = ID<Conversation>(earlier.subject)
        // Without a fingerprint it was stored by an earlier version.
        guard try tx.kind(of: id) == draft.kind, earlier.fingerprint.isEmpty || earlier.fingerprint == fingerprint
        else {
          throw .clientIDReused
        }
        guard try tx.conversation(id) != nil else { throw .gone }
        return CreatedConversation(conversation: try tx.ownConversation(id, for: caller, creator, bounds), isNew: false)
      }
      guard Permissions.mayCreateConversations(caller.role) else { throw .forbidden }
      let (id, isNew) = try tx.findOrCreate(new, draft, by: creator, caller)
      if let clientID = draft.clientID {
        try tx.remember(.conversation, by: creator, clientID, subject: id.number, fingerprint: fingerprint)
      }
      return CreatedConversation(conversation: try tx.ownConversation(id, for: caller, creator, bounds), isNew: isNew)
    }
  }

  public func updateConversation(
    _ id: ID<Conversation>, _ change: ConversationChange, by caller: Caller
  ) async throws(Refusal) -> OwnConversation {
    let actor = try caller.requireUser(.write)
    var change = change
    change.fields = try change.fields.checked(bounds)
    if change.writers?[\.audience] == .anyone { throw .invalid("writers.open_to", .invalid) }
    if let reason = change.reason { change.reason = try Texts.reason(reason, bounds) }
    return try await store.write { [change, bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let standing = try tx.require(change.needs, caller, in: id)
      // Rooms and topics are edited as parts of their forum.
      guard let old = try tx.conversation(id), !old.kind.isInForum else { throw .forbidden }
      if let revision = change.ifRevision, revision != old.revision { throw .conflict }
      try change.checkFits(old)
      let new = change.applied(to: old)
      guard new != old else { return try tx.ownConversation(id, for: caller, actor, bounds) }
      if new.title != old.title, try !tx.isPrivateChannel(id, standing) { try tx.requireMayPublish(caller) }
      if new.readers.audience.isWider(than: old.readers.audience) {
        try tx.openHistory(of: old, from: old.readers.audience, beginning: change.from == .beginning)
      }
      if new.isLocked != old.isLocked || new.slowSeconds != old.slowSeconds {
        try tx.audit(
          .conversationChanged, by: actor, subject: id.number, reason: change.reason,
          changes: new.changes(since: old, only: ["locked", "slow_seconds"]))
      }
      _ = try tx.change(new, from: old, by: actor)
      return try tx.ownConversation(id, for: caller, actor, bounds)
    }
  }

  /// Deletes a group, channel or topic for all participants.
  public func deleteConversation(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      try tx.require(.manage, caller, in: id)
      guard let conversation = try tx.conversation(id) else { throw .notFound }
      // A room is deleted with its forum, a feed with its owner.
      guard conversation.kind != .room, conversation.kind != .feed else { throw .forbidden }
      try tx.delete(conversation, by: actor)
      if conversation.kind == .topic, conversation.createdBy != actor {
        try tx.audit(
          .topicDeleted, by: actor, subject: id.number, in: conversation.forum, reason: conversation.title)
      }
    }
  }

  // MARK: Validation

  private func checked(_ draft: ConversationDraft) throws(Refusal) -> NewConversation {
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.participants.count <= bounds.initialParticipants else {
      throw .invalid("participants", .tooMany(limit: bounds.initialParticipants))
    }
    var new = NewConversation(draft.kind)
    switch draft.kind {
    // Rooms are created with a forum, topics by `createTopic`.
    case .room, .topic: throw .invalid("kind", .invalid)
    case .direct: try draft.refuseFields(title: true, lists: true)
    case .group: try draft.refuseFields(title: false, lists: true)
    case .channel:
      guard let type = draft.type else { throw .invalid("type", .missing) }
      guard TypeName.isWellFormed(type), TypeName.core(type) == nil else { throw .invalid("type", .invalid) }
      new.type = type
      new.readers = draft.readers ?? .init()
      new.writers = draft.writers ?? .init()
      guard new.writers.audience != .anyone else { throw .invalid("writers.open_to", .invalid) }
    case .feed:
      try draft.refuseFields(title: true, lists: false)
      guard draft.participants.isEmpty else { throw .invalid("participants", .tooMany(limit: 0)) }
      guard draft.writers == nil else { throw .invalid("writers", .invalid) }
      new.readers = draft.readers ?? .init(.users)
    }
    new.fields = try draft.fields.checked(bounds)
    return new
  }
}

extension Patch<Conversation> {
  fileprivate func checked(_ bounds: Bounds) throws(Refusal) -> Patch<Conversation> {
    var checked = self
    try checked.revise(\.title) { title throws(Refusal) in
      try Texts.line(title, "title", scalars: bounds.titleScalars)
    }
    if let annotations = self[\.annotations], annotations.bytes.count > bounds.annotationBytes {
      throw .invalid("annotations", .tooLong(limit: bounds.annotationBytes))
    }
    return checked
  }
}

extension CommunityView {
  /// The kind of a readable conversation.
  public func kind(of id: ID<Conversation>, for caller: Caller) throws(Refusal) -> Conversation.Kind {
    try read { tx throws(Refusal) in try tx.rights(of: caller, in: id).1.kind }
  }

  public func getConversation(_ id: ID<Conversation>, for caller: Caller) throws(Refusal) -> ConversationView {
    try read { tx throws(Refusal) in
      if let user = caller.user { return .forUser(try tx.ownConversation(id, for: caller, user, community.bounds)) }
      try tx.require(.read, caller, in: id)
      guard var conversation = try tx.conversation(id) else { throw .notFound }
      // Only users may see the participants.
      conversation.participants = nil
      return .forVisitor(conversation)
    }
  }

  /// The conversations that an answer names, in the order of `ids`, without those that the caller may not read. Those after a
  /// megabyte of last messages are left out.
  public func readableConversations(
    _ ids: [ID<Conversation>], for caller: Caller
  ) throws(Refusal) -> [ConversationView] {
    var found: [ConversationView] = []
    var size = 0
    for id in ids where size < ListPage<ConversationView>.maxBytes {
      do throws(Refusal) {
        let conversation = try getConversation(id, for: caller)
        if case .forUser(let own) = conversation { size += own.lastMessage?.message.size ?? 0 }
        found.append(conversation)
      } catch {
        guard case .notFound = error else { throw error }
      }
    }
    return found
  }

  /// The caller's conversations, most recently active first.
  public func listConversations(
    kind: Conversation.Kind?, type: String?, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<OwnConversation> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      var found = try ListPage(page, by: { ListKey([$0.activity]) }) { slice throws(Refusal) in
        try tx.conversations(
          of: user, seeing: Permissions.readable(to: caller.role), kind: kind, type: type, slice)
      }
      var readable: [(id: ID<Conversation>, fromSeq: Int)] = []
      for (id, _) in found.items {
        let (_, standing) = try tx.rights(of: caller, in: id)
        readable.append((id, Permissions.fromSeq(of: caller.role, in: standing)))
      }
      let own = try tx.conversations(readable, of: user)
      let messages = Dictionary(own.map { ($0.conversation.id, $0.lastMessage?.message.id) }) { one, _ in one }
      let sizes = try tx.sizes(of: own.compactMap(\.lastMessage?.message))
      found.cut(page, by: { ListKey([$0.activity]) }) { one in (messages[one.id] ?? nil).flatMap { sizes[$0] } ?? 0 }
      let kept = Set(found.items.map(\.id))
      return try found.map { _ throws(Refusal) in
        try tx.views(own.filter { kept.contains($0.conversation.id) }, by: caller, community.bounds)
      }
    }
  }

  /// A user's feed. Throws `notFound` if the caller may not read it.
  public func getFeed(of owner: ID<User>, for caller: Caller) throws(Refusal) -> ConversationView {
    guard let feed = try read({ tx throws(Refusal) in try tx.feed(of: owner) }) else { throw .notFound }
    return try getConversation(feed, for: caller)
  }
}

extension ReadTransaction {
  /// Adds the caller's own actions on each last message.
  func views(
    _ conversations: [OwnConversation], by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> [OwnConversation] {
    var last = try views(conversations.compactMap(\.lastMessage?.message), by: caller, bounds)[...]
    return conversations.map { conversation in
      var conversation = conversation
      if conversation.lastMessage != nil { conversation.lastMessage = last.popFirst() }
      return conversation
    }
  }

  /// The conversation as the caller, a reader, may see it.
  func ownConversation(
    _ id: ID<Conversation>, for caller: Caller, _ user: ID<User>, _ bounds: Bounds
  ) throws(Refusal) -> OwnConversation {
    let (_, standing) = try rights(of: caller, in: id)
    let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
    let found = try views(conversations([(id, fromSeq)], of: user), by: caller, bounds)
    guard let own = found.first else { throw .notFound }
    return own
  }

  /// A user invited to a conversation, and whether the invitation is a request they must accept.
  func invited(
    _ userID: ID<User>, _ role: ParticipantRole, by user: ID<User>, _ caller: Caller, _ field: String
  ) throws(Refusal) -> NewParticipant {
    let known: Bool
    do {
      known = try self.user(.id(userID), for: caller).rights.contains(.see)
    } catch Refusal.notFound {
      known = false
    }
    guard known, let acquaintance = try acquaintance(of: user, with: userID) else {
      throw .invalid(field, .unknown)
    }
    switch Permissions.approach(acquaintance) {
    case .refused: throw .invalid(field, .unreachable)
    case .request: return NewParticipant(userID, role, isRequest: true)
    case .accepted: return NewParticipant(userID, role)
    }
  }
}

extension WriteTransaction {
  /// The feed of a user; a new one has the usual readers.
  func ownFeed(of user: ID<User>) throws(Refusal) -> ID<Conversation> {
    if let feed = try feed(of: user) { return feed }
    var new = NewConversation(.feed)
    new.owner = user
    new.readers = .init(.users)
    return try add(new, by: user)
  }

  fileprivate func findOrCreate(
    _ new: NewConversation, _ draft: ConversationDraft, by creator: ID<User>, _ caller: Caller
  ) throws(Refusal) -> (id: ID<Conversation>, isNew: Bool) {
    var new = new
    if new.kind == .feed {
      if let feed = try feed(of: creator) { return (feed, false) }
      new.owner = creator
      return (try add(new, by: creator), true)
    }
    let others = try otherParticipants(draft.participants, besides: creator, caller)
    if new.kind == .direct {
      guard others.count == 1 else { throw .invalid("participants", others.isEmpty ? .missing : .tooMany(limit: 1)) }
    }
    if draft.isDistinct || new.kind == .direct {
      let key = Self.key(of: new, [creator] + others.map(\.user))
      new.distinctKey = key
      if let found = try conversation(distinct: key) {
        if !found.isOpen { try reopen(found.id, by: creator) }
        return (found.id, false)
      }
    }
    // A private channel of the caller shows nothing to others.
    if !others.isEmpty || new.readers.audience != .listed { try requireMayPublish(caller) }
    new.participants = [NewParticipant(creator, new.kind == .direct ? .member : .admin)]
    for other in others {
      new.participants.append(try invited(other.user, other.role, by: creator, caller, other.field))
    }
    let id = try add(new, by: creator)
    for participant in new.participants where participant.isRequest {
      try notifyRequest(participant.user, of: id, from: creator)
    }
    return (id, true)
  }

  /// Lets a user create a conversation again after declining it. Others cannot.
  private func reopen(_ id: ID<Conversation>, by user: ID<User>) throws(Refusal) {
    guard let request = try request(of: user, in: id), request.isWaiting else {
      throw .invalid("participants[0]", .unreachable)
    }
    try takeRequest(of: id, by: user, from: request.from, wasRefused: true)
  }

  private struct OtherParticipant {
    let user: ID<User>
    let role: ParticipantRole
    let field: String
  }

  /// The distinct users without the caller.
  private func otherParticipants(
    _ list: [ConversationDraft.Invited], besides creator: ID<User>, _ caller: Caller
  ) throws(Refusal) -> [OtherParticipant] {
    var added: Set<ID<User>> = [creator]
    var others: [OtherParticipant] = []
    for (index, invited) in list.enumerated() {
      let field = "participants[\(index)]"
      let id: ID<User>
      do {
        id = try userID(invited.user, for: caller)
      } catch Refusal.notFound {
        throw .invalid(field, .unknown)
      }
      guard added.insert(id).inserted else { continue }
      others.append(OtherParticipant(user: id, role: invited.role, field: field))
    }
    return others
  }

  private static func key(of new: NewConversation, _ users: [ID<User>]) -> String {
    let list = users.sorted().map(\.description).joined(separator: ",")
    return [new.kind.rawValue, new.type, list].compactMap(\.self).joined(separator: " ")
  }
}

extension ConversationDraft {
  /// Refuses fields of other kinds.
  fileprivate func refuseFields(title isRefused: Bool, lists: Bool) throws(Refusal) {
    if isRefused, fields.fills(\.title) { throw .invalid("title", .invalid) }
    if type != nil { throw .invalid("type", .invalid) }
    if lists, readers != nil { throw .invalid("readers", .invalid) }
    if lists, writers != nil { throw .invalid("writers", .invalid) }
  }
}

extension ConversationChange {
  /// Slow mode and lock need the right to moderate, all other fields the right to manage.
  fileprivate var needs: Rights { changesConversation ? [.read, .manage] : [.read, .moderate] }

  /// Refuses fields that this kind does not have and changes to immutable lists.
  fileprivate func checkFits(_ conversation: Conversation) throws(Refusal) {
    let kind = conversation.kind
    if fields.contains(\.title), kind == .feed { throw .invalid("title", .invalid) }
    if readers != nil, kind != .channel, kind != .feed { throw .invalid("readers", .invalid) }
    if writers != nil, kind != .channel { throw .invalid("writers", .invalid) }
    if fields.contains(\.isHistoryVisible), !kind.isJoined { throw .invalid("history_visible", .invalid) }
    for (change, old) in [(readers, conversation.readers), (writers, conversation.writers)] where old.isImmutable {
      if let change, change.applied(to: old) != old { throw .forbidden }
    }
  }
}

extension Audience {
  fileprivate func isWider(than other: Audience) -> Bool { width > other.width }

  private var width: Int {
    switch self {
    case .listed: 0
    case .users: 1
    case .anyone: 2
    }
  }
}

extension ConversationDraft {
  /// The digest that tells a repeated request from another one with the same `client_id`.
  fileprivate func fingerprint() throws(Refusal) -> [UInt8] {
    let invited = participants.map { "\($0.user) \($0.role.rawValue)" }
    let title = (fields[\.title] ?? nil) ?? ""
    return try Creation.fingerprint(of: [kind.rawValue, type ?? "", title, isDistinct ? "distinct" : ""] + invited)
  }
}
