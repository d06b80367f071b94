// Site statistics and backups.

public import ParleyModel
import Storage

extension Community {
  /// Statistics for staff.
  public func getStatistics(for caller: Caller) async throws(Refusal) -> Statistics {
    _ = try caller.requireUser(.admin)
    let folder = store.folder
    let statistics = try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.requireStaff(caller)
      return try tx.statistics(of: folder)
    }
    return try await store.measureFolder(statistics)
  }

  /// The maximum number of backups in the data folder. An owner deletes one before the next is created.
  static let maxBackups = 10

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
      try tx.requireProof(of: caller)
      guard !store.isBackingUp else { throw .conflict }
      guard try tx.backupFileCount(in: store.folder) < Self.maxBackups else { throw .tooMany(limit: Self.maxBackups) }
      let backup = try tx.addBackup(by: actor)
      try tx.audit(.backupStarted, by: actor, subject: backup.id.number)
      return backup
    }
    return (backup, store.make(backup, program: program))
  }

  /// Deletes a backup and its file, for owners. No-op if it does not exist.
  public func deleteBackup(_ id: ID<StoredBackup>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    let store = store
    let found = try await store.write { tx throws(Refusal) in
      guard try tx.reloadCaller(caller).role == .owner else { throw .forbidden }
      try tx.requireProof(of: caller)
      return try tx.backup(id, in: store.folder)
    }
    guard let found else { return }
    guard found.state != .running, !(found.isScheduled && store.isBackingUp) else { throw .conflict }
    // The file first: a file without a row would stay for ever.
    try await store.deleteFile(of: found)
    try await store.write { tx throws(Refusal) in
      guard try tx.backup(id, in: store.folder) != nil else { return }
      try tx.removeBackup(id)
      try tx.audit(.backupDeleted, by: actor, subject: id.number)
    }
  }
}

extension CommunityView {
  /// Throws unless the caller is an owner or an admin.
  public func requireStaff(_ caller: Caller) throws(Refusal) {
    _ = try caller.requireUser(.admin)
    try read { tx throws(Refusal) in try tx.requireStaff(caller) }
  }

  /// One backup and the path of its file, for owners.
  public func getBackup(_ id: ID<StoredBackup>, for caller: Caller) throws(Refusal) -> (StoredBackup, path: String) {
    _ = try caller.requireUser(.admin)
    guard caller.role == .owner else { throw .forbidden }
    let folder = community.store.folder
    return try read { tx throws(Refusal) in
      guard let backup = try tx.backup(id, in: folder) else { throw .notFound }
      return (backup, path: try tx.path(of: backup, in: folder))
    }
  }

  /// The same to read its content, which has all secrets of the site.
  public func getBackupContent(
    _ id: ID<StoredBackup>, for caller: Caller
  ) throws(Refusal) -> (StoredBackup, path: String) {
    _ = try caller.requireUser(.admin)
    guard caller.role == .owner else { throw .forbidden }
    try read { tx throws(Refusal) in try tx.requireProof(of: caller) }
    return try getBackup(id, for: caller)
  }

  /// The backups created through the API and scheduled ones, newest first, for owners.
  public func listBackups(
    _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<StoredBackup> {
    _ = try caller.requireUser(.admin)
    guard caller.role == .owner else { throw .forbidden }
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.backups(slice, in: community.store.folder)
      }
    }
  }
}
