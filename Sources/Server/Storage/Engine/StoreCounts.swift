// Metrics of the store: the writer's commits, and sizes on the disk.

public import ParleyModel
import ParleySQLite

/// Commits of the writer since the start.
public struct WriteCounts: Sendable {
  public internal(set) var commits = 0
  /// Closures of the committed batches; one commit carries several.
  public internal(set) var writes = 0
  /// Batches that were not committed.
  public internal(set) var failures = 0
  /// Commits by the number of their writes: at most each of `bounds`, or more than the last one.
  public internal(set) var groups = [Int](repeating: 0, count: WriteCounts.bounds.count + 1)

  public static let bounds = [1, 2, 4, 8, 16, 32, 64]

  mutating func add(_ count: Int) {
    commits += 1
    writes += count
    groups[Self.bounds.firstIndex { count <= $0 } ?? Self.bounds.count] += 1
  }
}

/// Sizes in bytes, and lengths of queues.
public struct StoreMeasurement: Sendable {
  public internal(set) var database = 0
  public internal(set) var writeAheadLog = 0
  /// Free bytes on the disk of the data folder; nil if the system does not report it.
  public internal(set) var freeSpace: Int?
  public internal(set) var totalSpace: Int?
  public internal(set) var lastEvent = 0
  public internal(set) var waitingPushes = 0
  public internal(set) var waitingMails = 0
  /// Addresses to which mail has stopped.
  public internal(set) var stoppedEmails = 0
  /// In milliseconds since 1970; nil before the first backup.
  public internal(set) var lastBackup: Int64?
  public internal(set) var lastRestoreTest: Statistics.RestoreTest?
  /// Paths in the data folder of uploaded files that are damaged or missing.
  public internal(set) var damagedFiles: [String] = []
}

extension Store {
  public var writeCounts: WriteCounts { writer.counts }

  /// Reads no table as a whole: it may be called every few seconds.
  public func measure() async throws(Refusal) -> StoreMeasurement {
    var measured = try await readInBackground { tx throws(Refusal) in
      var measured = StoreMeasurement()
      measured.lastEvent = try tx.lastEvent()
      measured.waitingPushes = try tx.waitingPushCount()
      measured.waitingMails = try tx.waitingMailCount()
      measured.stoppedEmails = try tx.stoppedEmailCount()
      measured.lastBackup = try tx.lastBackup()?.at
      measured.lastRestoreTest = try tx.lastRestoreTest()
      measured.damagedFiles = try tx.run { connection in try connection.damagedFiles() }
      return measured
    }
    measured.database = Disk.size(folder.database) ?? 0
    measured.writeAheadLog = Disk.size(folder.database + "-wal") ?? 0
    let space = Disk.space(folder.path)
    (measured.freeSpace, measured.totalSpace) = (space?.free, space?.total)
    return measured
  }

  /// The free space of the disk with that of the uploaded files, in bytes; nil if it is unknown. So a restart of a site with files keeps
  /// their quotas.
  public func roomForFiles() async -> Int? {
    guard let free = Disk.space(folder.path)?.free else { return nil }
    do throws(Refusal) {
      return free + (try await readInBackground { tx throws(Refusal) in try tx.fileUse(of: nil) })
    } catch {
      return nil
    }
  }
}
