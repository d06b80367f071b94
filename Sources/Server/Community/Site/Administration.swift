// Site statistics and backups.

public import ParleyModel
import Storage

extension Community {
  /// Statistics for staff.
  public func getStatistics(for caller: Caller) async throws(Refusal) -> Statistics {
    _ = try caller.requireUser(.admin)
    let folder = store.folder
    return try await store.readInBackground { tx throws(Refusal) in
      guard try tx.reloadCaller(caller).role?.isStaff == true else { throw .forbidden }
      return try tx.statistics(of: folder)
    }
  }

  /// Starts a backup into a file in the data folder. Only one runs at a time. `program` is the version of Parley.
  ///
  /// - Returns: the backup, and the task that writes it.
  @discardableResult
  public func createBackup(
    program: String, by caller: Caller
  ) async throws(Refusal) -> (backup: StoredBackup, work: Task<Void, Never>) {
    let actor = try caller.requireUser(.admin)
    let store = store
    let backup = try await store.write { tx throws(Refusal) in
      guard try tx.reloadCaller(caller).role == .owner else { throw .forbidden }
      guard !store.isBackingUp else { throw .conflict }
      let backup = try tx.addBackup(by: actor)
      try tx.audit(.backupStarted, by: actor, subject: backup.id.number)
      return backup
    }
    return (backup, store.make(backup, program: program))
  }
}

extension CommunityView {
  /// The backups created through the API, newest first, for owners. Returns one more than `limit` if there are more.
  public func listBackups(
    before last: ID<StoredBackup>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [StoredBackup] {
    _ = try caller.requireUser(.admin)
    guard caller.role == .owner else { throw .forbidden }
    return try read { tx throws(Refusal) in
      try tx.backups(before: last, limit: limit + 1, in: community.store.folder)
    }
  }
}
