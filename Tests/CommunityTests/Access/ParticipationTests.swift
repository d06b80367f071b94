import ParleyModel
import Testing

@testable import Community

/// Permissions to start and join conversations, written by hand like the others.
@Suite struct ParticipationTests {
  private static let roles: [Role?] = [nil, .guest, .bot, .member, .moderator, .admin, .owner]

  @Test func `users and bots create conversations, guests don't`() {
    #expect(String(Self.roles.map { Permissions.mayCreateConversations($0) ? "y" : "-" }) == "--yyyyy")
  }

  /// Columns: a stranger, a followed user, a user with a shared forum, the same after a block.
  @Test(arguments: [
    (Reach.anyone, [Permissions.Approach.request, .accepted, .accepted, .refused]),
    (.shared, [.refused, .refused, .accepted, .refused]),
    (.nobody, [.refused, .refused, .refused, .refused]),
  ])
  func `a first message follows the recipient's contact policy`(reach: Reach, expected: [Permissions.Approach]) {
    let others = [
      Acquaintance(reachableBy: reach), Acquaintance(reachableBy: reach, isFollowed: true),
      Acquaintance(reachableBy: reach, isTogether: true),
      Acquaintance(reachableBy: reach, isBlocked: true, isFollowed: true, isTogether: true),
    ]
    #expect(others.map { Permissions.approach($0) } == expected)
  }

  /// Columns: visitor, guest, bot, member, moderator, admin, owner; r joins as a reader, m as a member.
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
  func `joining an open channel grants no more than the role allows`(standing: Standing, row: String) {
    let found = Self.roles.map { role -> Character in
      Permissions.joiningRole(of: role, in: standing).flatMap { "\($0)".first } ?? "-"
    }
    #expect(String(found) == row)
  }

  /// Columns: from no role, reader, member and admin, each to no role, reader, member, admin.
  @Test(arguments: [
    (false, false, "yyyy yyyy yyyy yyyy"),
    // The writers are fixed; readers join and leave.
    (false, true, "yy-- yy-- --yy --yy"),
    // The readers are fixed; writers join and leave.
    (true, false, "y-yy -y-- y-yy y-yy"),
    (true, true, "y--- -y-- --yy --yy"),
  ])
  func `an immutable list neither gains nor loses members`(readers: Bool, writers: Bool, row: String) {
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
  @Test func `forums readable without membership`() {
    let rows = Self.roles.map { role in
      String(Visibility.allCases.map { Permissions.readable(to: role).contains($0) ? "y" : "-" })
    }
    #expect(rows == ["y--", "y--", "yy-", "yy-", "yy-", "yy-", "yy-"])
  }
}
