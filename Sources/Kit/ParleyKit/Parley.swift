// One user's replica on this device: cache, outbox, and the loop that synchronizes both with the server.
//
// The loop catches up from the cursor page by page, with one transaction of the store per page, and then reads a live
// connection. When the connection is lost, the loop restarts after a growing delay. So a network that blocks WebSockets
// still gets new events, with a delay.

import ParleyJSON
import ParleyModel

/// A signed-in user with the local copy, the outbox and the live connection: the entry to ParleyKit.
public actor Parley {
  /// Requests to the server.
  public nonisolated let client: Client
  /// The local copy.
  public nonisolated let cache: Cache
  /// Unsent operations.
  public nonisolated let outbox: Outbox
  /// The synchronization of the copy.
  public nonisolated let sync: Sync
  /// Avatars and icons.
  public nonisolated let pictures: PictureCache
  /// Objects for views.
  public nonisolated let observed: ObservedObjects
  private let deliveries: DeliveryReceipts
  private let clock: Outbox.Clock
  private let didSignOut: @Sendable () -> Void
  private var loop: Task<Void, Never>?
  private var live: LiveConnection?
  /// The delay before the next attempt.
  private var backoff: Task<Void, Never>?
  private var failures = 0
  private var stateObservers: [Int: AsyncStream<State>.Continuation] = [:]
  private var signalObservers: [Int: AsyncStream<LiveFrame>.Continuation] = [:]
  private var timelineObservers: [Int: AsyncStream<Void>.Continuation] = [:]
  private var lastObserver = 0
  /// The state of the connection.
  public private(set) var state = State.stopped

  /// States of the connection to the server.
  public enum State: Sendable, Hashable {
    /// Not started, or stopped.
    case stopped
    /// The cache is up to date and receives live events.
    case live
    /// The connection failed and is retried.
    case retrying(ClientFault)
    /// The session was revoked, and the local data is erased; or it has expired, and the data is locked until the same user
    /// signs in and `start` is called. Unsent messages are kept for that user in either case.
    case signedOut
    /// Another user has signed in. The data of the previous user was erased. `start` begins for the new user.
    case userChanged
    /// The cache can't be read or written.
    case cacheFailed(CacheFault)
  }

  /// - Parameters:
  ///   - open: opens a local file of the outbox.
  ///   - pictures: the file of the picture cache; nil disables it.
  ///   - didSignOut: removes the token from the app's own storage.
  ///   - store: creates the store, on the cache's executor: `{ try DiskStore(path) }` or `{ MemoryStore() }`.
  public init(
    _ client: Client, clock: Outbox.Clock, _ indexing: MessageIndexing = MessageIndexing(),
    open: @escaping @Sendable (PendingFile) async throws -> FileSource, pictures: PictureFile? = nil,
    didSignOut: @escaping @Sendable () -> Void = {}, _ store: @Sendable () throws -> sending any CacheStore
  ) throws(CacheFault) {
    self.client = client
    self.clock = clock
    self.didSignOut = didSignOut
    cache = try Cache(indexing, keepsPictures: pictures != nil, store)
    outbox = Outbox(cache, client, clock: clock, open: open)
    sync = Sync(cache, client)
    deliveries = DeliveryReceipts(cache, client, wait: clock.wait)
    observed = ObservedObjects(cache)
    self.pictures = try PictureCache(client, pictures)
  }

  /// The model of a view of a conversation.
  @MainActor public func room(_ conversation: ID<Conversation>) -> RoomModel { RoomModel(conversation, self) }

  // MARK: Loop

  /// Synchronizes and sends the outbox until `stop`.
  public func start() {
    guard loop == nil else { return }
    failures = 0
    loop = Task { await self.run() }
  }

  /// Ends the live connection and sending. The copy stays.
  public func stop() async {
    loop?.cancel()
    backoff?.cancel()
    await loop?.value
    loop = nil
    await deliveries.stop()
    await outbox.stop()
    set(.stopped)
  }

  /// Call it when the network may be available again or the app becomes active. Ends all backoffs and pings an open
  /// connection.
  public func networkAvailable() async {
    failures = 0
    backoff?.cancel()
    live?.networkAvailable()
    await outbox.networkAvailable()
  }

  /// Call it when the network is lost. Closes the live connection.
  public func networkLost() { live?.networkLost() }

  private func run() async {
    var isVerified = false
    while !Task.isCancelled {
      let token = client.token
      let fault: ClientFault?
      do {
        // Never show or send the data of one user as another.
        if !isVerified {
          try await sync.verifyUser()
          isVerified = true
        }
        try await removeGonePictures()
        // The outbox stops when the disk is full.
        try await outbox.start()
        try await sync.catchUp()
        try await removeGonePictures()
        await deliveries.scheduleSend()
        await outbox.networkAvailable()
        fault = try await receiveLive()
      } catch {
        if Task.isCancelled { return }
        guard let known = error as? ClientFault else { return await end(error, of: token) }
        fault = known
      }
      if Task.isCancelled { return }
      if let fault {
        if fault.isSignedOut { return await end(fault, of: token) }
        set(.retrying(fault))
      }
      failures += 1
      await pause(fault?.retryDelay ?? clock.pause(failures))
    }
  }

  /// Applies live events until the connection is lost. Returns the reason.
  private func receiveLive() async throws -> ClientFault? {
    let cursor = await cache.replica.cursor?.description
    let live = LiveConnection(client, topics: topics, after: cursor)
    self.live = live
    let updates = await cache.updates()
    let needsTask = Task {
      do { try await self.fetchNeeds(on: updates) } catch {
        live.stop()
        throw error
      }
    }
    let ended: Result<ClientFault?, any Error>
    do { ended = .success(try await consume(live)) } catch { ended = .failure(error) }
    live.stop()
    self.live = nil
    needsTask.cancel()
    // A cancelled request is repeated after the next catch-up.
    do { try await needsTask.value } catch ClientFault.cancelled {} catch { throw error }
    return try ended.get()
  }

  /// Fetches the needs that responses leave, for which no event arrives.
  private func fetchNeeds(on updates: AsyncStream<CacheUpdate>) async throws {
    try await sync.fetchNeeds()
    var unresolved = await cache.replica.needs
    for await one in updates where one.isOther {
      try await removeGonePictures()
      let needs = await cache.replica.needs
      unresolved.formIntersection(needs)
      // A need without a recent enough response is requested again after the next event, not in a loop.
      guard !needs.isSubset(of: unresolved) else { continue }
      try await sync.fetchNeeds()
      unresolved = await cache.replica.needs
    }
  }

  /// Removes the pictures of files that messages have lost. If their store fails, the files stay noted for the next time.
  private func removeGonePictures() async throws {
    let files = await cache.goneFiles
    guard !files.isEmpty, await pictures.remove(files) else { return }
    try await cache.forgetGone(files)
  }

  private func consume(_ live: LiveConnection) async throws -> ClientFault? {
    try await withTaskCancellationHandler {
      for await update in live {
        switch update {
        case .event(let frame):
          let event: ReceivedEvent
          do { event = try ReceivedEvent(json: JSONValue(parsing: frame.representation.bytes)) } catch {
            return .invalidResponse("\(error)")
          }
          try await sync.receive([event])
          if event.kind == .messageCreated { await deliveries.scheduleSend() }
          if !timelineObservers.isEmpty, await cache.mayChangeTimeline(event) { noteTimelineChange() }
        case .signal(let frame): for observer in signalObservers.values { observer.yield(frame) }
        case .live(let cursor):
          failures = 0
          if let cursor = EventCursor(cursor) { try await sync.caughtUp(to: cursor) }
          noteTimelineChange()
          set(.live)
        case .restarted: return .interrupted("the server has restarted")
        case .reset(let reason, _): return .interrupted("the missed events are not available: \(reason)")
        case .disconnected(let fault, _), .ended(let fault): return fault
        }
      }
      return nil
    } onCancel: {
      live.stop()
    }
  }

  private func pause(_ time: Duration) async {
    let wait = clock.wait
    let backoff = Task { _ = try? await wait(time) }
    self.backoff = backoff
    // `stop` may have run before `backoff` was set.
    if Task.isCancelled { backoff.cancel() }
    await backoff.value
    self.backoff = nil
  }

  /// - Parameter token: the token of the attempt that failed. The app may have signed in again since.
  private func end(_ error: any Error, of token: String?) async {
    await deliveries.stop()
    await outbox.stop()
    do {
      switch error {
      case SyncRefusal.userChanged:
        try await pictures.erase()
        set(.userChanged)
      case let fault as CacheFault: set(.cacheFailed(fault))
      default:
        // The session never becomes valid again.
        if client.token == token {
          client.token = nil
          didSignOut()
        }
        try await pictures.erase()
        if (error as? ClientFault)?.isRevoked ?? false { try await sync.seal() } else { try await sync.lockCache() }
        set(.signedOut)
      }
    } catch { set(.cacheFailed(error as? CacheFault ?? .broken("\(error)"))) }
    loop = nil
  }

  // MARK: Observers

  private func set(_ new: State) {
    guard state != new else { return }
    state = new
    for observer in stateObservers.values { observer.yield(new) }
  }

  /// The current state and each change.
  public func states() -> AsyncStream<State> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: State.self)
    stateObservers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    continuation.yield(state)
    return stream
  }

  /// Typing, presence and app signals of the live connection. A slow reader gets the newest.
  public func signals() -> AsyncStream<LiveFrame> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: LiveFrame.self, bufferingPolicy: .bufferingNewest(64))
    signalObservers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    return stream
  }

  private func removeObserver(_ observer: Int) async {
    stateObservers[observer] = nil
    signalObservers[observer] = nil
    if timelineObservers.removeValue(forKey: observer) != nil { await live?.setTopics(topics) }
  }

  /// The topics of the live connection: `timeline` while there are observers of it.
  private var topics: [LiveTopic] { timelineObservers.isEmpty ? [.me] : [.me, .timeline] }

  /// A value after changes of feeds that the user follows, and once their events arrive. Changes during the work on one cause
  /// one more. The topic `timeline` is subscribed until the sequence ends.
  func timelineChanges() async -> AsyncStream<Void> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    timelineObservers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    await live?.setTopics(topics)
    return stream
  }

  private func noteTimelineChange() {
    for observer in timelineObservers.values { observer.yield() }
  }

  // MARK: Signing out

  /// Revokes the session and erases the local data. Throws if the outbox has more than read positions, unless forced: then
  /// they are kept for the next session of the same user, as are drafts and lost messages.
  public func signOut(isForced: Bool = false) async throws {
    let waiting = await outbox.list().filter { $0.kind != .read }
    guard waiting.isEmpty || isForced else { throw OutboxRefusal.unsentWork(waiting) }
    await stop()
    do throws(ClientFault) {
      try await client.send(.revokeSession("current"))
    } catch {
      // Offline the local data is erased all the same. The user can revoke the session from another device.
      guard error.isSignedOut || error.isTemporary || error.isGone else { throw error }
    }
    client.token = nil
    didSignOut()
    try await pictures.erase()
    try await sync.seal()
  }
}
