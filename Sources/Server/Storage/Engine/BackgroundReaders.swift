import ParleyModel
import ParleySQLite
import Synchronization

/// Readers for what may take long: searches, exports, pages of a replay. Each has a thread of its own, so that neither an
/// event loop nor the shared pool waits for a disk, and a time, after which its query is cut short.
final class BackgroundReaders: Sendable {
  private let lanes: [Lane]

  /// Two, so that one long export does not hold up every search.
  static let laneCount = 2
  /// How many may wait for a lane; beyond it a caller is told to come back.
  static let mostWaiting = 256

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
        guard count < BackgroundReaders.mostWaiting else { return false }
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
