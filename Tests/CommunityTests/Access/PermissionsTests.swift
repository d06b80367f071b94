import ParleyModel
import Testing

@testable import Community

/// The permissions of each role in each kind of forum, written by hand. A changed row is a changed promise.
@Suite struct PermissionsTests {
  /// s see, r read, w write, t start topics, m moderate, a manage, p arrange.
  private static func letters(_ rights: ForumRights) -> String {
    let all: [(ForumRights, Character)] = [
      (.see, "s"), (.read, "r"), (.write, "w"), (.startTopics, "t"), (.moderate, "m"), (.manage, "a"), (.arrange, "p"),
    ]
    return String(all.filter { rights.contains($0.0) }.map(\.1))
  }

  private static let roles: [Role?] = [nil, .guest, .bot, .member, .moderator, .admin, .owner]

  /// Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (Visibility.public, ForumRole?.none, "sr sr srwt srwt srwtm srwtmap srwtmap"),
    (.public, .member, "sr srwt srwt srwt srwtm srwtmap srwtmap"),
    (.public, .moderator, "sr srwtm srwtm srwtm srwtm srwtmap srwtmap"),
    (.public, .admin, "sr srwtma srwtma srwtma srwtma srwtmap srwtmap"),
    (.members, nil, "- - srwt srwt srwtm srwtmap srwtmap"),
    (.members, .member, "sr srwt srwt srwt srwtm srwtmap srwtmap"),
    (.private, nil, "- - - - - sap sap"),
    (.private, .member, "sr srwt srwt srwt srwtm srwtmap srwtmap"),
    (.private, .admin, "sr srwtma srwtma srwtma srwtma srwtmap srwtmap"),
  ])
  func `rights in a forum`(visibility: Visibility, member: ForumRole?, row: String) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      let standing = ForumStanding(visibility: visibility, role: member)
      let found = Self.letters(Permissions.rights(of: role, in: standing))
      #expect((found.isEmpty ? "-" : found) == expected, "\(role.map { "\($0)" } ?? "nobody")")
    }
  }

  @Test(arguments: [
    (ForumPolicy.readers, "sr sr srw srw srwm srwmap srwmap"),
    (.members, "sr sr sr sr srwm srwmap srwmap"),
    (.moderators, "sr sr sr sr srwm srwmap srwmap"),
  ])
  func `write access follows the forum's policy`(policy: ForumPolicy, row: String) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      let standing = ForumStanding(visibility: .public, write: policy, startTopics: .moderators)
      let found = Self.letters(Permissions.rights(of: role, in: standing).subtracting(.startTopics))
      #expect(found == expected, "\(role.map { "\($0)" } ?? "nobody")")
    }
  }

  /// Beside what the visibility and the role give. Columns as above.
  @Test(arguments: [
    (Visibility.private, GroupAccess.read, ForumPolicy.readers, "sr sr sr sr srwtm srwtmap srwtmap"),
    (.private, .read, .members, "sr sr sr sr srwtm srwtmap srwtmap"),
    (.private, .write, .moderators, "sr srwt srwt srwt srwtm srwtmap srwtmap"),
    (.members, .read, .members, "sr sr sr sr srwtm srwtmap srwtmap"),
    (.public, .write, .members, "sr srwt srwt srwt srwtm srwtmap srwtmap"),
  ])
  func `a group gives access to a forum`(
    visibility: Visibility, access: GroupAccess, policy: ForumPolicy, row: String
  ) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      let standing = ForumStanding(visibility: visibility, write: policy, startTopics: policy, groupAccess: access)
      let rights = Permissions.rights(of: role, in: standing)
      #expect(Self.letters(rights) == expected, "\(role.map { "\($0)" } ?? "nobody")")
      // A membership would outlast the group.
      if visibility == .private { #expect(!rights.contains(.join)) }
      var topic = Standing(kind: .topic, forum: standing, usersFromSeq: 10, anyoneFromSeq: 20, memberFromSeq: 15)
      #expect(Permissions.fromSeq(of: role, in: topic) == 1)
      #expect(Permissions.maySetActions(role, in: topic) == (role != nil))
      topic.forum?.isArchived = true
      #expect(!Permissions.rights(of: role, in: topic).contains(.write))
    }
  }

  /// j joins, g posts `@room`. Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (ForumStanding(visibility: .public), "- - j j jg jg jg"),
    (ForumStanding(visibility: .members), "- - j j jg jg jg"),
    (ForumStanding(visibility: .private), "- - - - - - -"),
    (ForumStanding(visibility: .private, role: .member), "- j j j jg jg jg"),
    (ForumStanding(visibility: .private, role: .moderator), "- jg jg jg jg jg jg"),
    (ForumStanding(visibility: .public, roomMention: .readers), "- - jg jg jg jg jg"),
    (ForumStanding(visibility: .public, roomMention: .members, role: .member), "- jg jg jg jg jg jg"),
    (ForumStanding(visibility: .public, write: .members, roomMention: .readers), "- - j j jg jg jg"),
    (ForumStanding(visibility: .public, isArchived: true), "- - j j j j j"),
    (ForumStanding(visibility: .public, role: .admin, isSilenced: true), "- j j j j j j"),
  ])
  func `permissions to join and to mention the room`(standing: ForumStanding, row: String) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      // A visitor has no membership.
      var standing = standing
      if role == nil { standing.role = nil }
      let rights = Permissions.rights(of: role, in: standing)
      let found = (rights.contains(.join) ? "j" : "") + (rights.contains(.mentionRoom) ? "g" : "")
      #expect((found.isEmpty ? "-" : found) == expected, "\(role.map { "\($0)" } ?? "nobody")")
    }
  }

  /// m manages groups, j joins a self-chosen one. Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test func `permissions over groups of users`() {
    var group = UserGroup.blank
    for (isSelfChosen, row) in [(false, "- - - - - m m"), (true, "- - j j j mj mj")] {
      group.isSelfChosen = isSelfChosen
      for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
        let found = (Permissions.mayManageGroups(role) ? "m" : "") + (Permissions.mayJoin(group, role) ? "j" : "")
        #expect((found.isEmpty ? "-" : found) == expected, "\(role.map { "\($0)" } ?? "nobody")")
      }
    }
  }

  /// Columns: visitor, guest, bot, member, moderator, admin, owner; first as no member of the group, then as one.
  @Test(arguments: [
    (UserGroup.Mentioners.users, "--yyyyy", "-yyyyyy"), (.members, "-----yy", "-yyyyyy"),
    (.staff, "-----yy", "-----yy"),
  ])
  func `permissions to mention a group`(mentioners: UserGroup.Mentioners, others: String, members: String) {
    var group = UserGroup.blank
    group.mentionableBy = mentioners
    for (isMember, row) in [(false, others), (true, members)] {
      let found = Self.roles.map { Permissions.mayMention(group, $0, isMember: isMember) ? "y" : "-" }
      #expect(found.joined() == row)
    }
  }

  @Test func `a silenced user reads and moderates but can't post`() {
    let standing = ForumStanding(visibility: .public, role: .moderator, isSilenced: true)
    #expect(Permissions.rights(of: .member, in: standing) == [.see, .read, .join, .moderate])
  }

  /// Rows: the role of the target. Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (Role.guest, "- - - - r r r"), (.bot, "- - - - r r r"), (.member, "- - - - r r r"), (.moderator, "- - - - - r r"),
    (.admin, "- - - - - - r"), (.owner, "- - - - - - r"),
  ])
  func `permissions to warn, silence and ban`(other: Role, row: String) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      for state in UserState.allCases {
        let rights = Permissions.rights(of: role, over: UserStanding(role: other, state: state))
        let isThere = state != .pending && !state.hasGone
        #expect(rights.contains(.sanction) == (isThere && expected == "r"), "\(role.map { "\($0)" } ?? "nobody")")
      }
      #expect(!Permissions.rights(of: role, over: UserStanding(role: other, isSelf: true)).contains(.sanction))
    }
  }

  @Test func `moderators write in a locked forum, and an archived forum is read-only`() {
    for role in Role.allCases {
      let locked = Permissions.rights(of: role, in: ForumStanding(visibility: .public, isLocked: true))
      #expect(locked.contains(.write) == role.isModerator)
      let archived = Permissions.rights(of: role, in: ForumStanding(visibility: .public, isArchived: true))
      #expect(!archived.contains(.write) && archived.contains(.read))
    }
  }

  @Test(arguments: Self.roles)
  func `being staff opens no private conversation`(role: Role?) {
    for kind in [Conversation.Kind.direct, .group, .channel, .feed] {
      #expect(Permissions.rights(of: role, in: Standing(kind: kind)) == [])
    }
  }

  /// s see, i inspect, e edit, o own, g govern, d dismiss, f follow, a avoid, l list followed users.
  private static func letters(_ rights: UserRights) -> String {
    let all: [(UserRights, Character)] = [
      (.see, "s"), (.inspect, "i"), (.edit, "e"), (.own, "o"), (.govern, "g"), (.dismiss, "d"), (.follow, "f"),
      (.muteAndBlock, "a"), (.seeFollowing, "l"),
    ]
    return String(all.filter { rights.contains($0.0) }.map(\.1))
  }

  /// Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (UserStanding(role: .member), "- - sfal sfal sifal siegdfal siegdfal"),
    (UserStanding(role: .member, isTogether: true), "- sfa sfal sfal sifal siegdfal siegdfal"),
    (UserStanding(role: .member, isInPublic: true), "s sfa sfal sfal sifal siegdfal siegdfal"),
    (UserStanding(role: .member, isBlocked: true), "- - sal sal sial siegdal siegdal"),
    (UserStanding(role: .moderator), "- - sfal sfal sifal siegdfal siegdfal"),
    (UserStanding(role: .admin), "- - sfal sfal sifal sifal siegdfal"),
    (UserStanding(role: .owner), "- - sfal sfal sifal sifal siegdfal"),
    (UserStanding(role: .member, state: .pending), "- - - - si siegd siegd"),
    (UserStanding(role: .member, state: .disabled), "- - sal sal sial siegdal siegdal"),
    (UserStanding(role: .member, state: .deactivated), "- - sfal sfal sifal siegdfal siegdfal"),
    (UserStanding(role: .member, state: .left), "s s s s si sid sid"),
    (UserStanding(role: .member, state: .erased), "s s s s si sid sid"),
  ])
  func `rights over another user`(standing: UserStanding, row: String) {
    for (role, expected) in zip(Self.roles, row.split(separator: " ")) {
      let found = Self.letters(Permissions.rights(of: role, over: standing))
      #expect((found.isEmpty ? "-" : found) == expected, "\(role.map { "\($0)" } ?? "nobody")")
    }
  }

  @Test func `users look up addresses, bots and guests don't`() {
    #expect(String(Self.roles.map { Permissions.mayDiscover($0) ? "y" : "-" }) == "---yyyy")
  }

  @Test func `users own themselves, and only an owner governs themselves`() {
    for role in Role.allCases {
      let rights = Permissions.rights(of: role, over: UserStanding(role: role, isSelf: true))
      #expect(Self.letters(rights) == (role == .owner ? "sieogdl" : "sieol"))
    }
  }

  /// Rows: the role of the caller. Columns: guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (Role?.none, "------"), (.guest, "------"), (.bot, "------"), (.member, "------"), (.moderator, "------"),
    (.admin, "yyyy--"), (.owner, "yyyyyy"),
  ])
  func `permissions to assign roles`(role: Role?, row: String) {
    let given: [Role] = [.guest, .bot, .member, .moderator, .admin, .owner]
    #expect(String(given.map { Permissions.mayAssign($0, by: role) ? "y" : "-" }) == row)
  }

  @Test(arguments: [
    (SiteSettings.Circle.users, "--yyyyy"), (.moderators, "----yyy"), (.staff, "-----yy"),
  ])
  func `roles in each circle`(circle: SiteSettings.Circle, row: String) {
    #expect(String(Self.roles.map { Permissions.includes(circle, $0) ? "y" : "-" }) == row)
  }

  @Test func `a participant reads and writes, a reader reads, an admin manages`() {
    let roles: [(ParticipantRole, Rights)] = [
      (.reader, [.read]), (.member, [.read, .write]), (.admin, [.read, .write, .moderate, .manage]),
    ]
    for (role, rights) in roles {
      let standing = Standing(kind: .group, participant: .init(role: role))
      #expect(Permissions.rights(of: .member, in: standing) == rights)
      #expect(Permissions.rights(of: .guest, in: standing) == rights)
    }
  }

  @Test func `a direct conversation has no admin`() {
    let standing = Standing(kind: .direct, participant: .init(role: .admin))
    #expect(Permissions.rights(of: .member, in: standing) == [.read, .write])
  }

  @Test func `a request, a block, a silence and a lock each prevent posting`() {
    let member = Standing.Participation(role: .member)
    #expect(
      !Permissions.rights(of: .member, in: Standing(kind: .direct, participant: .init(isRequest: true)))
        .contains(.write))
    for standing in [
      Standing(kind: .direct, participant: member, isBlocked: true),
      Standing(kind: .group, participant: member, isSilenced: true),
      Standing(kind: .group, isLocked: true, participant: member),
    ] {
      #expect(Permissions.rights(of: .member, in: standing) == [.read])
    }
  }

  @Test func `a channel may be open to readers and to writers`() {
    let open = Standing(kind: .channel, readers: .anyone, writers: .users)
    #expect(Permissions.rights(of: nil, in: open) == [.read])
    #expect(Permissions.rights(of: .guest, in: open) == [.read])
    #expect(Permissions.rights(of: .member, in: open) == [.read, .write])
    let toUsers = Standing(kind: .channel, readers: .users)
    #expect(Permissions.rights(of: nil, in: toUsers) == [])
    #expect(Permissions.rights(of: .member, in: toUsers) == [.read])
  }

  /// Columns: visitor, guest, bot, member, moderator, admin, owner.
  @Test(arguments: [
    (Standing(kind: .room, forum: ForumStanding(visibility: .public)), "--yyyyy"),
    (Standing(kind: .room, forum: ForumStanding(visibility: .public, role: .member)), "-yyyyyy"),
    (Standing(kind: .room, forum: ForumStanding(visibility: .members, write: .moderators)), "--yyyyy"),
    (Standing(kind: .topic, forum: ForumStanding(visibility: .private)), "-------"),
    (Standing(kind: .room, forum: ForumStanding(visibility: .public, isLocked: true)), "----yyy"),
    (Standing(kind: .room, forum: ForumStanding(visibility: .public, isArchived: true)), "-------"),
    (Standing(kind: .topic, isLocked: true, forum: ForumStanding(visibility: .public)), "----yyy"),
    (Standing(kind: .room, forum: ForumStanding(visibility: .public), isSilenced: true), "-------"),
    (Standing(kind: .direct, participant: .init()), "-yyyyyy"),
    (Standing(kind: .direct, participant: .init(), isBlocked: true), "-------"),
    (Standing(kind: .direct, participant: .init(isRequest: true)), "-------"),
    (Standing(kind: .group, isLocked: true, participant: .init()), "-------"),
    (Standing(kind: .channel, readers: .anyone, participant: .init(role: .reader)), "-yyyyyy"),
    (Standing(kind: .channel, readers: .anyone), "--yyyyy"),
    (Standing(kind: .feed, readers: .users, isOwner: true), "-yyyyyy"),
  ])
  func `permissions to set public actions`(standing: Standing, row: String) {
    #expect(String(Self.roles.map { Permissions.maySetActions($0, in: standing) ? "y" : "-" }) == row)
  }

  @Test func `the author and moderators read revisions unless they are open to all`() {
    for (rights, isAuthor, isOpen, sees) in [
      (Rights.read, false, false, false), ([.read, .write], false, false, false), (.read, true, false, true),
      (.read, false, true, true), ([.read, .moderate], false, false, true),
    ] {
      #expect(Permissions.maySeeRevisions(rights, isAuthor: isAuthor, isOpen: isOpen) == sees)
    }
  }

  @Test func `history begins where it was opened for each kind of reader`() {
    let forum = ForumStanding(visibility: .public)
    var conversation = Standing(kind: .room, forum: forum, usersFromSeq: 10, anyoneFromSeq: 20)
    #expect(Permissions.fromSeq(of: nil, in: conversation) == 20)
    #expect(Permissions.fromSeq(of: .guest, in: conversation) == 20)
    #expect(Permissions.fromSeq(of: .member, in: conversation) == 10)
    conversation.forum?.role = .member
    #expect(Permissions.fromSeq(of: .member, in: conversation) == 1)
    // A user that joined reads the history open at that time and the history open now.
    conversation.memberFromSeq = 15
    #expect(Permissions.fromSeq(of: .member, in: conversation) == 10)
    #expect(Permissions.fromSeq(of: .guest, in: conversation) == 15)
    conversation.forum?.visibility = .private
    #expect(Permissions.fromSeq(of: .member, in: conversation) == 15)
    let group = Standing(kind: .group, participant: .init(fromSeq: 7))
    #expect(Permissions.fromSeq(of: .member, in: group) == 7)
  }
}
