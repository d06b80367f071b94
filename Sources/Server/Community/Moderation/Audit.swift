// Reads the audit log. It is append-only.

public import ParleyModel
import Storage

extension Community {
  /// Audit entries, newest first: all for site moderators, those of their forums for forum moderators. Returns one more
  /// than `limit` if there are more.
  public func listAuditEntries(
    _ filter: AuditFilter, before last: ID<AuditEntry>?, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [AuditEntry] {
    _ = try caller.requireUser(.admin)
    return try await store.readInBackground { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      if caller.role?.isModerator != true {
        guard let forum = filter.forum else { throw .forbidden }
        try tx.require(.moderate, caller, in: forum)
      }
      return try tx.audit(filter, before: last, limit: limit + 1)
    }
  }
}
