// Reads the audit log. It is append-only.

public import ParleyModel
import Storage

extension Community {
  /// Audit entries, newest first: all for site moderators, those of their forums for forum moderators.
  public func listAuditEntries(
    _ filter: AuditFilter, _ page: PageRequest, for caller: Caller
  ) async throws(Refusal) -> ListPage<AuditEntry> {
    _ = try caller.requireUser(.admin)
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if caller.role?.isModerator != true {
        guard let forum = filter.forum else { throw .forbidden }
        try tx.require(.moderate, caller, in: forum)
      }
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.audit(filter, slice) }
    }
  }
}
