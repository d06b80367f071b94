// An event loop is a serial Dispatch queue and an actor that is its own executor: code isolated to the loop runs only
// on that queue, and the compiler proves it. Connections are plain classes confined to their loop.
//
// A turn: the poller reports a bounded batch of ready descriptors, each handler is called, then the jobs that these
// calls started run from a local list, then every stream with output is flushed with one system call. Work from other
// threads arrives through `queue.async` and ends its turn the same way.
//
// A queue is not a thread: Dispatch may run two turns on different threads, so no state here is thread-local.

public import Dispatch
import Synchronization

/// The operations that a descriptor is ready for.
struct Readiness: OptionSet, Sendable {
  let rawValue: UInt8

  static let readable = Readiness(rawValue: 1)
  static let writable = Readiness(rawValue: 2)
  /// End of input or an error; reading tells which.
  static let ended = Readiness(rawValue: 4)
}

/// Handles the events of a descriptor on its loop.
protocol DescriptorHandler: AnyObject {
  func ready(_ readiness: Readiness, on loop: isolated EventLoop)
  /// The descriptor's deadline has expired.
  func expired(on loop: isolated EventLoop)
  /// The turn requested with `requestTurn`.
  func repeated(on loop: isolated EventLoop)
  /// The end of a turn, requested with `atTurnEnd`.
  func turnEnded(on loop: isolated EventLoop)
}

public actor EventLoop: SerialExecutor {
  /// The polling mechanism. Both pass the same tests; sources need no epoll and have half the throughput.
  public enum Polling: String, Sendable, CaseIterable {
    case nestedEpoll = "epoll"
    case dispatchSources = "sources"
  }

  public nonisolated let queue: DispatchQueue
  private nonisolated let key = DispatchSpecificKey<Bool>()
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

  /// The number of connections. The listener assigns a new connection to the loop with the fewest.
  nonisolated let load = Atomic<Int>(0)

  let reactor: Reactor
  private nonisolated let waker: Waker
  private var jobs: [UnownedJob] = []
  private var isContinuationPosted = false
  private var residents: [ObjectIdentifier: AnyObject] = [:]

  /// Maximum rounds of jobs per turn, so that a task that yields forever does not starve the descriptors.
  private static let roundsPerTurn = 64

  /// - Parameters:
  ///   - memory: counts the buffers of the streams.
  ///   - clock: monotonic time in nanoseconds, for deadlines.
  public init(
    label: String = "parley.loop", polling: Polling = .nestedEpoll, memory: MemoryBudget = MemoryBudget(),
    clock: @escaping @Sendable () -> Int64 = Clock.monotonic
  ) throws(SystemError) {
    queue = DispatchQueue(label: label)
    waker = try Waker()
    reactor = try Reactor(polling: polling, queue: queue, waker: waker, memory: memory, clock: clock)
    queue.setSpecific(key: key, value: true)
  }

  /// Starts polling. Call it once, before the first registration.
  public func start() {
    reactor.start(on: self)
  }

  /// Stops polling and releases all handlers and residents, so that the loop can be deallocated.
  public func stop() {
    reactor.stop()
    residents = [:]
  }

  /// Monotonic time in nanoseconds, read once per turn.
  public var now: Int64 { reactor.now }

  // MARK: Executor

  public nonisolated var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  public nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent {
      assumeIsolated { $0.jobs.append(job) }
    } else {
      post { loop in
        loop.reactor.beginTurn()
        unsafe job.runSynchronously(on: loop.asUnownedSerialExecutor())
        loop.endTurn()
      }
    }
  }

  public nonisolated func checkIsolated() {
    precondition(isCurrent, "not on this event loop")
  }

  public nonisolated func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Runs `body` on the loop: synchronously if called on the loop, otherwise asynchronously.
  public nonisolated func run(_ body: @escaping @Sendable (isolated EventLoop) -> Void) {
    if isCurrent {
      assumeIsolated(body)
    } else {
      post { loop in
        loop.reactor.beginTurn()
        body(loop)
        loop.endTurn()
      }
    }
  }

  /// Enqueues work and wakes the loop if it sleeps in its poller.
  nonisolated func post(_ body: @escaping @Sendable (isolated EventLoop) -> Void) {
    // `body` may hold the last reference to the loop and end before this function does, so retain the waker.
    let waker = self.waker
    waker.announce()
    queue.async {
      waker.begin()
      self.assumeIsolated(body)
    }
    waker.wake()
  }

  /// Runs the jobs that this turn started, which may write, then the turn-end handlers, which flush.
  func endTurn() {
    var rounds = 0
    while !jobs.isEmpty || reactor.hasTurnEndHandlers {
      rounds += 1
      if rounds > Self.roundsPerTurn { return continueLater() }
      let batch = jobs
      jobs.removeAll(keepingCapacity: true)
      for job in batch { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
      if jobs.isEmpty || rounds == Self.roundsPerTurn { reactor.callTurnEndHandlers(on: self) }
    }
  }

  /// Posts a continuation of the turn, at most one at a time.
  private func continueLater() {
    guard !isContinuationPosted else { return }
    isContinuationPosted = true
    post { loop in
      loop.isContinuationPosted = false
      loop.reactor.beginTurn()
      loop.endTurn()
    }
  }

  // MARK: Residents

  /// The loop's only object of this type, created by the first call.
  public func resident<Object: AnyObject>(_ type: Object.Type, make: () -> Object) -> Object {
    if let object = resident(type) { return object }
    let object = make()
    residents[ObjectIdentifier(type)] = object
    return object
  }

  public func resident<Object: AnyObject>(_ type: Object.Type) -> Object? {
    residents[ObjectIdentifier(type)] as? Object
  }
}
