import Synchronization

/// Files in memory by path. All event loops share one copy. The lock is held for a dictionary lookup only.
final class FileCache: Sendable {
  private struct Entry {
    let file: StaticFile
    /// Time of the last check against the file system, in milliseconds.
    var checkedAt: Int64
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
  }

  private let state = Mutex(State())
  private let budget: Int

  /// Time between two checks of an entry, in milliseconds.
  static let maxAge: Int64 = 1_000

  init(budget: Int) {
    self.budget = budget
  }

  var bytes: Int { state.withLock { $0.bytes } }

  /// Returns an entry that was checked within the last second.
  func fresh(_ path: String, now: Int64) -> StaticFile? {
    guard let entry = state.withLock({ $0.entries[path] }) else { return nil }
    // Negative ages count as expired, since the clock may be set back.
    return (0..<Self.maxAge).contains(now - entry.checkedAt) ? entry.file : nil
  }

  /// Returns the entry, however old its last check is.
  func cached(_ path: String) -> StaticFile? {
    state.withLock { $0.entries[path]?.file }
  }

  /// Stores a file that was just checked. Used files are checked every second, so the entry with the oldest check is
  /// evicted first.
  func store(_ file: StaticFile, as path: String, now: Int64) {
    guard let size = file.footprint, size <= budget else { return remove(path) }
    state.withLock { state in
      state.bytes -= state.entries[path]?.file.footprint ?? 0
      state.entries[path] = Entry(file: file, checkedAt: now)
      state.bytes += size
      while state.bytes > budget, let oldest = state.entries.min(by: { $0.value.checkedAt < $1.value.checkedAt }) {
        state.entries[oldest.key] = nil
        state.bytes -= oldest.value.file.footprint ?? 0
      }
    }
  }

  func remove(_ path: String) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: path) else { return }
      state.bytes -= entry.file.footprint ?? 0
    }
  }
}
