// An immediate, complete purge: deletes expired data and removes the bytes of all destroyed content from the files by
// rewriting the database.

import ParleyModel
import ParleySQLite

public enum PurgePhase: Hashable, Sendable, CaseIterable {
  case expiring, merging, rewriting, truncatingLog
}

public struct PurgeReport: Hashable, Sendable {
  /// Numbers of expired seals and report copies found.
  public let seals: Int
  public let copies: Int
  /// Number of removed files of deleted content.
  public let files: Int
  /// Database size in bytes.
  public let sizeBefore: Int
  public let sizeAfter: Int
}

/// Reason for an incomplete purge.
public enum PurgeFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The log has the cause.
  case unavailable
  /// A rewrite of the database needs so many free bytes on the disk.
  case noSpace(needed: Int)
  /// A reader still uses old pages.
  case blocked
  /// Cancelled by the caller.
  case cancelled

  public var description: String {
    switch self {
    case .unavailable: "The database can't be written to."
    case .noSpace(let needed):
      "Deleted content left the search index and the write-ahead log. Rewriting the database needs \(needed / 1_000_000 + 1) "
        + "MB of free disk space. Make room and purge again."
    case .blocked:
      "A reader such as a backup or parley verify still uses an older state of the database, whose bytes remain. Purge "
        + "again when it has finished."
    case .cancelled: "The purge was cancelled. Deleted content is still in the files."
    }
  }
}

extension Store {
  private static let expiredPerChunk = 100
  /// Maximum number of checkpoint attempts while a reader blocks.
  private static let maxRetries = 300
  private static let retryDelay: Duration = .milliseconds(100)

  /// `watch` is called at each step and cancels the purge by throwing.
  public func purge(
    watch: @escaping @Sendable (PurgePhase) throws(PurgeFault) -> Void
  ) async throws(PurgeFault) -> PurgeReport {
    let sizeBefore = Disk.size(folder.database) ?? 0
    try watch(.expiring)
    do {
      try PreviousDatabase(folder: folder).remove()
      // A killed test of migrations has left its copies. One that runs fails, and can be repeated.
      try Disk.removeTree("\(folder.path)/\(PendingRestore.migrating)")
    } catch {
      log("\(error)")
      throw .unavailable
    }
    exports.beginPurge()
    defer { exports.endPurge() }
    do throws(Refusal) { try await discardExports() } catch { throw .unavailable }
    let expired = try await purging { tx throws(Refusal) in try tx.expired() }
    while try await purging({ tx throws(Refusal) in try tx.expireSealed(limit: Self.expiredPerChunk) }) {
      try watch(.expiring)
    }
    while try await purging({ tx throws(Refusal) in try tx.expireReportCopies(limit: Self.expiredPerChunk) }) {
      try watch(.expiring)
    }
    let files = try await removeReleasedFiles(watch)
    let isRoomy = Disk.space(folder.path).map { $0.free >= 2 * sizeBefore } ?? true
    let destroyed = try await purging { tx throws(Refusal) in
      if isRoomy { try tx.recordRewriteStart() }
      return try tx.destruction().count
    }
    try await runRound(rewriting: isRoomy, watch: watch)
    try await purging { tx throws(Refusal) in try tx.recordPurged(destroyed, rewritten: isRoomy) }
    if !isRoomy { throw .noSpace(needed: 2 * sizeBefore) }
    return PurgeReport(
      seals: expired.seals, copies: expired.copies, files: files, sizeBefore: sizeBefore,
      sizeAfter: Disk.size(folder.database) ?? 0)
  }

  /// Removes the files of deleted content. A running backup keeps their bytes until it ends.
  private func removeReleasedFiles(
    _ watch: (PurgePhase) throws(PurgeFault) -> Void
  ) async throws(PurgeFault) -> Int {
    var files = 0
    while true {
      try watch(.expiring)
      let removed = try await purging { tx throws(Refusal) in
        try tx.removeReleasedFiles(limit: Self.expiredPerChunk)
      }
      files += removed
      if removed < Self.expiredPerChunk { break }
    }
    do throws(Refusal) { while try await removeLooseContent() {} } catch { throw .unavailable }
    return files
  }

  private func runRound(
    rewriting isRewriting: Bool, watch: (PurgePhase) throws(PurgeFault) -> Void
  ) async throws(PurgeFault) {
    var purgeRound = PurgeRound(rewriting: isRewriting)
    var tries = 0
    while let phase = purgeRound.stage.phase {
      try watch(phase)
      let progress: PurgeRound.Progress
      do throws(Refusal) { progress = try await advance(&purgeRound) } catch { throw .unavailable }
      guard case .blocked = progress else { continue }
      tries += 1
      guard tries < Self.maxRetries else { throw .blocked }
      do { try await Task.sleep(for: Self.retryDelay) } catch { throw .cancelled }
    }
  }

  @discardableResult private func purging<Value: Sendable>(
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(PurgeFault) -> Value {
    do throws(Refusal) { return try await write(rule) } catch { throw .unavailable }
  }
}

extension PurgeRound.Stage {
  fileprivate var phase: PurgePhase? {
    switch self {
    case .gathering, .merging: .merging
    case .rewriting: .rewriting
    case .truncatingLog: .truncatingLog
    case .done: nil
    }
  }
}
