// One person's place on this device: what is held, what waits to be sent, and the loop that keeps both equal to the server.

import Model

public actor Parley {
  public nonisolated let cache: Cache
  public nonisolated let outbox: Outbox
  public nonisolated let sync: Sync
  private let server: any PlaceServer
  private let clock: Outbox.Clock
  private var following: Task<Void, Never>?
  private var observers: [Int: AsyncStream<State>.Continuation] = [:]
  private var lastObserver = 0
  public private(set) var state = State.stopped

  public enum State: Sendable, Hashable {
    case stopped
    /// What is held is what the server holds, and stays so.
    case following
    /// There is no answer; it is tried again.
    case waiting(ServerFault)
    /// The server does not know this person any longer.
    case signedOut
    /// Somebody else has signed in; nothing is left of whoever was here before. `start` begins for the other.
    case accountChanged
    /// What is kept can't be read or written.
    case broken(CacheFault)
  }

  public init(
    _ server: any PlaceServer, clock: Outbox.Clock, _ indexing: MessageIndexing = MessageIndexing(),
    _ store: @Sendable () throws(CacheFault) -> sending any CacheStore
  ) throws(CacheFault) {
    cache = try Cache(indexing, store)
    self.server = server
    self.clock = clock
    outbox = Outbox(cache, server, clock: clock)
    sync = Sync(cache, server)
  }

  /// How long the server may wait for something to happen before it answers, in seconds.
  private static let patience = 25

  /// Follows what happens and sends what waits, until `stop`.
  public func start() async throws {
    guard following == nil else { return }
    try await outbox.start()
    following = Task { await self.follow() }
  }

  public func stop() async {
    following?.cancel()
    await following?.value
    following = nil
    await outbox.stop()
    set(.stopped)
  }

  private func follow() async {
    var failures = 0
    var isFirst = true
    while !Task.isCancelled {
      do {
        try await sync.catchUp(wait: isFirst ? 0 : Self.patience)
        if state != .following { await outbox.networkIsBack() }
        (failures, isFirst) = (0, false)
        set(.following)
      } catch {
        if Task.isCancelled { return }
        guard let fault = error as? ServerFault, !fault.isSignedOut else { return end(error) }
        failures += 1
        isFirst = true
        set(.waiting(fault))
        try? await Task.sleep(for: fault.retryAfter.map { .seconds($0) } ?? clock.pause(failures))
      }
    }
  }

  private func end(_ error: any Error) {
    switch error {
    case SyncRefusal.accountChanged: set(.accountChanged)
    case let fault as CacheFault: set(.broken(fault))
    default: set(.signedOut)
    }
    following = nil
  }

  private func set(_ new: State) {
    guard state != new else { return }
    state = new
    for observer in observers.values { observer.yield(new) }
  }

  /// How it stands, now and whenever that changes.
  public func states() -> AsyncStream<State> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: State.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    continuation.yield(state)
    return stream
  }

  private func forget(_ observer: Int) { observers[observer] = nil }

  /// Ends the session and erases what is held. While something waits to be sent it is refused, unless it is forced.
  public func signOut(isForced: Bool = false) async throws {
    let waiting = await outbox.list()
    guard waiting.isEmpty || isForced else { throw OutboxRefusal.unsentWork(waiting) }
    await stop()
    do {
      _ = try await server.answer(to: ServerCall(.delete, "/sessions/current"))
    } catch {
      // Without a network the session ends at the server when its owner ends it elsewhere; what is here goes all the same.
      guard error.isSignedOut || error.isTemporary || error.isGone else { throw error }
    }
    try await cache.erase()
  }
}
