import ParleyModel
import ParleySQLite

/// A group of background threads. Each kind of work has its own, so that searches delay neither a sign-in nor a
/// catch-up.
public enum ReadLane: Sendable, CaseIterable {
  /// Passwords and one-time links.
  case credentials
  /// Snapshots and pages of events.
  case catchUp
  /// Searches, digests, statistics and long lists.
  case queries

  /// Two, so that one long query does not block every other. Visitors have at most one of them.
  var threadCount: Int {
    switch self {
    case .credentials: 1
    case .catchUp, .queries: 2
    }
  }
}

/// Readers for long queries. Each has a thread of its own, so that neither an event loop nor the shared pool waits for
/// the disk, and a time limit for its query.
final class BackgroundReaders: Sendable {
  private let all: [BackgroundReader]
  private let lanes: [ReadLane: TurnQueue<BackgroundReader>]

  init(_ makeReader: @Sendable () -> Reader) {
    var all: [BackgroundReader] = []
    var lanes: [ReadLane: TurnQueue<BackgroundReader>] = [:]
    for lane in ReadLane.allCases {
      let readers = (0..<lane.threadCount).map { _ in BackgroundReader(makeReader()) }
      all += readers
      lanes[lane] = TurnQueue(readers)
    }
    self.all = all
    self.lanes = lanes
  }

  func read<Value: Sendable>(
    _ lane: ReadLane, for turn: Turn, within time: Duration,
    _ body: @escaping @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    guard let queue = lanes[lane] else { throw .unavailable }
    let reader = try await queue.take(for: turn)
    defer { queue.putBack(reader, of: turn) }
    return try await reader.read(within: time, body)
  }

  func waitingCount(_ lane: ReadLane) -> Int { lanes[lane]?.waitingCount ?? 0 }

  func close() async {
    for reader in all { await reader.close() }
  }
}

private actor BackgroundReader {
  private nonisolated let executor = SerialQueue("parley.background")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let reader: Reader

  init(_ reader: sending Reader) { self.reader = reader }

  func read<Value: Sendable>(
    within time: Duration, _ body: @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    try reader.read(within: time, body)
  }

  func close() { reader.close() }
}
