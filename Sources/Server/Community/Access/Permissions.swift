// The permissions of the site, as pure functions of a role and a standing. All access rules are here, so that they can
// be reviewed in one file and tested as a table.

public import ParleyModel

/// Rights on a forum.
public struct ForumRights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// See the title, icon and description.
  public static let see = ForumRights(rawValue: 1)
  /// Read the room and topics.
  public static let read = ForumRights(rawValue: 2)
  public static let write = ForumRights(rawValue: 4)
  public static let startTopics = ForumRights(rawValue: 8)
  /// Remove messages, pin, lock, silence.
  public static let moderate = ForumRights(rawValue: 16)
  /// Edit the forum and its members.
  public static let manage = ForumRights(rawValue: 32)
  /// Set the forum's position in the list.
  public static let arrange = ForumRights(rawValue: 64)
  /// Join without being added.
  public static let join = ForumRights(rawValue: 128)
  /// Notify all members with `@room`.
  public static let mentionRoom = ForumRights(rawValue: 256)
}

/// Rights in a conversation.
public struct Rights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let read = Rights(rawValue: 1)
  public static let write = Rights(rawValue: 2)
  /// Remove others' messages, pin, lock.
  public static let moderate = Rights(rawValue: 4)
  /// Edit title, annotations and participants.
  public static let manage = Rights(rawValue: 8)
  /// Reply to messages, without the right to write others.
  public static let reply = Rights(rawValue: 16)
}

/// Rights over a user.
public struct UserRights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// See the name and profile.
  public static let see = UserRights(rawValue: 1)
  /// See the user's standing on the site.
  public static let inspect = UserRights(rawValue: 2)
  /// Edit the profile.
  public static let edit = UserRights(rawValue: 4)
  /// See and edit private data.
  public static let own = UserRights(rawValue: 8)
  /// Set the role, approve, disable, create a password reset.
  public static let govern = UserRights(rawValue: 16)
  /// Delete the user; after that, erase all data.
  public static let dismiss = UserRights(rawValue: 32)
  /// Follow: posts appear in the timeline.
  public static let follow = UserRights(rawValue: 64)
  /// Mute and block.
  public static let muteAndBlock = UserRights(rawValue: 128)
  /// See followers and followed users.
  public static let seeFollowing = UserRights(rawValue: 256)
  /// Warn, silence, ban.
  public static let sanction = UserRights(rawValue: 512)
}

public enum Permissions {
  public static func rights(of role: Role?, over other: UserStanding) -> UserRights {
    var rights: UserRights = []
    if other.isSelf { rights.insert([.see, .inspect, .edit, .own, .seeFollowing]) }
    // A former user has no private data any more.
    let isInView = isFullUser(role) || other.isInPublic || (role != nil && other.isTogether) || other.state.hasGone
    if other.state != .pending, isInView { rights.insert(.see) }
    guard let role else { return rights }
    if role.isModerator { rights.insert([.see, .inspect]) }
    let outranks = role == .owner || other.role.isBelow(role)
    if outranks, role.isStaff { rights.insert(.dismiss) }
    if outranks, role.isStaff, !other.state.hasGone { rights.insert([.edit, .govern]) }
    if outranks, role.isModerator, !other.isSelf, other.state != .pending, !other.state.hasGone {
      rights.insert(.sanction)
    }
    return rights.union(socialRights(of: role, with: other, isSeen: rights.contains(.see)))
  }

  private static func socialRights(of role: Role, with other: UserStanding, isSeen: Bool) -> UserRights {
    var rights: UserRights = []
    guard isSeen, !other.state.hasGone, other.state != .pending else { return rights }
    if isFullUser(role) { rights.insert(.seeFollowing) }
    guard !other.isSelf else { return rights }
    rights.insert(.muteAndBlock)
    if !other.isBlocked, other.state != .disabled { rights.insert(.follow) }
    return rights
  }

  /// Whether the caller may find users by address. Bots may not: they could enumerate the directory.
  public static func mayDiscover(_ role: Role?) -> Bool { isFullUser(role) && role != .bot }

  /// Whether the caller may assign the role: owners any, other staff only roles below their own.
  public static func mayAssign(_ given: Role, by role: Role?) -> Bool {
    guard let role, role.isStaff else { return false }
    return role == .owner || given.isBelow(role)
  }

  /// Whether the caller may create an invite with the role. Invites never create owners or bots.
  public static func mayInvite(as invited: Role, by role: Role?, _ circle: SiteSettings.Circle) -> Bool {
    guard includes(circle, role) else { return false }
    switch invited {
    case .owner, .bot: return false
    case .member, .guest: return true
    case .admin, .moderator: return mayAssign(invited, by: role)
    }
  }

  /// Whether the caller may invite new members into the forum: a reader, and into a private forum only its admins.
  static func mayInvite(into forum: ForumStanding, by role: Role?) -> Bool {
    rights(of: role, in: forum).isSuperset(of: forum.visibility == .private ? [.see, .manage] : .see)
  }

  /// Whether the caller may create groups of users and set their members.
  public static func mayManageGroups(_ role: Role?) -> Bool { role?.isStaff == true }

  /// Whether the caller may join the group without being added.
  public static func mayJoin(_ group: UserGroup, _ role: Role?) -> Bool { group.isSelfChosen && isFullUser(role) }

  /// Whether the caller may notify the members of the group by a mention.
  public static func mayMention(_ group: UserGroup, _ role: Role?, isMember: Bool) -> Bool {
    guard let role else { return false }
    switch group.mentionableBy {
    case .users: return isMember || isFullUser(role)
    case .members: return isMember || role.isStaff
    case .staff: return role.isStaff
    }
  }

  /// Whether the role belongs to the circle.
  public static func includes(_ circle: SiteSettings.Circle, _ role: Role?) -> Bool {
    switch circle {
    case .users: isFullUser(role)
    case .moderators: role?.isModerator == true
    case .staff: role?.isStaff == true
    }
  }

  /// Whether the caller may see the progress of a job.
  public static func maySeeJob(_ role: Role?, isOwn: Bool) -> Bool { isOwn || role?.isStaff == true }

  /// The visibilities that a non-member may see.
  public static func visible(to role: Role?) -> [Visibility] {
    Visibility.allCases.filter { rights(of: role, in: ForumStanding(visibility: $0)).contains(.see) }
  }

  /// The visibilities that a non-member may read.
  public static func readable(to role: Role?) -> [Visibility] {
    Visibility.allCases.filter { rights(of: role, in: ForumStanding(visibility: $0)).contains(.read) }
  }

  /// `role` is nil for a visitor.
  public static func rights(of role: Role?, in forum: ForumStanding) -> ForumRights {
    var rights: ForumRights = []
    let isMember = forum.role != nil
    let isReader =
      switch forum.visibility {
      case .public: true
      case .members: isMember || isFullUser(role) || forum.groupAccess != nil
      case .private: isMember || forum.groupAccess != nil
      }
    if isReader { rights.insert([.see, .read]) }
    // Staff manages every forum but reads a private one only as a member: joining is visible to the members.
    if role?.isStaff == true { rights.insert([.see, .manage, .arrange]) }
    guard isReader, let role else { return rights }
    // Guests cannot join by themselves. A group's access to a private forum ends with it, a membership would not.
    if isMember || isFullUser(role) && forum.visibility != .private { rights.insert(.join) }
    let moderates = role.isModerator || forum.role == .moderator || forum.role == .admin
    if moderates { rights.insert(.moderate) }
    if forum.role == .admin { rights.insert(.manage) }
    guard !forum.isArchived, !forum.isSilenced, !forum.isLocked || moderates else { return rights }
    // A group with read access does not write, even where the readers of the forum do.
    let readsWithoutGroup = isMember || forum.visibility == .public || forum.visibility == .members && isFullUser(role)
    let allows = { (policy: ForumPolicy) in
      switch policy {
      case .readers: isMember || moderates || role != .guest && readsWithoutGroup
      case .members: isMember || moderates
      case .moderators: moderates
      }
    }
    let writesByGroup = forum.groupAccess == .write
    if writesByGroup || allows(forum.write) { rights.insert(.write) }
    if writesByGroup || allows(forum.startTopics) { rights.insert(.startTopics) }
    if rights.contains(.write), allows(forum.roomMention) { rights.insert(.mentionRoom) }
    return rights
  }

  /// The permitted operations of a hypothetical user in a forum. Members are in the default forums, as each new one
  /// is, and in no other.
  public static func operations(of viewer: ForumViewer, in forum: Forum) -> [ForumAccess.Operation] {
    let role = viewer.role
    var standing = ForumStanding(forum)
    if forum.isDefault, role == .member { standing.role = .member }
    if case .group(let group) = viewer { standing.groupAccess = forum.access(of: group) }
    let rights = rights(of: role, in: standing)
    return ForumAccess.Operation.allCases.filter { operation in
      switch operation {
      case .see: rights.contains(.see)
      case .read: rights.contains(.read)
      case .react: maySetActions(role, in: Standing(kind: .room, forum: standing))
      case .write: rights.contains(.write)
      case .startTopics: rights.contains(.startTopics)
      case .mentionRoom: rights.contains(.mentionRoom)
      case .join: rights.contains(.join)
      }
    }
  }

  public static func rights(of role: Role?, in standing: Standing) -> Rights {
    var rights = standing.forum.map { rightsInForum($0, role, standing) } ?? rightsOutsideForum(role, standing)
    if standing.isSilenced { rights.remove(.write) }
    if !rights.contains(.write), mayReply(role, in: standing, rights) { rights.insert(.reply) }
    return rights
  }

  /// Readers reply to the posts of a feed, until its owner locks it.
  private static func mayReply(_ role: Role?, in standing: Standing, _ rights: Rights) -> Bool {
    standing.kind == .feed && rights.contains(.read) && isFullUser(role)
      && !standing.isLocked && !standing.isBlocked && !standing.isSilenced
  }

  /// Whether the caller may set public actions such as a like. Readers may, even where few may write.
  public static func maySetActions(_ role: Role?, in standing: Standing) -> Bool {
    let rights = rights(of: role, in: standing)
    let isAdmitted = standing.forum.map { $0.role != nil || $0.groupAccess != nil } ?? false
    let isInvited = standing.participant != nil || isAdmitted || standing.isOwner
    guard rights.contains(.read), isFullUser(role) || (role != nil && isInvited) else { return false }
    if standing.isSilenced || standing.isBlocked || standing.participant?.isRequest == true { return false }
    if standing.forum?.isArchived == true { return false }
    let isLocked = standing.isLocked || standing.forum?.isLocked == true
    return !isLocked || rights.contains(.moderate)
  }

  /// Whether the rules of the staff apply to the caller's posts: where others read without being invited. Moderators and
  /// bots are exempt.
  public static func obeysRules(_ role: Role?, in standing: Standing) -> Bool {
    guard let role, role != .bot, !role.isModerator else { return false }
    guard let forum = standing.forum else { return standing.readers != .listed }
    return forum.visibility != .private && (forum.role ?? .member) == .member
  }

  /// Whether the caller may see the revisions of a message.
  public static func maySeeRevisions(_ rights: Rights, isAuthor: Bool, isOpen: Bool) -> Bool {
    isAuthor || isOpen || rights.contains(.moderate)
  }

  /// The first readable message of the conversation.
  public static func fromSeq(of role: Role?, in standing: Standing) -> Int {
    if let participant = standing.participant, standing.forum == nil { return participant.fromSeq }
    // Groups are admitted to the whole history, as members added by a manager are.
    if standing.isOwner || standing.forum?.groupAccess != nil { return 1 }
    let open = isFullUser(role) ? standing.usersFromSeq : standing.anyoneFromSeq
    guard let forum = standing.forum, forum.role != nil else { return open }
    return forum.visibility == .private ? standing.memberFromSeq : min(standing.memberFromSeq, open)
  }

  /// A room or topic has the rights of its forum, except when it is locked.
  private static func rightsInForum(_ forum: ForumStanding, _ role: Role?, _ standing: Standing) -> Rights {
    let all = rights(of: role, in: forum)
    var rights: Rights = []
    if all.contains(.read) { rights.insert(.read) }
    if all.contains(.moderate) { rights.insert([.moderate, .manage]) }
    if all.contains(.write), !standing.isLocked || all.contains(.moderate) { rights.insert(.write) }
    return rights
  }

  /// A conversation outside of forums. Staff has no special rights in it.
  private static func rightsOutsideForum(_ role: Role?, _ standing: Standing) -> Rights {
    var rights: Rights = []
    let participant = standing.participant
    let isOpen =
      switch standing.readers {
      case .anyone: true
      case .users: isFullUser(role)
      case .listed: false
      }
    if isOpen || standing.isOwner || participant != nil { rights.insert(.read) }
    guard role != nil else { return rights }
    let leads = standing.isOwner || (participant?.role == .admin && standing.kind != .direct)
    if leads { rights.insert([.moderate, .manage]) }
    let mayWrite = standing.isOwner || (participant.map { $0.role != .reader && !$0.isRequest } ?? false)
    let isOpenToWrite = standing.writers == .users && isFullUser(role) && rights.contains(.read)
    if mayWrite || isOpenToWrite, !standing.isBlocked, !standing.isLocked || leads { rights.insert(.write) }
    return rights
  }

  // MARK: Creating and joining conversations

  public static func mayCreateConversations(_ role: Role?) -> Bool { isFullUser(role) }

  /// The outcome of a first message to a recipient.
  public enum Approach: Sendable, Hashable {
    /// Refused.
    case refused
    /// Sent as a request that the recipient must accept.
    case request
    case accepted
  }

  public static func approach(_ other: Acquaintance) -> Approach {
    guard !other.isBlocked else { return .refused }
    switch other.reachableBy {
    case .anyone: return other.isTogether || other.isFollowed ? .accepted : .request
    case .shared: return other.isTogether ? .accepted : .refused
    case .nobody: return .refused
    }
  }

  /// The role for joining an open channel, or nil. Guests cannot join by themselves.
  public static func joiningRole(of role: Role?, in standing: Standing) -> ParticipantRole? {
    guard isFullUser(role), standing.participant == nil, standing.kind == .channel else { return nil }
    let rights = rights(of: role, in: standing)
    guard rights.contains(.read) else { return nil }
    return standing.writers == .users ? .member : .reader
  }

  /// Whether the lists of readers and writers allow the change of role; nil is in neither list. An immutable list
  /// changes only when participants leave.
  public static func allowsListChange(
    from old: ParticipantRole?, to new: ParticipantRole?, in conversation: Conversation
  ) -> Bool {
    let (readers, writers) = (conversation.readers.isImmutable, conversation.writers.isImmutable)
    let wasWriter = old != nil && old != .reader
    let isWriter = new != nil && new != .reader
    if writers, wasWriter != isWriter { return false }
    return !readers || (old == .reader) == (new == .reader)
  }

  /// Whether the role is above guest.
  static func isFullUser(_ role: Role?) -> Bool { role != nil && role != .guest }
}

extension ForumViewer {
  fileprivate var role: Role? {
    switch self {
    case .visitor: nil
    case .guest: .guest
    case .newcomer, .group: .member
    }
  }
}
