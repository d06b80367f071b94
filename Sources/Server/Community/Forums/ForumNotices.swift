// Changes of private forums. The site's stream has none of them, so the devices of each reader get `forum.updated` in the
// user's stream, and fetch the forum.

import ParleyModel
import Storage

extension JobKind {
  static let forumNotice = JobKind("forum.notice") { (tx, notice: inout ForumNotice) throws(Refusal) in
    try tx.sendNextChunk(&notice)
  }
}

extension WriteTransaction {
  /// Readers informed per job chunk.
  private static let chunkSize = 200

  /// Informs the readers of a forum that was and stays private of its change, in a stored job. The job of changed groups
  /// informs the members of these.
  func startNotice(of forum: Forum, since before: Forum, by actor: ID<User>) throws(Refusal) {
    guard forum.visibility == .private, before.visibility == .private else { return }
    let changed = forum.groups(changedFrom: before)
    let groups = forum.groups.filter { !changed.contains($0) }
    _ = try startJob(
      kind: JobKind.forumNotice.name, subject: forum.id.number, by: actor,
      state: ForumNotice(of: forum.id, to: groups, by: actor))
  }

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func sendNextChunk(_ notice: inout ForumNotice) throws(Refusal) -> Bool {
    guard let readers = try nextReaders(of: notice) else { return true }
    for reader in readers { try logForumAccess(of: reader, to: notice.forum, by: notice.actor) }
    if readers.count == Self.chunkSize, let last = readers.last {
      notice.user = last
      return false
    }
    notice.user = ID(0)
    if notice.hasMembers { notice.groups.removeFirst() }
    notice.hasMembers = true
    return notice.groups.isEmpty
  }

  private func nextReaders(of notice: ForumNotice) throws(Refusal) -> [ID<User>]? {
    guard notice.hasMembers else {
      let slice = ListSlice(after: ListKey([notice.user.number]), limit: Self.chunkSize)
      return try members(of: notice.forum, slice).map(\.user.id)
    }
    guard let group = notice.groups.first else { return nil }
    return try members(ofGroup: group, after: notice.user, limit: Self.chunkSize)
  }
}
