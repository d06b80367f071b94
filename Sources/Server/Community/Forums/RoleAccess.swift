// Access to forums by the role on the site. A guest reads no forum of the members without being one. The user's devices get
// `forum.updated` for each forum that is gained or lost, as after a change of groups.

import ParleyModel
import Storage

extension JobKind {
  static let roleAccess = JobKind("forum.roles") { (tx, change: inout RoleAccessChange) throws(Refusal) in
    try tx.applyNextChunk(&change)
  }
}

extension WriteTransaction {
  /// Forums, and conversations that the user leaves, per job chunk.
  private static let chunkSize = 200

  /// Informs a user of the forums that another role opens or closes, and removes the user from the conversations of the
  /// latter, in a stored job.
  func startRoleAccessChange(
    of user: ID<User>, from before: Role, to after: Role, by actor: ID<User>
  ) throws(Refusal) {
    guard Permissions.readable(to: before) != Permissions.readable(to: after) else { return }
    _ = try startJob(
      kind: JobKind.roleAccess.name, subject: user.number, by: actor,
      state: RoleAccessChange(of: user, from: before, to: after, by: actor))
  }

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func applyNextChunk(_ change: inout RoleAccessChange) throws(Refusal) -> Bool {
    guard let role = try user(change.user)?.summary.role else { return true }
    let forums = try forumIDs(after: change.forum, limit: Self.chunkSize)
    var left = Self.chunkSize
    for forum in forums {
      if try isAffected(forum, by: change) {
        if try !mayRead(forum, change.user, role: role) {
          left -= try removeFromConversations(of: forum, change.user, limit: left, by: change.actor)
          guard left > 0 else { return false }
        }
        try logForumAccess(of: change.user, to: forum, by: change.actor)
      }
      change.forum = forum
      left -= 1
      guard left > 0 else { return false }
    }
    return forums.count < Self.chunkSize
  }

  private func isAffected(_ forum: ID<Forum>, by change: RoleAccessChange) throws(Refusal) -> Bool {
    guard let standing = try standing(of: change.user, in: forum) else { return false }
    let reads = { role in Permissions.rights(of: role, in: standing).contains(.read) }
    return reads(change.before) != reads(change.after)
  }
}
