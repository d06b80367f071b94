// Who may do what. Everything that is allowed or not is said here, as a function of a role and a standing, and of nothing
// else: so that it can be read in one go and tested as a table.

public import ParleyModel

/// What somebody may do with a forum.
public struct ForumRights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Knows that it is there: its title, icon and description.
  public static let see = ForumRights(rawValue: 1)
  /// Reads its room and topics.
  public static let read = ForumRights(rawValue: 2)
  public static let write = ForumRights(rawValue: 4)
  public static let startTopics = ForumRights(rawValue: 8)
  /// Removes, pins, locks, silences.
  public static let moderate = ForumRights(rawValue: 16)
  /// Changes the forum itself, and who is in it.
  public static let manage = ForumRights(rawValue: 32)
  /// Says where it stands among the others.
  public static let arrange = ForumRights(rawValue: 64)
  /// Becomes a member by themselves.
  public static let join = ForumRights(rawValue: 128)
  /// Rings all members at once.
  public static let ring = ForumRights(rawValue: 256)
}

/// What somebody may do with a conversation.
public struct Rights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let read = Rights(rawValue: 1)
  public static let write = Rights(rawValue: 2)
  /// Removes what others wrote, pins, locks.
  public static let moderate = Rights(rawValue: 4)
  /// Changes its title and annotations, and who takes part.
  public static let manage = Rights(rawValue: 8)
}

/// What somebody may do with a person.
public struct AccountRights: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Sees the name and the profile.
  public static let see = AccountRights(rawValue: 1)
  /// Sees how the person stands with the place.
  public static let inspect = AccountRights(rawValue: 2)
  /// Changes the profile.
  public static let edit = AccountRights(rawValue: 4)
  /// Sees and changes what concerns the person alone.
  public static let own = AccountRights(rawValue: 8)
  /// Gives a role, keeps out, lets in, helps with a lost password.
  public static let govern = AccountRights(rawValue: 16)
  /// Sends away for good; who has gone, too, to have everything erased.
  public static let dismiss = AccountRights(rawValue: 32)
  /// Is told what they post.
  public static let follow = AccountRights(rawValue: 64)
  /// Mutes and blocks.
  public static let avoid = AccountRights(rawValue: 128)
  /// Sees whom they follow, and who follows them.
  public static let seeFollowing = AccountRights(rawValue: 256)
  /// Warns, silences, bans.
  public static let restrain = AccountRights(rawValue: 512)
}

public enum Permissions {
  public static func rights(of role: Role?, over other: AccountStanding) -> AccountRights {
    var rights: AccountRights = []
    if other.isSelf { rights.insert([.see, .inspect, .edit, .own, .seeFollowing]) }
    // Of who has gone nothing is left that anyone could not see.
    let isInView = isPerson(role) || other.isInPublic || (role != nil && other.isTogether) || other.state.hasGone
    if other.state != .waiting, isInView { rights.insert(.see) }
    guard let role else { return rights }
    if role.keepsOrder { rights.insert([.see, .inspect]) }
    let isAbove = role == .owner || other.role.isBelow(role)
    if isAbove, role.isStaff { rights.insert(.dismiss) }
    if isAbove, role.isStaff, !other.state.hasGone { rights.insert([.edit, .govern]) }
    if isAbove, role.keepsOrder, !other.isSelf, other.state != .waiting, !other.state.hasGone {
      rights.insert(.restrain)
    }
    return rights.union(company(of: role, with: other, isSeen: rights.contains(.see)))
  }

  private static func company(of role: Role, with other: AccountStanding, isSeen: Bool) -> AccountRights {
    var rights: AccountRights = []
    guard isSeen, !other.state.hasGone, other.state != .waiting else { return rights }
    if isPerson(role) { rights.insert(.seeFollowing) }
    guard !other.isSelf else { return rights }
    rights.insert(.avoid)
    if !other.isBlocked, other.state != .disabled { rights.insert(.follow) }
    return rights
  }

  /// Who may look people up by an address: not programs, which would look up everyone.
  public static func mayDiscover(_ role: Role?) -> Bool { isPerson(role) && role != .bot }

  /// Whether somebody may make another one this: owners whatever they like, staff what is below them.
  public static func mayGive(_ given: Role, by role: Role?) -> Bool {
    guard let role, role.isStaff else { return false }
    return role == .owner || given.isBelow(role)
  }

  /// Whether an invite of theirs may make somebody this. An invite makes no owner and no program.
  public static func mayInvite(as invited: Role, by role: Role?, _ circle: PlaceSettings.Circle) -> Bool {
    guard isIn(circle, role) else { return false }
    switch invited {
    case .owner, .bot: return false
    case .member, .guest: return true
    case .admin, .moderator: return mayGive(invited, by: role)
    }
  }

  /// Whether somebody is among those who may do something at the place.
  public static func isIn(_ circle: PlaceSettings.Circle, _ role: Role?) -> Bool {
    switch circle {
    case .people: isPerson(role)
    case .moderators: role?.keepsOrder == true
    case .staff: role?.isStaff == true
    }
  }

  /// Whether somebody may know how far large work has come.
  public static func maySeeJob(_ role: Role?, isOwn: Bool) -> Bool { isOwn || role?.isStaff == true }

  /// Which forums are seen by who is not a member of them.
  public static func visible(to role: Role?) -> [Visibility] {
    Visibility.allCases.filter { rights(of: role, in: ForumStanding(visibility: $0)).contains(.see) }
  }

  /// Which forums are read by who is not a member of them.
  public static func readable(to role: Role?) -> [Visibility] {
    Visibility.allCases.filter { rights(of: role, in: ForumStanding(visibility: $0)).contains(.read) }
  }

  /// `role` is nil for nobody.
  public static func rights(of role: Role?, in forum: ForumStanding) -> ForumRights {
    var rights: ForumRights = []
    let isMember = forum.role != nil
    let isReader =
      switch forum.visibility {
      case .public: true
      case .members: isMember || isPerson(role)
      case .private: isMember
      }
    if isReader { rights.insert([.see, .read]) }
    // Staff looks after every forum, but reads a private one only as a member: that they joined, everyone there sees.
    if role?.isStaff == true { rights.insert([.see, .manage, .arrange]) }
    guard isReader, let role else { return rights }
    // A guest is brought by others.
    if isMember || isPerson(role) { rights.insert(.join) }
    let moderates = role.keepsOrder || forum.role == .moderator || forum.role == .admin
    if moderates { rights.insert(.moderate) }
    if forum.role == .admin { rights.insert(.manage) }
    guard !forum.isArchived, !forum.isSilenced, !forum.isLocked || moderates else { return rights }
    let allows = { (policy: ForumPolicy) in
      switch policy {
      case .readers: isMember || role != .guest
      case .members: isMember || moderates
      case .moderators: moderates
      }
    }
    if allows(forum.write) { rights.insert(.write) }
    if allows(forum.startTopics) { rights.insert(.startTopics) }
    if allows(forum.write), allows(forum.ring) { rights.insert(.ring) }
    return rights
  }

  public static func rights(of role: Role?, in place: Standing) -> Rights {
    var rights = place.forum.map { rightsInForum($0, role, place) } ?? rightsApart(role, place)
    if place.isSilenced { rights.remove(.write) }
    return rights
  }

  /// Whether somebody may set marks that others see, such as a like: who reads may, also where few write.
  public static func mayMark(_ role: Role?, in place: Standing) -> Bool {
    let rights = rights(of: role, in: place)
    let isInvited = place.participant != nil || place.forum?.role != nil || place.isOwner
    guard rights.contains(.read), isPerson(role) || (role != nil && isInvited) else { return false }
    if place.isSilenced || place.isBlocked || place.participant?.isRequest == true { return false }
    if place.forum?.isArchived == true { return false }
    let isLocked = place.isLocked || place.forum?.isLocked == true
    return !isLocked || rights.contains(.moderate)
  }

  /// Whether somebody may see what a message of theirs, or of others, said before it was edited.
  public static func maySeeRevisions(_ rights: Rights, isAuthor: Bool, isOpen: Bool) -> Bool {
    isAuthor || isOpen || rights.contains(.moderate)
  }

  /// Where somebody's history begins.
  public static func fromSeq(of role: Role?, in place: Standing) -> Int {
    if let participant = place.participant, place.forum == nil { return participant.fromSeq }
    if place.isOwner { return 1 }
    let open = isPerson(role) ? place.peopleFromSeq : place.anyoneFromSeq
    guard let forum = place.forum, forum.role != nil else { return open }
    return forum.visibility == .private ? place.memberFromSeq : min(place.memberFromSeq, open)
  }

  /// A room or a topic: the forum alone decides, but for a lock of its own.
  private static func rightsInForum(_ forum: ForumStanding, _ role: Role?, _ place: Standing) -> Rights {
    let all = rights(of: role, in: forum)
    var rights: Rights = []
    if all.contains(.read) { rights.insert(.read) }
    if all.contains(.moderate) { rights.insert([.moderate, .manage]) }
    if all.contains(.write), !place.isLocked || all.contains(.moderate) { rights.insert(.write) }
    return rights
  }

  /// A conversation that stands by itself. Being staff of the site opens none of them.
  private static func rightsApart(_ role: Role?, _ place: Standing) -> Rights {
    var rights: Rights = []
    let participant = place.participant
    let isOpen =
      switch place.readers {
      case .anyone: true
      case .people: isPerson(role)
      case .listed: false
      }
    if isOpen || place.isOwner || participant != nil { rights.insert(.read) }
    guard role != nil else { return rights }
    let leads = place.isOwner || (participant?.role == .admin && place.kind != .direct)
    if leads { rights.insert([.moderate, .manage]) }
    let mayWrite = place.isOwner || (participant.map { $0.role != .reader && !$0.isRequest } ?? false)
    let isOpenToWrite = place.writers == .people && isPerson(role) && rights.contains(.read)
    if mayWrite || isOpenToWrite, !place.isBlocked, !place.isLocked || leads { rights.insert(.write) }
    return rights
  }

  // MARK: Beginning a conversation, and taking part

  public static func mayBeginConversations(_ role: Role?) -> Bool { isPerson(role) }

  /// How somebody's first words reach another.
  public enum Approach: Sendable, Hashable {
    /// Not at all.
    case refused
    /// Until the other takes them.
    case waiting
    case welcome
  }

  public static func approach(_ other: Acquaintance) -> Approach {
    guard !other.isBlocked else { return .refused }
    switch other.reachableBy {
    case .anyone: return other.isTogether || other.isFollowed ? .welcome : .waiting
    case .shared: return other.isTogether ? .welcome : .refused
    case .nobody: return .refused
    }
  }

  /// As what somebody may join by themselves what is open to them: with no more than they may do anyway. Guests come only
  /// where they were invited to.
  public static func joiningRole(of role: Role?, in place: Standing) -> ParticipantRole? {
    guard isPerson(role), place.participant == nil, place.kind == .channel else { return nil }
    let rights = rights(of: role, in: place)
    guard rights.contains(.read) else { return nil }
    return place.writers == .people ? .member : .reader
  }

  /// Whether the lists of readers and writers allow that somebody changes places in them; nil is in neither. A list that
  /// is settled gains nobody and loses nobody, but by leaving.
  public static func mayList(
    from old: ParticipantRole?, to new: ParticipantRole?, in conversation: Conversation
  ) -> Bool {
    let (readers, writers) = (conversation.readers.isImmutable, conversation.writers.isImmutable)
    let wasWriter = old != nil && old != .reader
    let isWriter = new != nil && new != .reader
    if writers, wasWriter != isWriter { return false }
    return !readers || (old == .reader) == (new == .reader)
  }

  /// Somebody with an account who is not a guest.
  private static func isPerson(_ role: Role?) -> Bool { role != nil && role != .guest }
}
