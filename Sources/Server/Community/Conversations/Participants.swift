// Participants of groups and channels. Direct conversations have two fixed participants, forums have members, and feeds
// have none.

public import ParleyModel
import Storage

extension Community {
  /// Adds a participant or changes its role; without a role it is unchanged. Readers of an open channel may add
  /// themselves.
  public func setParticipant(
    _ user: ID<User>, _ role: ParticipantRole?, of id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> Participant {
    let actor = try caller.requireUser(.write)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (rights, standing) = try tx.rights(of: caller, in: id)
      guard let conversation = try tx.conversation(id), conversation.kind.isJoined else { throw .forbidden }
      let old = try tx.participant(user, of: id)
      if let old, role == nil || role == old.role {
        guard user == actor || rights.contains(.manage) else { throw .forbidden }
        return old
      }
      if user == actor, old == nil {
        let own = Permissions.joiningRole(of: caller.role, in: standing)
        guard let own, role == nil || role == own else { throw .forbidden }
        try tx.checkActionLimits(in: id, bounds)
        let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
        try tx.add(NewParticipant(user, own), to: conversation, fromSeq: fromSeq, by: actor)
        return Participant(user, own)
      }
      guard rights.contains(.manage) else { throw .forbidden }
      let new = role ?? .member
      guard Permissions.allowsListChange(from: old?.role, to: new, in: conversation) else { throw .forbidden }
      if old != nil {
        if old?.role == .admin, try !tx.hasAdmin(of: id, besides: user) { throw .conflict }
        try tx.setRole(new, of: user, in: id, by: actor)
      } else {
        try tx.requireMayPublish(caller)
        let invited = try tx.invited(user, new, by: actor, caller, "user")
        try tx.checkActionLimits(in: id, bounds)
        try tx.add(invited, to: conversation, fromSeq: conversation.isHistoryVisible ? 1 : nil, by: actor)
        if invited.isRequest { try tx.notifyRequest(user, of: id, from: actor) }
      }
      return Participant(user, new)
    }
  }

  /// Every participant may leave. Removing others needs the right to manage.
  public func removeParticipant(
    _ user: ID<User>, of id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (rights, _) = try tx.rights(of: caller, in: id)
      guard let conversation = try tx.conversation(id), conversation.kind.isJoined else { throw .forbidden }
      guard user == actor || rights.contains(.manage) else { throw .forbidden }
      guard let participant = try tx.participant(user, of: id) else { return }
      if user != actor {
        guard Permissions.allowsListChange(from: participant.role, to: nil, in: conversation) else { throw .forbidden }
      }
      try tx.remove(participant, from: conversation, by: actor)
      try tx.removeRequestNotification(of: user, in: id, by: actor)
    }
  }

  // MARK: Requests

  /// Accepts a conversation request, even after declining it.
  public func acceptRequest(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) -> OwnConversation {
    let user = try caller.requireUser(.write)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let request = try tx.request(of: user, in: id) else { throw .notFound }
      if request.isWaiting {
        try tx.takeRequest(of: id, by: user, from: request.from, wasRefused: request.isRefused)
        try tx.removeRequestNotification(of: user, in: id, by: user)
      }
      return try tx.ownConversation(id, for: caller, user, bounds)
    }
  }

  /// Declines a request. A direct conversation is closed for both until the request is accepted; other kinds are left.
  public func declineRequest(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.write)
    try await store.write { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      guard let request = try tx.request(of: user, in: id) else { throw .notFound }
      guard request.isWaiting else { throw .conflict }
      if request.isRefused { return }
      try tx.removeRequestNotification(of: user, in: id, by: user)
      if request.kind == .direct { return try tx.refuseRequest(of: id, by: user, from: request.from) }
      guard let conversation = try tx.conversation(id), let participant = try tx.participant(user, of: id) else {
        throw .notFound
      }
      try tx.remove(participant, from: conversation, by: user)
    }
  }
}

extension CommunityView {
  public func listParticipants(
    of id: ID<Conversation>, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Participant> {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: id)
      return try ListPage(page, by: { ListKey($0.user) }) { slice throws(Refusal) in
        try tx.participants(of: id, slice)
      }
    }
  }

  /// Publishes that the caller is typing.
  public func sendTyping(in id: ID<Conversation>, by caller: Caller) throws(Refusal) {
    let user = try caller.requireUser(.write)
    try read { tx throws(Refusal) in _ = try tx.require(.write, try tx.revalidate(caller), in: id) }
    community.hub.startTyping(user, in: id)
  }

  /// The user id of a caller that may publish app signals.
  public func appSender(by caller: Caller) throws(Refusal) -> ID<User> {
    let user = try caller.requireUser(.write)
    try caller.requireWholeSite()
    let (circle, role) = try read { tx throws(Refusal) in
      (try tx.settings().mayPublish, try tx.revalidate(caller).role)
    }
    guard Permissions.includes(circle, role) else { throw .forbidden }
    return user
  }

  /// Whether the user shows their presence.
  public func showsPresence(_ user: ID<User>) throws(Refusal) -> Bool {
    try read { tx throws(Refusal) in try tx.user(user)?.own?.showsPresence ?? false }
  }
}

extension ReadTransaction {
  fileprivate func checkActionLimits(in id: ID<Conversation>, _ bounds: Bounds) throws(Refusal) {
    guard try participantCount(of: id, upTo: bounds.participants) < bounds.participants else {
      throw .tooMany(limit: bounds.participants)
    }
  }
}
