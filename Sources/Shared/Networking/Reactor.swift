// The state of one event loop: who waits for which descriptor and until when, and what is to be done at the end of the
// turn. It is a plain class that lives on its loop, so what else lives there (a stream, a listener) holds it and calls
// it directly; what calls a handler is given the loop, and what is given the loop may start tasks on it.

import Dispatch

final class Reactor {
  private let poller: any Poller
  private let queue: DispatchQueue
  private let clock: () -> Int64
  private weak var loop: EventLoop?
  private var registrations: [Registration?] = []
  private var generation: UInt32 = 0
  private var ends: [any DescriptorHandler] = []
  private var repeats: [any DescriptorHandler] = []
  private var deadlines = DeadlineHeap()
  private var timer: (any DispatchSourceTimer)?
  private var timerSetFor = Int64.max

  /// Monotonic time in nanoseconds, read once a turn.
  private(set) var now: Int64

  /// What every stream of the loop reads into, so that an idle one holds no buffer.
  let input = InputBuffer(size: 65_536)
  /// The same for what TLS has decrypted; one record at a time.
  let plaintext = InputBuffer(size: 16_384)
  /// Of what many streams of the loop send.
  var seam = Seam()

  private struct Registration {
    let handler: any DescriptorHandler
    let generation: UInt32
    var deadline = Int64.max
    /// When the heap's entry for it comes up; `.max` when there is none.
    var scheduled = Int64.max
  }

  init(
    polling: EventLoop.Polling, queue: DispatchQueue, waker: Waker, clock: @escaping () -> Int64
  ) throws(SystemError) {
    self.queue = queue
    self.clock = clock
    now = clock()
    poller =
      switch polling {
      case .nestedEpoll: try EpollPoller(waker: waker)
      case .dispatchSources: SourcePoller()
      }
  }

  func start(on loop: isolated EventLoop) {
    self.loop = loop
    poller.start(on: loop)
  }

  func stop() {
    poller.stop()
    timer?.cancel()
    timer = nil
    registrations = []
    ends = []
    repeats = []
  }

  // MARK: Descriptors

  /// Watches a descriptor until `remove`, for everything. `ready` is called once for each change, and again only after
  /// a call on the descriptor would have blocked and `await` was told so.
  func add(_ descriptor: Descriptor, _ handler: any DescriptorHandler) throws(SystemError) {
    let index = Int(descriptor.number)
    while registrations.count <= index { registrations.append(nil) }
    generation &+= 1
    try poller.add(descriptor, generation: generation)
    registrations[index] = Registration(handler: handler, generation: generation)
  }

  func remove(_ descriptor: Int32) {
    poller.remove(descriptor)
    if registrations.indices.contains(Int(descriptor)) { registrations[Int(descriptor)] = nil }
  }

  var reportsEnd: Bool { poller.reportsEnd }

  /// A call on the descriptor would have blocked: report when it no longer would.
  func await(_ readiness: Readiness, of descriptor: Int32) {
    poller.await(readiness, of: descriptor)
  }

  /// `generation` keeps an event of a closed descriptor from reaching the next one with the same number.
  func deliver(_ readiness: Readiness, to descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    guard registrations.indices.contains(Int(descriptor)), let registration = registrations[Int(descriptor)],
      registration.generation == generation
    else { return }
    registration.handler.ready(readiness, on: loop)
  }

  /// A Dispatch source of the poller has fired.
  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    poller.fired(readiness, descriptor, generation: generation, on: loop)
  }

  // MARK: Turns

  func beginTurn() {
    now = clock()
  }

  /// Calls `turnEnded` when the work of this turn is done.
  func atTurnEnd(_ handler: any DescriptorHandler) {
    ends.append(handler)
  }

  var hasEnds: Bool { !ends.isEmpty }

  func callEnds(on loop: isolated EventLoop) {
    let all = ends
    ends.removeAll(keepingCapacity: true)
    for handler in all { handler.turnEnded(on: loop) }
  }

  /// Calls a handler's `repeated` in a turn of its own, after the descriptors that are ready now.
  func again(_ handler: any DescriptorHandler) {
    repeats.append(handler)
    guard repeats.count == 1, let loop else { return }
    loop.post { $0.reactor.repeatTurn(on: $0) }
  }

  private func repeatTurn(on loop: isolated EventLoop) {
    beginTurn()
    let handlers = repeats
    repeats = []
    for handler in handlers { handler.repeated(on: loop) }
    loop.endTurn()
  }

  // MARK: Deadlines

  /// Sets when `expired` is called for a descriptor; `.max` for never. Moving a deadline later costs nothing: the
  /// heap's entry is looked at again when it comes up.
  func setDeadline(_ deadline: Int64, of descriptor: Int32) {
    let index = Int(descriptor)
    guard registrations.indices.contains(index), let registration = registrations[index] else { return }
    registrations[index]?.deadline = deadline
    guard deadline < registration.scheduled else { return }
    registrations[index]?.scheduled = deadline
    deadlines.push(.init(at: deadline, descriptor: descriptor, generation: registration.generation))
    armTimer()
  }

  private func armTimer() {
    guard let next = deadlines.first, next.at < timerSetFor else { return }
    timerSetFor = next.at
    let timer = self.timer ?? makeTimer()
    let wait = max(0, next.at - clock())
    timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(5))
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak loop] in
      loop?.assumeIsolated { $0.reactor.expire(on: $0) }
    }
    timer.activate()
    self.timer = timer
    return timer
  }

  /// Calls whose deadline has passed. What has come meanwhile counts, and what could be sent is sent first: it may be this
  /// process that was held up, and not the peer.
  func expire(on loop: isolated EventLoop) {
    beginTurn()
    timerSetFor = .max
    let due = takeDue()
    for one in due {
      let readiness = Descriptor.readiness(of: one.descriptor)
      // To a stream that connects, being told of nothing means that it is connected.
      if !readiness.isEmpty { deliver(readiness, to: one.descriptor, generation: one.generation, on: loop) }
    }
    loop.endTurn()
    beginTurn()
    for one in due {
      let index = Int(one.descriptor)
      guard registrations.indices.contains(index), let registration = registrations[index],
        registration.generation == one.generation, registration.deadline <= now
      else { continue }
      registrations[index]?.deadline = .max
      registration.handler.expired(on: loop)
    }
    loop.endTurn()
    armTimer()
  }

  /// The heap's entries that have come up, but for those whose deadline was moved: they get another.
  private func takeDue() -> [DeadlineHeap.Entry] {
    var due: [DeadlineHeap.Entry] = []
    while let entry = deadlines.first, entry.at <= now {
      deadlines.removeFirst()
      let index = Int(entry.descriptor)
      guard registrations.indices.contains(index), let registration = registrations[index],
        registration.generation == entry.generation, registration.scheduled == entry.at
      else { continue }
      registrations[index]?.scheduled = .max
      if registration.deadline > now {
        setDeadline(registration.deadline, of: entry.descriptor)
      } else {
        due.append(entry)
      }
    }
    return due
  }
}
