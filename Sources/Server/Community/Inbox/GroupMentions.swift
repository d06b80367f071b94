// Mentions of groups of users. Each member who may read the message is notified as if mentioned by name.

import ParleyModel
import Storage

extension JobKind {
  /// Notifies the members of a mentioned group beyond the first chunk.
  static let groupMentions = JobKind("group.mentions") { (tx, progress: inout GroupMentionProgress) throws(Refusal) in
    guard try tx.isLive(progress.message) else { return true }
    return try tx.notifyNextChunk(&progress)
  }
}

extension WriteTransaction {
  /// Members notified by the transaction of the message: five groups delay a post by 100 members at most.
  private static let membersAtOnce = 20
  /// Members notified per job chunk.
  private static let membersPerChunk = 100
  /// Milliseconds between two mentions of a large group.
  private static let groupMentionInterval = roomMentionInterval

  /// The groups named in a new message that the caller may mention, of the first `Bounds.groupMentions`.
  func groupsToMention(
    in text: ParsedText, in conversation: ID<Conversation>, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) -> Set<ID<UserGroup>> {
    guard let user = caller.user else { return [] }
    var groups: Set<ID<UserGroup>> = []
    for name in text.mentionedNames.sorted() where groups.count < bounds.groupMentions {
      guard let group = try userGroup(named: name),
        Permissions.mayMention(group, caller.role, isMember: try isMember(user, ofGroup: group.id))
      else { continue }
      if try memberCount(ofGroup: group.id) > bounds.freelyMentionedMembers {
        // A mention that notifies no other member does not use up the interval.
        let readers = try possibleReaders(ofGroup: group.id, in: conversation, after: ID(0), limit: 2)
        guard readers.contains(where: { $0 != user }) else { continue }
        guard try recordMention(of: group.id, minInterval: Self.groupMentionInterval) else { continue }
      }
      groups.insert(group.id)
    }
    return groups
  }

  /// Notifies the members of a mentioned group: the first chunk at once, the rest in a stored job.
  func notify(
    _ group: ID<UserGroup>, of message: ID<Message>, in conversation: ID<Conversation>, by author: ID<User>
  ) throws(Refusal) {
    var progress = GroupMentionProgress(group: group, message: message, conversation: conversation, author: author)
    guard try !notify(Self.membersAtOnce, of: &progress) else { return }
    _ = try startJob(kind: JobKind.groupMentions.name, subject: message.number, by: author, state: progress)
  }

  fileprivate func notifyNextChunk(_ progress: inout GroupMentionProgress) throws(Refusal) -> Bool {
    try notify(Self.membersPerChunk, of: &progress)
  }

  /// Returns whether all members are notified.
  private func notify(_ limit: Int, of progress: inout GroupMentionProgress) throws(Refusal) -> Bool {
    let members = try possibleReaders(
      ofGroup: progress.group, in: progress.conversation, after: progress.last, limit: limit)
    for member in members where member != progress.author {
      guard let found = try notificationCandidate(member, from: progress.author, in: progress.conversation),
        found.level != .nothing, try mayRead(member, progress.conversation)
      else { continue }
      try addNotification(
        .mention, of: member, in: progress.conversation, message: progress.message, by: progress.author,
        as: found)
    }
    progress.last = members.last ?? progress.last
    return members.count < limit
  }
}
