import Synchronization

/// The failures, and the last started seed.
final class FailureList: Sendable {
  private let state = Mutex<(all: [String], last: UInt64)>(([], 0))

  func begin(_ seed: UInt64) { state.withLock { $0.last = seed } }
  func add(_ failure: String) { state.withLock { $0.all.append(failure) } }
  var all: [String] { state.withLock { $0.all } }
  var last: UInt64 { state.withLock { $0.last } }
}
