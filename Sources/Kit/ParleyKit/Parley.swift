// One person's place on this device: what is held, what waits to be sent, and the loop that keeps both equal to the server.
//
// The loop brings everything since the cursor in pages, which is one step of the store for each, and then listens to a
// live connection. When that is gone it begins again, after a pause that grows. So a network that lets no WebSocket through
// still shows what is new, a little later.

import ParleyJSON
import ParleyModel

public actor Parley {
  public nonisolated let client: Client
  public nonisolated let cache: Cache
  public nonisolated let outbox: Outbox
  public nonisolated let sync: Sync
  public nonisolated let pictures: PictureAlbum
  public nonisolated let watched: WatchedThings
  private let deliveries: DeliveryMarks
  private let clock: Outbox.Clock
  private var following: Task<Void, Never>?
  private var live: LiveConnection?
  /// Before the next try.
  private var pausing: Task<Void, Never>?
  private var failures = 0
  private var watchers: [Int: AsyncStream<State>.Continuation] = [:]
  private var listeners: [Int: AsyncStream<LiveFrame>.Continuation] = [:]
  private var lastObserver = 0
  public private(set) var state = State.stopped

  public enum State: Sendable, Hashable {
    case stopped
    /// What is held is what the server holds, and stays so.
    case following
    /// There is no answer; it is tried again.
    case waiting(ClientFault)
    /// The server does not know this person any longer.
    case signedOut
    /// Somebody else has signed in; nothing is left of whoever was here before. `start` begins for the other.
    case accountChanged
    /// What is kept can't be read or written.
    case broken(CacheFault)
  }

  /// - Parameters:
  ///   - open: finds the bytes of a file that is to be sent and lies on this device.
  ///   - pictures: where pictures are kept; without it each is fetched whenever it is asked for.
  ///   - store: makes the store, on the cache's own thread: `{ try DiskStore(path) }` or `{ MemoryStore() }`.
  public init(
    _ client: Client, clock: Outbox.Clock, _ indexing: MessageIndexing = MessageIndexing(),
    open: @escaping @Sendable (PendingFile) async throws -> FileSource, pictures: PictureFile? = nil,
    _ store: @Sendable () throws -> sending any CacheStore
  ) throws(CacheFault) {
    self.client = client
    self.clock = clock
    cache = try Cache(indexing, store)
    outbox = Outbox(cache, client, clock: clock, open: open)
    sync = Sync(cache, client)
    deliveries = DeliveryMarks(cache, client, wait: clock.wait)
    watched = WatchedThings(cache)
    self.pictures = try PictureAlbum(client, pictures)
  }

  // MARK: Following

  /// Follows what happens and sends what waits, until `stop`.
  public func start() {
    guard following == nil else { return }
    failures = 0
    following = Task { await self.follow() }
  }

  public func stop() async {
    following?.cancel()
    pausing?.cancel()
    await following?.value
    following = nil
    await deliveries.stop()
    await outbox.stop()
    set(.stopped)
  }

  /// The network may be back, or the app is in front again: whatever waits for another try is tried now, and an open
  /// connection is asked whether it still is one.
  public func hurry() async {
    failures = 0
    pausing?.cancel()
    live?.hurry()
    await outbox.networkIsBack()
  }

  /// The network is gone: there is no use in waiting for an answer.
  public func unreachable() { live?.unreachable() }

  private func follow() async {
    var isVerified = false
    while !Task.isCancelled {
      let fault: ClientFault?
      do {
        // Nothing of one person's is sent or shown as another.
        if !isVerified {
          try await sync.verifyPerson()
          isVerified = true
        }
        // Where the disk was full it has stopped.
        try await outbox.start()
        try await sync.catchUp()
        await deliveries.tellSoon()
        await outbox.networkIsBack()
        fault = try await listen()
      } catch {
        if Task.isCancelled { return }
        guard let known = error as? ClientFault else { return await end(error) }
        fault = known
      }
      if Task.isCancelled { return }
      if let fault {
        if fault.isSignedOut { return await end(fault) }
        set(.waiting(fault))
      }
      failures += 1
      await pause(fault?.problem?.retryAfter.map { .seconds($0) } ?? clock.pause(failures))
    }
  }

  /// Takes what happens until the connection is gone, and says why it is.
  private func listen() async throws -> ClientFault? {
    let live = LiveConnection(client, after: await cache.replica.cursor?.description)
    self.live = live
    let news = await cache.news()
    let asking = Task {
      do { try await self.fetchNeeds(told: news) } catch {
        live.stop()
        throw error
      }
    }
    let ended: Result<ClientFault?, any Error>
    do { ended = .success(try await take(live)) } catch { ended = .failure(error) }
    live.stop()
    self.live = nil
    asking.cancel()
    // What was cut off is asked for when all that has happened since is.
    do { try await asking.value } catch ClientFault.cancelled {} catch { throw error }
    return try ended.get()
  }

  /// An answer that was asked for by hand, or came to the outbox, may leave something open of which no event tells.
  private func fetchNeeds(told news: AsyncStream<CacheNews>) async throws {
    try await sync.fetchNeeds()
    var unanswered = await cache.replica.needs
    for await one in news where one.isOther {
      let needs = await cache.replica.needs
      unanswered.formIntersection(needs)
      // What has no answer that is new enough is not asked for again and again, but after the next event.
      guard !needs.isSubset(of: unanswered) else { continue }
      try await sync.fetchNeeds()
      unanswered = await cache.replica.needs
    }
  }

  private func take(_ live: LiveConnection) async throws -> ClientFault? {
    try await withTaskCancellationHandler {
      for await news in live {
        switch news {
        case .event(let frame):
          let event: ReceivedEvent
          do { event = try ReceivedEvent(json: JSONValue(parsing: frame.representation.bytes)) } catch {
            return .notUnderstood("\(error)")
          }
          try await sync.take([event])
          if event.kind == .messageCreated { await deliveries.tellSoon() }
        case .signal(let frame): for listener in listeners.values { listener.yield(frame) }
        case .live(let cursor):
          failures = 0
          if let cursor = EventCursor(cursor) { try await sync.caughtUp(to: cursor) }
          set(.following)
        case .reset(let reason, _): return .interrupted("what has happened since can’t be told: \(reason)")
        case .away(let fault, _), .ended(let fault): return fault
        }
      }
      return nil
    } onCancel: {
      live.stop()
    }
  }

  private func pause(_ time: Duration) async {
    let wait = clock.wait
    let pausing = Task { _ = try? await wait(time) }
    self.pausing = pausing
    // Whoever stops while this begins finds no pause to end.
    if Task.isCancelled { pausing.cancel() }
    await pausing.value
    self.pausing = nil
  }

  private func end(_ error: any Error) async {
    await deliveries.stop()
    await outbox.stop()
    switch error {
    case SyncRefusal.accountChanged:
      do throws(CacheFault) {
        try await pictures.erase()
        set(.accountChanged)
      } catch { set(.broken(error)) }
    case let fault as CacheFault: set(.broken(fault))
    default: set(.signedOut)
    }
    following = nil
  }

  // MARK: Watching

  private func set(_ new: State) {
    guard state != new else { return }
    state = new
    for watcher in watchers.values { watcher.yield(new) }
  }

  /// How it stands, now and whenever that changes.
  public func states() -> AsyncStream<State> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: State.self)
    watchers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    continuation.yield(state)
    return stream
  }

  /// Who is typing and who is here, while it is followed; who is slow sees the newest.
  public func signals() -> AsyncStream<LiveFrame> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: LiveFrame.self, bufferingPolicy: .bufferingNewest(64))
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    return stream
  }

  private func forget(_ observer: Int) {
    watchers[observer] = nil
    listeners[observer] = nil
  }

  // MARK: Leaving

  /// Ends the session and erases what is held. While something waits to be sent it is refused, unless it is forced.
  public func signOut(isForced: Bool = false) async throws {
    let waiting = await outbox.list()
    guard waiting.isEmpty || isForced else { throw OutboxRefusal.unsentWork(waiting) }
    await stop()
    do throws(ClientFault) {
      try await client.send(.endSession("current"))
    } catch {
      // Without a network the session ends at the server when its owner ends it elsewhere; what is here goes all the same.
      guard error.isSignedOut || error.isTemporary || error.isGone else { throw error }
    }
    client.token = nil
    try await pictures.erase()
    try await cache.erase()
  }
}
