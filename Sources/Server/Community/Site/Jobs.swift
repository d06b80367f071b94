// Large work that rules have started, for those who wait for it.

public import ParleyModel
public import Storage

extension Community {
  /// Every kind of large work that the rules start, for the store that carries it out.
  public static let jobs: [JobKind] = [
    .departure, .forumErasure, .forumLosses, .branchBan, .removal, .restoration,
    .inboxRemoval, .roomRinging, .branchMove,
  ]

  /// For who started it, and for the staff. What was done long ago is forgotten.
  public func job(_ id: ID<Job>, for caller: Caller) async throws(Refusal) -> SeenJob {
    let person = try caller.person()
    return try await store.readInBackground { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      guard let job = try tx.job(id), Permissions.maySeeJob(caller.role, isOwn: job.startedBy == person) else {
        throw .notFound
      }
      let state: SeenJob.State = job.finishedAt == nil ? .running : job.error == nil ? .finished : .failed
      let kind = Self.jobs.first { $0.name == job.kind }
      return SeenJob(
        id: id, kind: job.kind, state: state,
        progress: state == .finished ? 1 : try kind?.progress(of: job, tx) ?? 0, error: job.error,
        startedAt: job.startedAt, finishedAt: job.finishedAt)
    }
  }
}
