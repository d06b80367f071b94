import Synchronization

/// Files in memory, by their path, shared by all loops: one copy whatever the number of loops, under a lock that is
/// held for a look at a dictionary.
final class FileCache: Sendable {
  private struct Entry {
    let file: StaticFile
    /// When the file system was last asked whether it is still so, in milliseconds.
    var checkedAt: Int64
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
  }

  private let state = Mutex(State())
  private let budget: Int

  /// How long a file is taken to be as it was, in milliseconds.
  static let maxAge: Int64 = 1_000

  init(budget: Int) {
    self.budget = budget
  }

  var bytes: Int { state.withLock { $0.bytes } }

  /// What was checked within the last second.
  func fresh(_ path: String, now: Int64) -> StaticFile? {
    guard let entry = state.withLock({ $0.entries[path] }) else { return nil }
    // A clock that was set back is no reason to trust for longer.
    return (0..<Self.maxAge).contains(now - entry.checkedAt) ? entry.file : nil
  }

  /// What was there when it was last checked.
  func cached(_ path: String) -> StaticFile? {
    state.withLock { $0.entries[path]?.file }
  }

  /// Keeps a file that was checked just now. What is in use is checked every second, so the one that was checked
  /// longest ago is the one to let go.
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
