import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import PubSub
import Synchronization
import Web

@testable import API
@testable import Community
@testable import Storage

/// One server process on one event loop.
final class CheckedServer {
  let folder: String
  let community: Community
  let view: CommunityView
  let site: Application
  let locals = Locals()
  let live: LoopBroadcasts
  let publisher: Publisher
  /// Receives each published event last.
  let probe: Mailbox
  private var lastSeen = 0

  init(_ folder: String, _ committed: Committed, _ clock: CheckedClock, _ storeLog: StoreLog) throws {
    self.folder = folder
    // The simulated socket decodes shared frames; it has no compression.
    let publisher = Publisher(
      Hub { json, _ in Frame(text: json, framed: SharedFrame(text: json).plain, deflated: nil) })
    let store = try Store(
      try DataFolder(folder), migrations: CheckedSite.migrations, jobs: Community.jobs, clock: { clock.tick() },
      deliver: { committed.add($0) }, log: { storeLog.add($0) })
    community = Community(
      store, publisher: publisher, passwordCost: Scrypt(cost: 16, blockSize: 1, parallelism: 1))
    self.publisher = publisher
    view = community.view()
    let api = API(
      community, release: API.Release(version: "1.2.3", web: "w", minClient: "1.0"), rates: Self.unlimited)
    site = Application(router: Router { routes in api.add(to: &routes) })
    let live = LoopBroadcasts(community, community.view())
    self.live = locals.object(LoopBroadcasts.self) { live }
    probe = community.hub.open()
  }

  /// High rate limits: no request is throttled.
  private static let unlimited: RateLimits = {
    var rates = RateLimits()
    (rates.sending, rates.writing) = (
      Allowance(burst: 1_000_000, perMinute: 60_000), Allowance(burst: 1_000_000, perMinute: 60_000)
    )
    rates.signalling = rates.writing
    return rates
  }()

  func caller(_ user: CheckedSite.TestUser) throws -> Caller {
    guard let caller = try view.authenticate(user.token) else { throw Refusal.unauthenticated }
    return caller
  }

  /// Returns when all mailboxes have the events. The probe is the last subscriber.
  func publish(_ delivery: Delivery, last: Int) async {
    for event in delivery.events { probe.subscribe(.stream(event.stream)) }
    publisher.enqueue(delivery)
    while !hasPublished(last) {
      var wakeUps = probe.wakeUps.makeAsyncIterator()
      guard await wakeUps.next() != nil else { return }
    }
  }

  private func hasPublished(_ event: Int) -> Bool {
    let contents = probe.take()
    for case .event(let publication) in contents.broadcasts { lastSeen = max(lastSeen, publication.event.id) }
    return lastSeen >= event || contents.hasGap
  }

  /// Returns when all writes so far are done.
  func afterWrites() async {
    do { try await community.store.write { _ in } } catch {}
  }

  /// The same for background reads on two threads: one read on each.
  func afterReads() async {
    let store = community.store
    async let one: Void = { do { try await store.readInBackground { _ in } } catch {} }()
    async let other: Void = { do { try await store.readInBackground { _ in } } catch {} }()
    _ = await (one, other)
  }

  func close() async {
    community.hub.close()
    await community.store.close()
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

/// Committed deliveries that are not published.
final class Committed: Sendable {
  private let deliveries = Mutex<[Delivery]>([])

  func add(_ delivery: Delivery) { deliveries.withLock { $0.append(delivery) } }

  func take(_ count: Int) -> [Delivery] {
    deliveries.withLock { all in
      let taken = Array(all.prefix(count))
      all.removeFirst(taken.count)
      return taken
    }
  }

  var count: Int { deliveries.withLock { $0.count } }
}

/// The log of the store.
final class StoreLog: Sendable {
  private let messages = Mutex<[String]>([])

  func add(_ message: String) { messages.withLock { $0.append(message) } }
  var all: [String] { messages.withLock { $0 } }

  /// Whether the machine was stalled, and there is no other error.
  var isStallOnly: Bool { !all.isEmpty && all.allSatisfy { $0.contains("of the processor") } }
}

/// A clock that advances by a millisecond at each read, and can be set.
final class CheckedClock: Sendable {
  private let time = Atomic<Int>(1_800_000_000_000)

  func tick() -> Int64 { Int64(time.add(1, ordering: .relaxed).newValue) }
  var now: Int64 { Int64(time.load(ordering: .relaxed)) }
  func pass(_ milliseconds: Int) { time.add(milliseconds, ordering: .relaxed) }
}
