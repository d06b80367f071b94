// An event loop is a serial Dispatch queue and an actor that is its own executor: what is isolated to the loop runs
// on that queue and nowhere else, and the compiler proves it. Connections are plain classes that never leave it.
//
// A turn: the poller reports what is ready (a bounded batch), each handler is called, then the jobs that these calls
// started run from a local list, then every stream that was written to is flushed with one system call. Work from
// other threads comes through `queue.async` and ends its turn the same way.
//
// A queue is not a thread: Dispatch may run two turns on different threads, so nothing here is thread-local.

public import Dispatch
import Synchronization

/// What a descriptor is ready for.
struct Readiness: OptionSet, Sendable {
  let rawValue: UInt8

  static let readable = Readiness(rawValue: 1)
  static let writable = Readiness(rawValue: 2)
  /// The peer will send nothing more, or the descriptor failed; reading tells which.
  static let ended = Readiness(rawValue: 4)
}

/// What waits for a descriptor on a loop.
protocol DescriptorHandler: AnyObject {
  func ready(_ readiness: Readiness, on loop: isolated EventLoop)
  /// The deadline set for this descriptor has passed.
  func expired(on loop: isolated EventLoop)
  /// The handler asked for a turn of its own.
  func repeated(on loop: isolated EventLoop)
  /// The handler asked to be called when the work of this turn is done.
  func turnEnded(on loop: isolated EventLoop)
}

public actor EventLoop: SerialExecutor {
  /// How descriptors are watched. Both pass the same tests; sources need no epoll and cost half the throughput.
  public enum Polling: String, Sendable, CaseIterable {
    case nestedEpoll = "epoll"
    case dispatchSources = "sources"
  }

  public nonisolated let queue: DispatchQueue
  private nonisolated let key = DispatchSpecificKey<Bool>()
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

  /// How many connections live here; the listener gives a new one to the loop that has fewest.
  nonisolated let load = Atomic<Int>(0)

  let reactor: Reactor
  private nonisolated let waker: Waker
  private var jobs: [UnownedJob] = []
  private var isContinued = false
  private var residents: [ObjectIdentifier: AnyObject] = [:]

  /// How many rounds of jobs one turn runs: a task that yields for ever may not starve the descriptors.
  private static let roundsPerTurn = 64

  /// - Parameter clock: monotonic time in nanoseconds, by which deadlines pass.
  public init(
    label: String = "parley.loop", polling: Polling = .nestedEpoll,
    clock: @escaping @Sendable () -> Int64 = Clock.monotonic
  ) throws(SystemError) {
    queue = DispatchQueue(label: label)
    waker = try Waker()
    reactor = try Reactor(polling: polling, queue: queue, waker: waker, clock: clock)
    queue.setSpecific(key: key, value: true)
  }

  /// Begins watching. Called once, before anything is registered.
  public func start() {
    reactor.start(on: self)
  }

  /// Ends watching and lets go of all that lives here, so that the loop can be freed.
  public func stop() {
    reactor.stop()
    residents = [:]
  }

  /// Monotonic time in nanoseconds, read once a turn.
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

  /// Runs `body` on the loop: now if this is the loop, soon otherwise.
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

  /// Puts work on the queue, and wakes the loop if it waits in its poller.
  nonisolated func post(_ body: @escaping @Sendable (isolated EventLoop) -> Void) {
    // The work may be the last that holds the loop, and over before this function is: the waker outlives it.
    let waker = self.waker
    waker.announce()
    queue.async {
      waker.take()
      self.assumeIsolated(body)
    }
    waker.wake()
  }

  /// Runs what this turn started: jobs first, since they may write, then the flushes.
  func endTurn() {
    var rounds = 0
    while !jobs.isEmpty || reactor.hasEnds {
      rounds += 1
      if rounds > Self.roundsPerTurn { return goOnLater() }
      let batch = jobs
      jobs.removeAll(keepingCapacity: true)
      for job in batch { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
      if jobs.isEmpty || rounds == Self.roundsPerTurn { reactor.callEnds(on: self) }
    }
  }

  /// Once, however many turns end meanwhile.
  private func goOnLater() {
    guard !isContinued else { return }
    isContinued = true
    post { loop in
      loop.isContinued = false
      loop.reactor.beginTurn()
      loop.endTurn()
    }
  }

  // MARK: Residents

  /// The one object of this type that lives on the loop, made at the first call.
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
