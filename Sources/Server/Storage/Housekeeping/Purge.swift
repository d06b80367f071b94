// What the housekeeping does bit by bit, at once and to its end: what has expired goes, and the bytes of all that was
// destroyed leave the files for certain, since the database is written anew.

import ParleyModel
import ParleySQLite

public enum PurgePhase: Hashable, Sendable, CaseIterable {
  case expiring, merging, rewriting, emptyingLog
}

public struct PurgeReport: Hashable, Sendable {
  /// How many seals, and how many copies in reports, were there although their time was over.
  public let seals: Int
  public let copies: Int
  /// Bytes of the database.
  public let sizeBefore: Int
  public let sizeAfter: Int
}

/// Why not everything has left the files.
public enum PurgeFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The store's log says why.
  case unavailable
  /// A reader still looks at the old pages.
  case blocked
  /// Whoever wanted it wants it no more.
  case stopped

  public var description: String {
    switch self {
    case .unavailable: "The database can't be written to."
    case .blocked:
      "Somebody still reads an older state of the database, such as a backup or parley verify, and keeps its bytes. Purge "
        + "again when that has ended."
    case .stopped: "It was stopped before its end. What was deleted has not left the files yet."
    }
  }
}

extension Store {
  private static let expiredAtOnce = 100
  /// How long a reader in the way is waited for.
  private static let mostTries = 300
  private static let timeBetweenTries: Duration = .milliseconds(100)

  /// `watch` is called at each step, and may end the work by throwing.
  public func purge(
    watch: @escaping @Sendable (PurgePhase) throws(PurgeFault) -> Void
  ) async throws(PurgeFault) -> PurgeReport {
    let sizeBefore = Disk.size(folder.database) ?? 0
    try watch(.expiring)
    let expired = try await purging { tx throws(Refusal) in try tx.expired() }
    while try await purging({ tx throws(Refusal) in try tx.expireSealed(limit: Self.expiredAtOnce) }) {
      try watch(.expiring)
    }
    while try await purging({ tx throws(Refusal) in try tx.expireReportCopies(limit: Self.expiredAtOnce) }) {
      try watch(.expiring)
    }
    let destroyed = try await purging { tx throws(Refusal) in
      try tx.noteRewriteBegun()
      return try tx.destruction().count
    }
    try await forget(watch: watch)
    try await purging { tx throws(Refusal) in try tx.noteForgotten(destroyed, rewritten: true) }
    return PurgeReport(
      seals: expired.seals, copies: expired.copies, sizeBefore: sizeBefore, sizeAfter: Disk.size(folder.database) ?? 0)
  }

  private func forget(watch: (PurgePhase) throws(PurgeFault) -> Void) async throws(PurgeFault) {
    var forgetting = Forgetting(rewriting: true)
    var tries = 0
    while let phase = forgetting.stage.phase {
      try watch(phase)
      let progress: Forgetting.Progress
      do throws(Refusal) { progress = try await advance(&forgetting) } catch { throw .unavailable }
      guard case .blocked = progress else { continue }
      tries += 1
      guard tries < Self.mostTries else { throw .blocked }
      do { try await Task.sleep(for: Self.timeBetweenTries) } catch { throw .stopped }
    }
  }

  @discardableResult private func purging<Value: Sendable>(
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(PurgeFault) -> Value {
    do throws(Refusal) { return try await write(rule) } catch { throw .unavailable }
  }
}

extension Forgetting.Stage {
  fileprivate var phase: PurgePhase? {
    switch self {
    case .gathering, .merging: .merging
    case .rewriting: .rewriting
    case .emptyingLog: .emptyingLog
    case .done: nil
    }
  }
}
