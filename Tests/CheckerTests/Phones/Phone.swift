import Foundation
import ParleyKit
import ParleyModel
import Synchronization

/// What the scheduler drives: a phone of a user, with an app that is made of ParleyKit. What the phone keeps outlives the app.
final class Phone {
  let name: String
  let user: CheckedSite.TestUser
  /// Bytes that the server may let wait for it.
  let room: Int
  private let clock: CheckedClock
  private let hours: Hours
  /// Names of what is asked for, never the same again.
  private let names: Names
  private var memory: Memory

  private(set) var parley: Parley
  private(set) var air: Air
  private(set) var life: Life
  /// Its live lines, and its ends of them.
  var wires: [(line: Line, reception: Reception)] = []

  private enum Memory {
    case flash(Flash)
    /// A file for each start: as the disk was when the app before was killed.
    case disk(folder: String, start: Int)
  }

  init(
    _ name: String, _ user: CheckedSite.TestUser, seed: UInt64, room: Int, hasDisk: Bool, _ clock: CheckedClock,
    _ hours: Hours
  ) throws {
    let (names, air, life) = (Names("\(seed)-\(name)"), Air(hours, isUp: true), Life())
    let memory: Memory = hasDisk ? .disk(folder: try CheckedSite.newFolder(), start: 0) : .flash(Flash())
    (self.name, self.user, self.room, self.clock, self.hours) = (name, user, room, clock, hours)
    (self.names, self.memory, self.air, self.life) = (names, memory, air, life)
    parley = try Self.app(user, names, clock, air, Self.store(memory, life))
  }

  private static func app(
    _ user: CheckedSite.TestUser, _ names: Names, _ clock: CheckedClock, _ air: Air,
    _ store: @Sendable () throws -> sending any CacheStore
  ) throws -> Parley {
    guard let address = ServerAddress("http://phones.test") else { throw TransportFailure.cancelled }
    var retryPolicy = RetryPolicy()
    retryPolicy.maxAttempts = 2
    retryPolicy.jitter = { 0.5 }
    retryPolicy.sleep = air.pause
    return try Parley(
      Client(address, over: air, token: user.token, retryPolicy: retryPolicy),
      clock: Outbox.Clock(
        now: { clock.now + names.error }, name: names.next,
        pause: { .milliseconds(500 << min(max($0 - 1, 0), 6)) },
        wait: { try await air.pause(Int($0 / .milliseconds(1))) }),
      // A phone's files are as short as their paths.
      open: { FileSource(name: $0.name, bytes: Array($0.path.utf8)) }, store)
  }

  private static func store(_ memory: Memory, _ life: Life) -> @Sendable () throws -> sending any CacheStore {
    switch memory {
    case .flash(let flash): { MortalStore(flash, life) }
    case .disk(let folder, let start): { try MortalStore("\(folder)/\(start).db", life) }
    }
  }

  /// The phone's clock is set, by as many days.
  func set(days: Int64) { names.set(error: days * 86_400_000) }

  var lastName: String { names.last }

  struct Left {
    let replica: Replica
    let operations: [String]
    let drafts: [ID<Conversation>: Draft]
  }

  /// What an app holds, and another has to find.
  func left() async -> Left {
    let replica = await parley.cache.replica
    var drafts: [ID<Conversation>: Draft] = [:]
    for id in replica.conversations.keys { drafts[id] = await parley.cache.draft(in: id) }
    return Left(replica: replica, operations: await parley.outbox.list().map(\.id), drafts: drafts)
  }

  /// The app is killed: from now on it hears and writes nothing. What is left of it.
  func kill() -> Parley {
    life.end()
    for wire in wires { wire.reception.end(LiveSocket.Ending(code: 1_006, reason: "")) }
    wires = []
    air.die()
    return parley
  }

  /// Another app finds what the one before has kept.
  func launch() throws {
    if case .disk(let folder, let start) = memory {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("\(start).db") {
        let copy = "\(start + 1)" + file.dropFirst("\(start)".count)
        try FileManager.default.copyItem(atPath: "\(folder)/\(file)", toPath: "\(folder)/\(copy)")
      }
      memory = .disk(folder: folder, start: start + 1)
    }
    (air, life) = (Air(hours, isUp: air.isUp), Life())
    parley = try Self.app(user, names, clock, air, Self.store(memory, life))
  }

  func remove() {
    if case .disk(let folder, _) = memory { try? FileManager.default.removeItem(atPath: folder) }
  }
}

/// Names that nobody else gives, the same in each run, and how wrong a phone's clock is.
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
