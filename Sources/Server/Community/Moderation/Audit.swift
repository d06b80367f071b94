// Looking up who did what, and why. It can be read, and there is no way to change it.

public import ParleyModel
import Storage

extension Community {
  /// The newest first, one more than `limit`, where there are more: all for those who keep order at the place, what
  /// was done in a forum for those who keep order there.
  public func audit(
    _ filter: AuditFilter, before last: ID<AuditEntry>?, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [AuditEntry] {
    _ = try caller.person(for: .admin)
    return try await store.readInBackground { tx throws(Refusal) in
      let caller = try tx.renewed(caller)
      if caller.role?.keepsOrder != true {
        guard let forum = filter.forum else { throw .forbidden }
        try tx.require(.moderate, caller, in: forum)
      }
      return try tx.audit(filter, before: last, limit: limit + 1)
    }
  }
}
