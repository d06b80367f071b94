// What those ask and want done who look after the place as a whole.

public import ParleyModel
import Storage

extension Community {
  /// A few facts, for the staff.
  public func statistics(for caller: Caller) async throws(Refusal) -> Statistics {
    _ = try caller.person(for: .admin)
    let folder = store.folder
    return try await store.readInBackground { tx throws(Refusal) in
      guard try tx.renewed(caller).role?.isStaff == true else { throw .forbidden }
      return try tx.statistics(of: folder)
    }
  }

  /// Begins to copy everything to a file in the data folder; one at a time. `program` is the version of Parley.
  ///
  /// - Returns: the backup, and the work, which nobody has to wait for.
  @discardableResult
  public func backUp(
    program: String, by caller: Caller
  ) async throws(Refusal) -> (backup: StoredBackup, work: Task<Void, Never>) {
    let actor = try caller.person(for: .admin)
    let store = store
    let backup = try await store.write { tx throws(Refusal) in
      guard try tx.renewed(caller).role == .owner else { throw .forbidden }
      guard !store.isBackingUp else { throw .conflict }
      let backup = try tx.addBackup(by: actor)
      try tx.audit(.backupStarted, by: actor, subject: backup.id.number)
      return backup
    }
    return (backup, store.make(backup, program: program))
  }
}

extension CommunityView {
  /// What was made through the API, the newest first: one more than `limit`, where there are more. For owners.
  public func backups(
    before last: ID<StoredBackup>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [StoredBackup] {
    _ = try caller.person(for: .admin)
    guard caller.role == .owner else { throw .forbidden }
    return try read { tx throws(Refusal) in
      try tx.backups(before: last, limit: limit + 1, in: community.store.folder)
    }
  }
}
