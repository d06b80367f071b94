import ParleyModel
import ParleySQLite
import Synchronization

/// Decides whether the store accepts writes. Every error of the database and of the disk passes here.
///
/// After damage the gate stays closed, since each further write could destroy more. While the disk is full, callers
/// refuse changes that add content (`isDiskFull`); the space of the reserve serves sign-ins, deletions, a purge and the stop.
final class WriteGate: Sendable {
  private struct State {
    var isDamaged = false
    var isDiskFull = false
    /// Whether uploads are refused, so that messages have room.
    var isShortOfSpace = false
    /// The last warning about space, in percent of the disk; 0 without one.
    var warned = 0
  }

  private let state = Mutex(State())
  private let folder: String
  private let reserve: DiskReserve?
  private let log: @Sendable (String) -> Void

  /// Free space in percent of the disk below which uploads are refused, and all content. Content is accepted again from the last one.
  private static let (minFreeForUploads, minFreeForContent, minFreeAgain) = (10, 2, 3)
  /// Fill levels of the disk that are logged, in percent.
  private static let warnings = [95, 90, 80]
  /// A fill level must fall this far below a warning before the warning repeats.
  private static let hysteresis = 2

  /// `reserve` is nil for a store that keeps none: then only a failed write finds a full disk.
  init(_ folder: String, reserve: DiskReserve?, log: @escaping @Sendable (String) -> Void) {
    self.folder = folder
    self.reserve = reserve
    self.log = log
  }

  /// The refusal of every write; nil while the gate is open.
  var refusal: Refusal? { state.withLock { $0.isDamaged ? .damaged : nil } }

  var isDiskFull: Bool { state.withLock { $0.isDiskFull } }

  var refusesUploads: Bool { state.withLock { $0.isDiskFull || $0.isShortOfSpace } }

  /// Returns the refusal for a failed operation. Closes the gate after damage, and gives up the reserve if the disk is
  /// full.
  @discardableResult func close(after error: any Error) -> Refusal {
    let refusal: Refusal =
      switch error {
      case let error as SQLiteError: error.refusal
      case let error as DiskError: error.isDiskFull ? .diskFull : .unavailable
      default: .unavailable
      }
    if refusal == .damaged { reportDamage("\(error)") }
    if refusal == .diskFull { reportFullDisk() }
    return refusal
  }

  func reportDamage(_ reason: String) {
    guard state.withLock({ Self.set(&$0.isDamaged) }) else { return }
    log(
      "THE DATABASE IS DAMAGED, and the server refuses all changes: \(reason). Stop the server, examine the data with "
        + "parley verify --all, and restore a backup with parley restore --replace: parley status names the newest one."
    )
  }

  // MARK: Space

  /// Looks at the free space: at the start, and at every tick of housekeeping.
  func examineDisk() {
    guard reserve != nil, let space = Disk.space(folder) else { return }
    examine(space)
  }

  func examine(_ space: Disk.Space) {
    guard let reserve else { return }
    warn(space)
    examineRoomForUploads(space)
    let size = reserve.size(onDiskOf: space.total)
    if isDiskFull {
      if space.free < size / 2 { reserve.release() }
      guard space.free >= max(2 * size, space.percent(Self.minFreeAgain)) else { return }
      reserve.fill(space)
      state.withLock { $0.isDiskFull = false }
      log("The disk of \(folder) has room again: \(Self.megabytes(space.free)) MB. The server accepts all changes.")
    } else if space.free < size / 2 {
      reportFullDisk()
    } else if space.free < space.percent(Self.minFreeForContent) {
      refuseContent()
    } else {
      reserve.fill(space)
    }
  }

  private func examineRoomForUploads(_ space: Disk.Space) {
    let isShort = space.free < space.percent(Self.minFreeForUploads)
    let isNew = state.withLock { state in
      defer { state.isShortOfSpace = isShort }
      return isShort && !state.isShortOfSpace
    }
    guard isNew else { return }
    log(
      "The server refuses uploads until \(Self.minFreeForUploads) % of the disk of \(folder) are free: "
        + "\(Self.megabytes(space.percent(Self.minFreeForUploads))) MB.")
  }

  private func reportFullDisk() {
    refuseContent()
    reserve?.release()
  }

  private func refuseContent() {
    guard state.withLock({ Self.set(&$0.isDiskFull) }) else { return }
    log(
      "THE DISK IS FULL: the server accepts sign-ins and deletions, and refuses what adds content. Make room on the disk "
        + "of \(folder): delete old backups and replaced folders, then run parley purge.")
  }

  private func warn(_ space: Disk.Space) {
    let percent = space.percentUsed
    let level = Self.warnings.first { percent >= $0 } ?? 0
    let isNew = state.withLock { state in
      if level > state.warned {
        state.warned = level
        return true
      }
      if percent < state.warned - Self.hysteresis { state.warned = level }
      return false
    }
    guard isNew else { return }
    log("The disk of \(folder) is \(percent) % full: \(Self.megabytes(space.free)) MB are free.")
  }

  private static func megabytes(_ bytes: Int) -> Int { bytes / 1_000_000 }

  /// Sets a flag and returns whether it was off.
  private static func set(_ flag: inout Bool) -> Bool {
    defer { flag = true }
    return !flag
  }
}

/// A file without content that occupies space, so that there is some to give up when the disk is full.
final class DiskReserve: Sendable {
  private let folder: DataFolder

  private static let maxSize = 32 << 20
  /// The largest part of the disk that the reserve may occupy: an eighth.
  private static let minParts = 8

  init(_ folder: DataFolder) { self.folder = folder }

  private var path: String { "\(folder.path)/reserve" }

  func size(onDiskOf total: Int) -> Int { min(Self.maxSize, total / Self.minParts) }

  /// Creates the reserve if it is missing and fits twice.
  func fill(_ space: Disk.Space) {
    let size = size(onDiskOf: space.total)
    guard !Disk.exists(path), space.free >= 2 * size else { return }
    do throws(DiskError) {
      try Disk.allocate(path, size: size)
      try Disk.give(path, toOwnerOf: folder.path)
    } catch {
      // The next tick tries again.
      release()
    }
  }

  func release() {
    // On the full disk of some file systems even this fails; the next tick tries again.
    try? Disk.remove(path)
  }
}

extension SQLiteError {
  /// The refusal for the caller of the failed operation.
  var refusal: Refusal {
    switch code {
    case .corrupt, .notADatabase: .damaged
    case .full: .diskFull
    case .error, .internal, .permission, .aborted, .busy, .locked, .outOfMemory, .readOnly, .interrupted, .io,
      .notFound, .cannotOpen, .protocol, .empty, .schemaChanged, .tooBig, .constraint, .mismatch, .misuse,
      .noLargeFiles, .authorization, .format, .range:
      .unavailable
    }
  }
}
