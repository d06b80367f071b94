// Who belongs to a forum: joining, being brought, leaving, and what goes with it.

public import ParleyModel
import Storage

extension Community {
  /// Adds somebody, or gives a member another role. Who may read joins by themselves, but for guests, who are brought.
  public func setMember(
    _ reference: AccountReference, _ role: ForumRole?, of id: ID<Forum>, by caller: Caller
  ) async throws(Refusal) -> ForumMember {
    let actor = try caller.person(for: .write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let standing = try tx.require(.see, caller, in: id)
      let rights = Permissions.rights(of: caller.role, in: standing)
      let account = try tx.person(reference, for: caller).person.account.id
      let old = try tx.role(of: account, in: id)
      let role = role ?? old ?? .member
      let joins = account == actor && role == .member && rights.contains(.join)
      guard joins || rights.contains(.manage) || old == role && account == actor else { throw .forbidden }
      guard try tx.isActive(account) else { throw .notFound }
      let start = rights.contains(.manage) ? nil : try tx.historyStart(of: id, for: caller)
      if try tx.setMember(account, role, of: id, after: start, by: actor) {
        if old == .admin { try tx.passLead(of: id, besides: account) }
        // Whom the place has put above it comes in without being asked in: those inside can look it up.
        if account == actor, !rights.contains(.read) {
          try tx.audit(.forumEntered, by: actor, subject: id.number, in: id)
        }
      }
      guard let member = try tx.member(account, of: id) else { throw .unavailable }
      return member
    }
  }

  /// Anybody may leave; others are taken out by who manages the forum. Who is no member stays none.
  public func removeMember(
    _ reference: AccountReference, of id: ID<Forum>, by caller: Caller
  ) async throws(Refusal) {
    let actor = try caller.person(for: .write)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      let account = try tx.person(reference, for: caller).person.account.id
      let role = try tx.role(of: account, in: id)
      // Who has left may not see it any longer, and asks again all the same.
      if account == actor, role == nil { return }
      try tx.require(account == actor ? .see : .manage, caller, in: id)
      guard try tx.removeMember(account, of: id, by: actor) else { return }
      if role == .admin { try tx.passLead(of: id, besides: account) }
      try tx.loseUnreadable(of: id, account, by: actor)
      if account != actor { try tx.audit(.memberRemoved, by: actor, subject: account.number, in: id) }
    }
  }
}

extension CommunityView {
  /// By id: one more than `limit`, where there are more. For who reads the forum, and who says who is in it.
  public func members(
    of id: ID<Forum>, after account: ID<Account>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [ForumMember] {
    try read { tx throws(Refusal) in
      let standing = try tx.require(.see, caller, in: id)
      guard !Permissions.rights(of: caller.role, in: standing).isDisjoint(with: [.read, .manage]) else {
        throw .forbidden
      }
      return try tx.members(of: id, after: account ?? ID(0), limit: limit + 1)
    }
  }
}

extension ReadTransaction {
  /// After which message somebody reads who comes in by themselves.
  fileprivate func historyStart(of id: ID<Forum>, for caller: Caller) throws(Refusal) -> ID<Message>? {
    guard let starts = try historyStarts(of: id) else { throw .notFound }
    return Permissions.isIn(.people, caller.role) ? starts.people : starts.anyone
  }
}

// MARK: Losing what can't be read

extension JobKind {
  static let forumLosses = JobKind(
    "forum.losses",
    progress: { (tx, losses: ForumLosses) throws(Refusal) in
      try tx.share(of: losses.forum, upTo: losses.conversation, inside: losses.account.number > 0 ? 0 : nil)
    }
  ) { (tx, losses: inout ForumLosses) throws(Refusal) in
    try tx.loseMore(&losses)
  }
}

extension WriteTransaction {
  /// How many people, and how many conversations without any, a chunk looks at.
  private static let lookedAtOnce = 200

  /// Whoever may not read the forum any more loses its conversations, in a stored job.
  @discardableResult
  func startLosses(of forum: ID<Forum>, by actor: ID<Account>) throws(Refusal) -> ID<Job> {
    try startJob(
      kind: JobKind.forumLosses.name, subject: forum.number, by: actor, state: ForumLosses(forum, by: actor))
  }

  /// The same for one person: at once, where it is not too much.
  fileprivate func loseUnreadable(
    of forum: ID<Forum>, _ account: ID<Account>, by actor: ID<Account>
  ) throws(Refusal) {
    guard try !mayRead(forum, account, role: try person(account)?.account.role) else { return }
    guard try loseConversations(of: forum, account, limit: Self.lookedAtOnce, by: actor) else { return }
    try startLosses(of: forum, by: actor)
  }

  fileprivate func mayRead(_ forum: ID<Forum>, _ account: ID<Account>, role: Role?) throws(Refusal) -> Bool {
    guard let standing = try standing(of: account, in: forum) else { return false }
    return Permissions.rights(of: role, in: standing).contains(.read)
  }

  /// One chunk; whether nothing is left.
  fileprivate func loseMore(_ losses: inout ForumLosses) throws(Refusal) -> Bool {
    let isGone = try forum(losses.forum) == nil
    var left = Self.lookedAtOnce
    while left > 0 {
      if losses.account.number == 0 {
        guard let next = try conversation(of: losses.forum, after: losses.conversation) else { return true }
        losses.conversation = next
      }
      let people = try participations(in: losses.conversation, after: losses.account, limit: left)
      for person in people where try !mayRead(losses.forum, person.account, role: person.role) {
        try lose(losses.conversation, person.account, by: losses.actor)
        if isGone { try forgetMember(person.account, of: losses.forum, by: losses.actor) }
      }
      losses.account = people.count == left ? people.last?.account ?? ID(0) : ID(0)
      left -= max(people.count, 1)
    }
    return false
  }
}
