// User profiles and changes by the user or staff.

import ParleyMarkup
public import ParleyModel
import Storage

extension ReadTransaction {
  /// Reloads the caller's role in this transaction, since it may have changed.
  func reloadCaller(_ caller: Caller) throws(Refusal) -> Caller {
    guard let id = caller.user else { return caller }
    guard let role = try activeRole(of: id) else { throw .unauthenticated }
    return Caller(user: id, role: role, scope: caller.scope, session: caller.session, limits: caller.limits)
  }

  /// The same for the author of a post, with the rights in the conversation, from one query.
  func reloadAuthor(
    _ caller: Caller, in conversation: ID<Conversation>
  ) throws(Refusal) -> (caller: Caller, rights: Rights, author: AuthorStanding) {
    let id = try caller.requireUser()
    guard try reaches(conversation, caller), let author = try authorStanding(of: id, in: conversation) else {
      _ = try reloadCaller(caller)
      throw .notFound
    }
    let rights = Permissions.rights(of: author.role, in: author.standing)
    guard rights.contains(.read) else { throw .notFound }
    let caller = Caller(
      user: id, role: author.role, scope: caller.scope, session: caller.session, limits: caller.limits)
    return (caller, rights, author)
  }

  /// Reloads the caller. Throws if the credential is no longer valid.
  func revalidate(_ caller: Caller) throws(Refusal) -> Caller {
    guard let session = caller.session else { return try reloadCaller(caller) }
    guard let known = try activeSession(session) else { throw .unauthenticated }
    return Caller(user: known.user, role: known.role, scope: known.scope, session: session, limits: known.limits)
  }

  /// A user and the caller's rights over them. Throws `notFound` if the caller may not see the user.
  func user(
    _ reference: UserReference, for caller: Caller
  ) throws(Refusal) -> (user: User, rights: UserRights) {
    let id = try userID(reference, for: caller)
    guard let user = try self.user(id) else { throw .notFound }
    var rights = Permissions.rights(of: caller.role, over: try standing(of: caller, and: user))
    // A token of forums reads names, and one of the scope `profile` that of its user.
    if caller.forums != nil || caller.scope < .read { rights.formIntersection(.see) }
    if caller.scope < .read, id != caller.user { throw .notFound }
    guard rights.contains(.see) else { throw .notFound }
    return (user, rights)
  }

  /// Users in the order of `ids`, without those that the caller may not see. Users and guests see each other by a shared
  /// conversation, visitors by public posts.
  fileprivate func visibleUsers(_ ids: [ID<User>], for caller: Caller) throws(Refusal) -> [User] {
    let users = try self.users(ids)
    let isLimited = caller.role == nil || caller.role == .guest
    var acquainted: Set<ID<User>> = []
    var inPublic: Set<ID<User>> = []
    if isLimited {
      if let id = caller.user {
        acquainted = try self.acquainted(ids, with: id)
      } else {
        inPublic = try self.inPublic(ids)
      }
    }
    var visible: [User] = []
    for user in ids.compactMap({ users[$0] }) {
      let id = user.summary.id
      let standing = UserStanding(
        role: user.summary.role, state: user.standing?.state ?? .active, isSelf: id == caller.user,
        isTogether: acquainted.contains(id), isInPublic: inPublic.contains(id))
      var rights = Permissions.rights(of: caller.role, over: standing)
      if caller.forums != nil { rights.formIntersection(.see) }
      if rights.contains(.see) { visible.append(user.redacted(for: rights)) }
    }
    return visible
  }

  private func standing(of caller: Caller, and user: User) throws(Refusal) -> UserStanding {
    var standing = UserStanding(
      role: user.summary.role, state: user.standing?.state ?? .active, isSelf: caller.user == user.summary.id)
    if standing.isSelf { return standing }
    if let userID = caller.user { standing.isBlocked = try isBlocked(userID, user.summary.id) }
    // Only visitors and guests may not see all users.
    guard caller.role == nil || caller.role == .guest else { return standing }
    standing.isInPublic = try !inPublic([user.summary.id]).isEmpty
    if let userID = caller.user { standing.isTogether = try areTogether(userID, user.summary.id) }
    return standing
  }
}

extension User {
  /// The fields visible with these rights.
  func redacted(for rights: UserRights) -> User {
    // Everyone may see that a user has left: it replaces the name.
    let isOpen = rights.contains(.inspect) || standing?.state.hasGone == true
    return User(summary, standing: isOpen ? standing : nil, own: rights.contains(.own) ? own : nil)
  }
}

extension CommunityView {
  public func getUser(_ reference: UserReference, for caller: Caller) throws(Refusal) -> User {
    try read { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: caller)
      return try tx.withEntities(user.redacted(for: rights))
    }
  }

  /// Users in the order of `ids`, duplicates included. Users that the caller may not see are omitted.
  public func listUsers(_ ids: [ID<User>], for caller: Caller) throws(Refusal) -> [User] {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      _ = try caller.requireUser()
      return try tx.withEntities(try tx.visibleUsers(ids, for: caller))
    }
  }

  /// The users that an answer names, without those that the caller may not see.
  public func visibleUsers(_ ids: [ID<User>], for caller: Caller) throws(Refusal) -> [User] {
    try read { tx throws(Refusal) in
      try tx.withEntities(try tx.visibleUsers(ids, for: try tx.reloadCaller(caller)))
    }
  }

  /// Active users whose name, or display name from any of its words on, begins with `query`. All users for an empty
  /// query; after an `@` by the name alone.
  public func listUsers(
    foundBy query: String, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    guard !query.isEmpty, !query.hasPrefix("@") else {
      return try listUsers(namePrefix: String(query.dropFirst()), page, for: caller)
    }
    let role = try caller.requireFullUser()
    guard let beginning = UserTerms.beginning(of: query) else { return ListPage([]) }
    return try read { tx throws(Refusal) in
      let found = try ListPage(page, by: { ListKey([$0.user.summary.id.number], text: $0.term) }) {
        slice throws(Refusal) in try tx.users(foundBy: beginning, slice)
      }
      return try found.map { users in users.map { $0.user.redacted(for: caller, role) } }
    }
  }

  /// Active users with this name prefix.
  private func listUsers(
    namePrefix: String, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    let role = try caller.requireFullUser()
    return try read { tx throws(Refusal) in
      let found = try ListPage(page, by: { ListKey([], text: UserName.key($0.summary.name ?? "")) }) {
        slice throws(Refusal) in try tx.users(namePrefix: namePrefix, slice)
      }
      return try found.map { users in users.map { $0.redacted(for: caller, role) } }
    }
  }

  /// Users in a state, for moderators.
  public func listUsers(
    in state: UserState, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<User> {
    _ = try caller.requireUser()
    try caller.requireWholeSite()
    guard let role = caller.role, role.isModerator else { throw .forbidden }
    return try read { tx throws(Refusal) in
      let found = try ListPage(page, by: { ListKey($0.summary.id) }) { slice throws(Refusal) in
        try tx.users(in: state, slice)
      }
      return try found.map { users in users.map { $0.redacted(for: caller, role) } }
    }
  }
}

extension Caller {
  /// The role of a user that may see all users.
  func requireFullUser() throws(Refusal) -> Role {
    _ = try requireUser()
    guard let role, role != .guest else { throw .forbidden }
    return role
  }
}

extension User {
  /// The fields visible to a role that may see all users.
  func redacted(for caller: Caller, _ role: Role) -> User {
    let standing = UserStanding(
      role: summary.role, state: standing?.state ?? .active, isSelf: caller.user == summary.id)
    let rights = Permissions.rights(of: role, over: standing)
    return redacted(for: caller.forums == nil ? rights : rights.intersection(.see))
  }
}

extension Community {
  public func updateUser(
    _ reference: UserReference, _ change: UserChange, by caller: Caller
  ) async throws(Refusal) -> User {
    let actor = try caller.requireUser(.write)
    let change = try change.checked(bounds)
    let addresses = try change.addresses.map { texts throws(Refusal) in try ContactAddress.all(texts, bounds) }
    let spareKey = try Secret.make()
    defer { if change.own[\.showsPresence] == false { hub.hide(actor) } }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let (before, rights) = try tx.user(reference, for: caller)
      guard rights.allow(change), !change.governs || caller.scope >= .admin else { throw .forbidden }
      if let revision = change.ifRevision, revision != before.summary.revision { throw .conflict }
      var after = before
      try after.apply(change)
      try after.summary.settleStatus(change.fields, now: tx.now)
      if after.summary.role != before.summary.role {
        guard Permissions.mayAssign(after.summary.role, by: caller.role) else { throw .forbidden }
        try tx.requireProof(of: caller)
      }
      if change.endsSessions == true || change.isDisabled != nil && before.summary.role.isStaff {
        try tx.requireProof(of: caller)
      }
      if after.summary.name != before.summary.name, let name = after.summary.name {
        try tx.checkIsFree(name, exceptFor: before.summary.id)
      }
      if before.isActiveOwner, !after.isActiveOwner {
        guard try tx.hasOwner(except: before.summary.id) else { throw .lastOwner }
      }
      let hasNewAddresses = try addresses.map { addresses throws(Refusal) in
        try tx.replaceAddresses(addresses, of: before.summary.id, spareKey)
      }
      let changed = try tx.change(before, to: after, by: actor, hasNewAddresses: hasNewAddresses ?? false)
      try tx.startRoleAccessChange(
        of: before.summary.id, from: before.summary.role, to: after.summary.role, by: actor)
      let hasNewRole = after.summary.role != before.summary.role && actor != before.summary.id
      if hasNewRole {
        try tx.mailNotification(.account(.roleChanged), of: before.summary.id)
      }
      // Setting the state replaces a ban.
      if change.isDisabled != nil { try tx.lift(.ban, of: before.summary.id, by: actor) }
      let isDisabled = after.standing?.state == .disabled && before.standing?.state != .disabled
      if isDisabled {
        try tx.endAllSessions(of: before.summary.id)
      } else if change.endsSessions ?? hasNewRole {
        try tx.endSessions(of: before.summary.id, except: caller.session, keepsTokens: false)
        try tx.audit(.sessionsEnded, by: actor, subject: before.summary.id.number, reason: change.reason)
      }
      // They know the secrets, which only the staff creates.
      let leavesStaff = before.summary.role.isStaff && !after.summary.role.isStaff
      if isDisabled || leavesStaff { try tx.revokeWebhooks(of: before.summary.id) }
      if before.summary.role == .bot, after.summary.displayName != before.summary.displayName {
        try tx.raiseRevisionOfWebhook(ofBot: before.summary.id)
      }
      for action in before.audited(after) where actor != before.summary.id || action != .userChanged {
        // Texts and the state are personal data, which is erased with the user.
        let changes = action == .roleChanged ? after.summary.changes(since: before.summary, only: ["role"]) : []
        try tx.audit(action, by: actor, subject: before.summary.id.number, reason: change.reason, changes: changes)
      }
      return try tx.withEntities(changed.redacted(for: rights))
    }
  }
}

extension UserRights {
  fileprivate func allow(_ change: UserChange) -> Bool {
    if change.governs { return contains(.govern) && (!change.isOwn || contains(.own)) }
    if change.isOwn { return contains(.own) }
    return contains(.edit)
  }
}

extension UserChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> UserChange {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in
      try checked.fields.revise(\.displayName) { name throws(Refusal) in try Texts.displayName(name, bounds) }
    }
    check { () throws(Refusal) in
      if let bio = fields[\.bio] { _ = try Texts.block(bio, "bio", scalars: bounds.bioScalars) }
    }
    check { () throws(Refusal) in
      try checked.fields.revise(\.statusText) { text throws(Refusal) in
        try Texts.label(text, "status_text", scalars: bounds.statusScalars)
      }
    }
    check { () throws(Refusal) in
      if let emoji = fields[\.statusEmoji] ?? nil, !Emoji.isSingle(emoji[...]) {
        throw .invalid("status_emoji", .invalid)
      }
    }
    check { () throws(Refusal) in
      if let reason { _ = try Texts.block(reason, "reason", scalars: bounds.reasonScalars) }
    }
    check { () throws(Refusal) in if let name { try Texts.checkName(name) } }
    check { () throws(Refusal) in
      if let preferences = own[\.preferences], preferences.bytes.count > bounds.preferencesBytes {
        throw .invalid("preferences", .tooLong(limit: bounds.preferencesBytes))
      }
    }
    try check.finish()
    return checked
  }
}

extension UserSummary {
  /// Ends of a status. A new status without an end stays; the end of an earlier one is not its own.
  fileprivate mutating func settleStatus(_ change: Patch<UserSummary>, now: Int64) throws(Refusal) {
    if let end = change[\.statusExpiresAt] {
      guard let end else { return }
      guard end > now else { throw .invalid("status_expires_at", .invalid) }
    } else if change.contains(\.statusText) || change.contains(\.statusEmoji) {
      statusExpiresAt = nil
    }
    if !hasStatus { statusExpiresAt = nil }
  }
}

extension User {
  /// Whether the user is an active owner.
  var isActiveOwner: Bool { summary.role == .owner && standing?.state == .active }

  fileprivate mutating func apply(_ change: UserChange) throws(Refusal) {
    summary = change.fields.applied(to: summary)
    summary.name = change.name ?? summary.name
    own = own.map(change.own.applied)
    guard let isDisabled = change.isDisabled, let state = standing?.state else { return }
    switch state {
    case .active, .deactivated: if isDisabled { standing?.state = .disabled }
    case .disabled: if !isDisabled { standing?.state = .active }
    // Pending users are approved or rejected; former users cannot come back.
    case .pending, .left, .erased: throw .conflict
    }
  }

  /// The changes to record in the audit log.
  fileprivate func audited(_ after: User) -> [AuditedAction] {
    var actions: [AuditedAction] = []
    if after.summary.role != summary.role { actions.append(.roleChanged) }
    if after.standing?.state != standing?.state {
      actions.append(after.standing?.state == .disabled ? .userDisabled : .userEnabled)
    }
    let isRenamed = after.summary.name != summary.name || after.summary.displayName != summary.displayName
    let saysSame = after.summary.statusText == summary.statusText && after.summary.statusEmoji == summary.statusEmoji
    if isRenamed || after.summary.bio != summary.bio || !saysSame { actions.append(.userChanged) }
    return actions
  }
}

extension ReadTransaction {
  /// Throws unless the name is free for a user or group, or belongs to the excepted one.
  func checkIsFree(
    _ name: String, exceptFor user: ID<User>? = nil, exceptForGroup group: ID<UserGroup>? = nil
  ) throws(Refusal) {
    let holder = try self.user(named: name)
    let groupHolder = try userGroup(named: name)?.id
    guard holder == nil || holder == user, groupHolder == nil || groupHolder == group else {
      throw .invalid("name", .taken)
    }
  }

  /// Resolves a user reference. Throws `notFound` for an unknown name.
  func userID(_ reference: UserReference, for caller: Caller) throws(Refusal) -> ID<User> {
    switch reference {
    case .me: return try caller.requireUser()
    case .id(let id): return id
    case .name(let name):
      guard let id = try user(named: name) else { throw .notFound }
      return id
    }
  }
}

extension CommunityView {
  /// Resolves a user reference to an id.
  public func userID(_ reference: UserReference, for caller: Caller) throws(Refusal) -> ID<User> {
    switch reference {
    case .me, .id: return try read { tx throws(Refusal) in try tx.userID(reference, for: caller) }
    case .name: return try read { tx throws(Refusal) in try tx.user(reference, for: caller).user.summary.id }
    }
  }
}

extension ReadTransaction {
  func withEntities(_ user: User) throws(Refusal) -> User { try withEntities([user])[0] }

  /// Adds the entities of the bios.
  func withEntities(_ users: [User]) throws(Refusal) -> [User] {
    let entities = try entities(of: users.map(\.summary.bio))
    return zip(users, entities).map { user, entities in
      var user = user
      user.summary.describeBio(entities)
      return user
    }
  }

  /// The entities of texts. Mentions are resolved at read time, those of all texts in one statement.
  func entities(of texts: [String]) throws(Refusal) -> [MessageEntities] {
    let parsed = texts.map { MarkupDocument($0).entities }
    let names = parsed.joined().filter { $0.kind == .mention }.map(\.value)
    let mentioned = names.isEmpty ? [:] : try self.users(named: names)
    return parsed.map { found in
      var entities = MessageEntities()
      for entity in found {
        let span = MessageEntities.Span(position: entity.position, length: entity.length)
        switch entity.kind {
        case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
        case .link: entities.links.append(.init(span, url: entity.value))
        case .mention:
          guard let id = mentioned[UserName.key(entity.value)] else { continue }
          entities.mentions.append(.init(span, name: entity.value, user: id))
        }
      }
      return entities
    }
  }
}
