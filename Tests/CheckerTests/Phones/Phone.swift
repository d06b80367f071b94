import Foundation
import ParleyKit
import ParleyModel
import Synchronization

/// A phone of a user with an app on ParleyKit, driven by the scheduler. Its storage outlives the app process.
final class Phone {
  let name: String
  let user: CheckedSite.TestUser
  /// The limit of bytes that the server may queue for it.
  let maxQueuedBytes: Int
  private let clock: CheckedClock
  private let simulatedTime: SimulatedTime
  /// Unique ids of its operations.
  private let names: Names
  private var memory: Memory

  private(set) var parley: Parley
  private(set) var network: SimulatedNetwork
  private(set) var lifetime: AppLifetime
  /// Its open connections, with both ends.
  var connections: [(socket: SimulatedSocket, appSocket: AppSocket)] = []

  private enum Memory {
    case memory(DurableWrites)
    /// A file per process: the copy of the disk at the time of the kill.
    case disk(folder: String, start: Int)
  }

  init(
    _ name: String, _ user: CheckedSite.TestUser, seed: UInt64, maxQueuedBytes: Int, hasDisk: Bool,
    _ clock: CheckedClock, _ simulatedTime: SimulatedTime
  ) throws {
    let (names, network, lifetime) = (
      Names("\(seed)-\(name)"), SimulatedNetwork(simulatedTime, isUp: true), AppLifetime()
    )
    let memory: Memory = hasDisk ? .disk(folder: try CheckedSite.newFolder(), start: 0) : .memory(DurableWrites())
    (self.name, self.user, self.maxQueuedBytes, self.clock, self.simulatedTime) = (
      name, user, maxQueuedBytes, clock, simulatedTime
    )
    (self.names, self.memory, self.network, self.lifetime) = (names, memory, network, lifetime)
    parley = try Self.app(user, names, clock, network, Self.store(memory, lifetime))
  }

  private static func app(
    _ user: CheckedSite.TestUser, _ names: Names, _ clock: CheckedClock, _ network: SimulatedNetwork,
    _ store: @Sendable () throws -> sending any CacheStore
  ) throws -> Parley {
    guard let address = ServerAddress("http://phones.test") else { throw TransportFailure.cancelled }
    var retryPolicy = RetryPolicy()
    retryPolicy.maxAttempts = 2
    retryPolicy.jitter = { 0.5 }
    retryPolicy.sleep = network.pause
    return try Parley(
      Client(address, over: network, token: user.token, retryPolicy: retryPolicy),
      clock: Outbox.Clock(
        now: { clock.now + names.error }, name: names.next,
        pause: { .milliseconds(500 << min(max($0 - 1, 0), 6)) },
        wait: { try await network.pause(Int($0 / .milliseconds(1))) }),
      // A file's content is its path.
      open: { FileSource(name: $0.name, bytes: Array($0.path.utf8)) }, store)
  }

  private static func store(_ memory: Memory, _ lifetime: AppLifetime) -> @Sendable () throws -> sending any CacheStore
  {
    switch memory {
    case .memory(let writes): { KillableStore(writes, lifetime) }
    case .disk(let folder, let start): { try KillableStore("\(folder)/\(start).db", lifetime) }
    }
  }

  /// Sets the error of the phone's clock in days.
  func set(days: Int64) { names.set(error: days * 86_400_000) }

  var lastName: String { names.last }

  struct SavedState {
    let replica: Replica
    let operations: [String]
    let drafts: [ID<Conversation>: Draft]
  }

  /// The state that the next process must load.
  func savedState() async -> SavedState {
    let replica = await parley.cache.replica
    var drafts: [ID<Conversation>: Draft] = [:]
    for id in replica.conversations.keys { drafts[id] = await parley.cache.draft(in: id) }
    return SavedState(replica: replica, operations: await parley.outbox.list().map(\.id), drafts: drafts)
  }

  /// Kills the app: it receives and writes no more. Returns it for the clean-up.
  func kill() -> Parley {
    lifetime.end()
    for connection in connections { connection.appSocket.end(LiveSocket.Ending(code: 1_006, reason: "")) }
    connections = []
    network.shutDown()
    return parley
  }

  /// Starts a new process on the stored state.
  func launch() throws {
    if case .disk(let folder, let start) = memory {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("\(start).db") {
        let copy = "\(start + 1)" + file.dropFirst("\(start)".count)
        try FileManager.default.copyItem(atPath: "\(folder)/\(file)", toPath: "\(folder)/\(copy)")
      }
      memory = .disk(folder: folder, start: start + 1)
    }
    (network, lifetime) = (SimulatedNetwork(simulatedTime, isUp: network.isUp), AppLifetime())
    parley = try Self.app(user, names, clock, network, Self.store(memory, lifetime))
  }

  func remove() {
    if case .disk(let folder, _) = memory { try? FileManager.default.removeItem(atPath: folder) }
  }
}

/// Operation ids, unique and reproducible, and the error of the phone's clock.
private final class Names: Sendable {
  private let prefix: String
  private let state = Mutex<(last: Int, error: Int64)>((0, 0))

  init(_ prefix: String) { self.prefix = prefix }

  @Sendable func next() -> String {
    "\(prefix)-\(state.withLock { state in state.last += 1; return state.last })"
  }

  var last: String { "\(prefix)-\(state.withLock { $0.last })" }
  var error: Int64 { state.withLock { $0.error } }
  func set(error: Int64) { state.withLock { $0.error = error } }
}
