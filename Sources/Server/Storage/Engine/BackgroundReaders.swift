import ParleyModel
import ParleySQLite
import Synchronization

/// Readers for long queries: searches, exports, replay pages. Each has a thread of its own, so that neither an event
/// loop nor the shared pool waits for the disk, and a time limit for its query.
final class BackgroundReaders: Sendable {
  private let lanes: [Lane]

  /// Two, so that one long export does not block every search.
  static let laneCount = 2
  /// Maximum number of queued requests. Further callers get `unavailable`.
  static let maxWaiting = 256

  init(_ makeReader: @Sendable () -> Reader) {
    lanes = (0..<Self.laneCount).map { _ in Lane(makeReader()) }
  }

  func read<Value: Sendable>(
    within time: Duration, _ body: @escaping @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    guard let lane = lanes.min(by: { $0.waitingCount < $1.waitingCount }), lane.enter() else { throw .unavailable }
    return try await lane.read(within: time, body)
  }

  func close() async {
    for lane in lanes { await lane.close() }
  }

  private actor Lane {
    private nonisolated let executor = SerialQueue("parley.background")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private nonisolated let waiting = Mutex(0)
    private let reader: Reader

    init(_ reader: sending Reader) { self.reader = reader }

    nonisolated var waitingCount: Int { waiting.withLock { $0 } }

    nonisolated func enter() -> Bool {
      waiting.withLock { count in
        guard count < BackgroundReaders.maxWaiting else { return false }
        count += 1
        return true
      }
    }

    func read<Value: Sendable>(
      within time: Duration, _ body: @Sendable (ReadTransaction) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
      defer { waiting.withLock { $0 -= 1 } }
      return try reader.read(within: time, body)
    }

    func close() { reader.close() }
  }
}
