// Access to forums by groups of users. It changes with the lists of a forum, with the members of a group, and when either is
// deleted. The devices of each member get `forum.updated` in the user's stream, fetch the forum and keep or drop it.

import ParleyModel
import Storage

extension JobKind {
  static let groupAccess = JobKind("forum.groups") { (tx, change: inout GroupAccessChange) throws(Refusal) in
    try tx.sendNextChunk(&change)
  }
}

extension WriteTransaction {
  /// Members informed per job chunk.
  private static let chunkSize = 200

  /// Throws unless the new groups of a forum exist, have access to few others and are the caller's own: only staff may name
  /// other groups, since each member gets the forum.
  func checkGroups(of forum: Forum, since before: Forum, by caller: Caller, _ bounds: Bounds) throws(Refusal) {
    let actor = try caller.requireUser(.write)
    let isFree = Permissions.mayManageGroups(caller.role)
    for (groups, name) in [(forum.readGroups, "read_groups"), (forum.writeGroups, "write_groups")] {
      for group in groups where before.access(of: group) == nil {
        guard try userGroup(group) != nil else { throw .invalid(name, .unknown) }
        if !isFree { guard try isMember(actor, ofGroup: group) else { throw .forbidden } }
        guard try forumCount(ofGroup: group) < bounds.groupForums else { throw .tooMany(limit: bounds.groupForums) }
      }
    }
  }

  /// The private forums that a user can read only once the user is a member of a group.
  func privateForums(openedTo user: ID<User>, byGroup group: ID<UserGroup>) throws(Refusal) -> [ID<Forum>] {
    guard let role = try self.user(user)?.summary.role else { return [] }
    var opened: [ID<Forum>] = []
    for id in try forums(ofGroup: group) {
      guard let forum = try forum(id), forum.visibility == .private, forum.access(of: group) != nil,
        let standing = try standing(of: user, in: id)
      else { continue }
      if !Permissions.rights(of: role, in: standing).contains(.read) { opened.append(id) }
    }
    return opened
  }

  /// Informs the members of groups whose access to a forum has changed, in a stored job.
  func startGroupAccessChange(about forum: Forum, to groups: [ID<UserGroup>], by actor: ID<User>) throws(Refusal) {
    guard !groups.isEmpty else { return }
    _ = try startJob(
      kind: JobKind.groupAccess.name, subject: forum.id.number, by: actor,
      state: GroupAccessChange(of: forum.id, to: groups, by: actor))
  }

  /// Removes a user who has left a group from the conversations of its forums that the user can no longer read.
  func removeUnreadable(
    ofGroup group: ID<UserGroup>, _ user: ID<User>, by actor: ID<User>
  ) throws(Refusal) {
    for forum in try forums(ofGroup: group) { try removeUnreadable(of: forum, user, by: actor) }
  }

  /// Runs one chunk. Returns whether the job is finished.
  fileprivate func sendNextChunk(_ change: inout GroupAccessChange) throws(Refusal) -> Bool {
    guard let group = change.groups.first else { return true }
    let members = try members(ofGroup: group, after: change.user, limit: Self.chunkSize)
    for member in members { try logForumAccess(of: member, to: change.forum, by: change.actor) }
    if members.count == Self.chunkSize, let last = members.last {
      change.user = last
      return false
    }
    // A later job about the forum has not informed all members yet.
    if try openJobCount(.groupAccess, about: change.forum.number) == 1 {
      try forgetEndedAccess(of: group, to: change.forum)
    }
    change.groups.removeFirst()
    change.user = ID(0)
    return change.groups.isEmpty
  }
}
