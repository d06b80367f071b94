// Status of stored jobs.

public import ParleyModel
public import Storage

extension Community {
  /// All job kinds of this target, for the store that runs them.
  public static let jobs: [JobKind] = [
    .departure, .forumErasure, .forumLosses, .branchBan, .removal, .restoration,
    .notificationRemoval, .roomMentions, .branchMove, .rowMove, .groupRemoval, .groupAccess, .groupMentions,
    .fileDestruction, .roleAccess, .conversationRemoval, .forumNotice, .tagChange,
  ]

  /// The status of a job, for its creator and staff. Finished jobs are deleted after a while.
  public func getJob(_ id: ID<Job>, for caller: Caller) async throws(Refusal) -> JobView {
    let user = try caller.requireUser()
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let job = try tx.job(id), Permissions.maySeeJob(caller.role, isOwn: job.startedBy == user) else {
        throw .notFound
      }
      let state: JobView.State = job.finishedAt == nil ? .running : job.error == nil ? .finished : .failed
      let kind = Self.jobs.first { $0.name == job.kind }
      return JobView(
        id: id, kind: .init(rawValue: job.kind), state: state,
        progress: state == .finished ? 1 : try kind?.progress(of: job, tx) ?? 0, error: job.error,
        startedAt: job.startedAt, finishedAt: job.finishedAt)
    }
  }
}
