import ParleyModel
import Testing

@testable import Community

/// Who may begin a conversation with whom, and who comes into one. Written down by hand, as the other permissions are.
@Suite struct TakingPartTests {
  private static let roles: [Role?] = [nil, .guest, .bot, .member, .moderator, .admin, .owner]

  @Test func `everyone with an user begins conversations, but guests`() {
    #expect(String(Self.roles.map { Permissions.mayCreateConversations($0) ? "y" : "-" }) == "--yyyyy")
  }

  /// Rows: a stranger, whom the other follows, who is with them, the same after a block.
  @Test(arguments: [
    (Reach.anyone, [Permissions.Approach.request, .accepted, .accepted, .refused]),
    (.shared, [.refused, .refused, .accepted, .refused]),
    (.nobody, [.refused, .refused, .refused, .refused]),
  ])
  func `first words reach another as that one wishes`(reach: Reach, expected: [Permissions.Approach]) {
    let others = [
      Acquaintance(reachableBy: reach), Acquaintance(reachableBy: reach, isFollowed: true),
      Acquaintance(reachableBy: reach, isTogether: true),
      Acquaintance(reachableBy: reach, isBlocked: true, isFollowed: true, isTogether: true),
    ]
    #expect(others.map { Permissions.approach($0) } == expected)
  }

  /// Columns: nobody, guest, bot, member, moderator, admin, owner; r joins as a reader, m as a member.
  @Test(arguments: [
    (Standing(kind: .channel, readers: .anyone), "--rrrrr"),
    (Standing(kind: .channel, readers: .users), "--rrrrr"),
    (Standing(kind: .channel, readers: .anyone, writers: .users), "--mmmmm"),
    (Standing(kind: .channel), "-------"),
    (Standing(kind: .group, readers: .users), "-------"),
    (Standing(kind: .feed, readers: .users), "-------"),
    (Standing(kind: .channel, readers: .users, participant: .init(role: .reader)), "-------"),
    (Standing(kind: .topic, forum: ForumStanding(visibility: .public)), "-------"),
  ])
  func `an open channel is joined with no more than one may do anyway`(place: Standing, row: String) {
    let found = Self.roles.map { role -> Character in
      Permissions.joiningRole(of: role, in: place).flatMap { "\($0)".first } ?? "-"
    }
    #expect(String(found) == row)
  }

  /// Columns: from nothing, reader, member and admin, each to nothing, reader, member, admin.
  @Test(arguments: [
    (false, false, "yyyy yyyy yyyy yyyy"),
    // Writers are settled, readers come and go.
    (false, true, "yy-- yy-- --yy --yy"),
    // Readers are settled, writers come and go.
    (true, false, "y-yy -y-- y-yy y-yy"),
    (true, true, "y--- -y-- --yy --yy"),
  ])
  func `a list that is settled gains and loses nobody`(readers: Bool, writers: Bool, row: String) {
    let conversation = Conversation(
      id: ID(1), kind: .channel, readers: .init(isImmutable: readers), writers: .init(isImmutable: writers),
      createdBy: ID(2), createdAt: 0)
    let roles: [ParticipantRole?] = [nil, .reader, .member, .admin]
    let found = roles.map { old in
      String(roles.map { Permissions.allowsListChange(from: old, to: $0, in: conversation) ? "y" : "-" })
    }
    #expect(found.joined(separator: " ") == row)
  }

  /// Columns: public, members, private.
  @Test func `which forums are read without being a member`() {
    let rows = Self.roles.map { role in
      String(Visibility.allCases.map { Permissions.readable(to: role).contains($0) ? "y" : "-" })
    }
    #expect(rows == ["y--", "y--", "yy-", "yy-", "yy-", "yy-", "yy-"])
  }
}
