// Who takes part in groups and channels. Of two it is always the same two, in a forum its members, and a feed has nobody.

public import ParleyModel
import Storage

extension Community {
  /// Adds somebody, or gives a participant another role; without one they keep theirs. Who reads a channel that is open
  /// may join it.
  public func setParticipant(
    _ account: ID<Account>, _ role: ParticipantRole?, of id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) -> Participant {
    let actor = try caller.person(for: .write)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (rights, standing) = try tx.rights(of: caller, in: id)
      guard let conversation = try tx.conversation(id), conversation.kind.isJoined else { throw .forbidden }
      let old = try tx.participant(account, of: id)
      if let old, role == nil || role == old.role {
        guard account == actor || rights.contains(.manage) else { throw .forbidden }
        return old
      }
      if account == actor, old == nil {
        let own = Permissions.joiningRole(of: caller.role, in: standing)
        guard let own, role == nil || role == own else { throw .forbidden }
        try tx.requireRoom(in: id, bounds)
        let fromSeq = Permissions.fromSeq(of: caller.role, in: standing)
        try tx.add(NewParticipant(account, own), to: conversation, fromSeq: fromSeq, by: actor)
        return Participant(account, own)
      }
      guard rights.contains(.manage) else { throw .forbidden }
      let new = role ?? .member
      guard Permissions.mayList(from: old?.role, to: new, in: conversation) else { throw .forbidden }
      if old != nil {
        if old?.role == .admin, try !tx.hasAdmin(of: id, besides: account) { throw .conflict }
        try tx.setRole(new, of: account, in: id, by: actor)
      } else {
        let invited = try tx.invited(account, new, by: actor, caller, "user")
        try tx.requireRoom(in: id, bounds)
        try tx.add(invited, to: conversation, fromSeq: conversation.isHistoryVisible ? 1 : nil, by: actor)
        if invited.isRequest { try tx.ring(account, toTake: id, from: actor) }
      }
      return Participant(account, new)
    }
  }

  /// Anybody may leave; others are taken out by who leads.
  public func removeParticipant(
    _ account: ID<Account>, of id: ID<Conversation>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let (rights, _) = try tx.rights(of: caller, in: id)
      guard let conversation = try tx.conversation(id), conversation.kind.isJoined else { throw .forbidden }
      guard account == actor || rights.contains(.manage) else { throw .forbidden }
      guard let participant = try tx.participant(account, of: id) else { return }
      if account != actor {
        guard Permissions.mayList(from: participant.role, to: nil, in: conversation) else { throw .forbidden }
      }
      try tx.remove(participant, from: conversation, by: actor)
      try tx.removeRequestFromInbox(of: account, in: id, by: actor)
    }
  }

  // MARK: Requests

  /// Takes what a stranger began, also after it was refused.
  public func takeRequest(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) -> OwnConversation {
    let person = try caller.person(for: .write)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      guard let request = try tx.request(of: person, in: id) else { throw .notFound }
      if request.isWaiting {
        try tx.takeRequest(of: id, by: person, from: request.from, wasRefused: request.isRefused)
        try tx.removeRequestFromInbox(of: person, in: id, by: person)
      }
      return try tx.shown(id, to: caller, person, bounds)
    }
  }

  /// A conversation of two is closed for both, until who refused it takes it after all; any other is left.
  public func refuseRequest(_ id: ID<Conversation>, by caller: Caller) async throws(Refusal) {
    let person = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      _ = try tx.renewed(caller)
      guard let request = try tx.request(of: person, in: id) else { throw .notFound }
      guard request.isWaiting else { throw .conflict }
      if request.isRefused { return }
      try tx.removeRequestFromInbox(of: person, in: id, by: person)
      if request.kind == .direct { return try tx.refuseRequest(of: id, by: person, from: request.from) }
      guard let conversation = try tx.conversation(id), let participant = try tx.participant(person, of: id) else {
        throw .notFound
      }
      try tx.remove(participant, from: conversation, by: person)
    }
  }
}

extension CommunityView {
  /// One more than `limit`, where there are more.
  public func participants(
    of id: ID<Conversation>, after account: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Participant] {
    try read { tx throws(Refusal) in
      try tx.require(.read, caller, in: id)
      return try tx.participants(of: id, after: account, limit: limit + 1)
    }
  }

  /// Whether the caller may tell others that they are typing.
  public func typing(in id: ID<Conversation>, by caller: Caller, now: Int64) throws(Refusal) {
    let person = try caller.person(for: .write)
    try read { tx throws(Refusal) in _ = try tx.require(.write, try tx.admitted(caller), in: id) }
    community.hub.type(person, in: id, now: now)
  }

  /// Whoever may tell others something through a program.
  public func sender(by caller: Caller) throws(Refusal) -> ID<Account> {
    let person = try caller.person(for: .write)
    let (circle, role) = try read { tx throws(Refusal) in
      (try tx.settings().mayPublish, try tx.admitted(caller).role)
    }
    guard Permissions.isIn(circle, role) else { throw .forbidden }
    return person
  }

  /// Whether others see that somebody is here.
  public func showsPresence(_ account: ID<Account>) throws(Refusal) -> Bool {
    try read { tx throws(Refusal) in try tx.person(account)?.own?.showsPresence ?? false }
  }
}

extension ReadTransaction {
  fileprivate func requireRoom(in id: ID<Conversation>, _ bounds: Bounds) throws(Refusal) {
    guard try participantCount(of: id, upTo: bounds.participants) < bounds.participants else {
      throw .tooMany(limit: bounds.participants)
    }
  }
}
