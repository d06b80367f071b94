// The state of one event loop: registered descriptors, their deadlines, and the handlers to call at the end of the
// turn. A plain class confined to its loop. Streams and listeners of the loop reference it and call it directly.
// Functions that call handlers take the loop as an isolated parameter, so that handlers can start tasks on it.

import Dispatch
import Glibc

final class Reactor {
  private let poller: any Poller
  private let queue: DispatchQueue
  private let clock: () -> Int64
  let memory: LoopMemory
  /// The bytes that all streams may still send in this turn.
  private var sendable = Reactor.bytesPerTurn
  private weak var loop: EventLoop?
  private var registrations: [Registration?] = []
  private var generation: UInt32 = 0
  private var turnEndHandlers: [any DescriptorHandler] = []
  /// Keeps its capacity for the next turn.
  private var endingHandlers: [any DescriptorHandler] = []
  private var turnHandlers: [any DescriptorHandler] = []
  private var deadlines = DeadlineHeap()
  private var timer: (any DispatchSourceTimer)?
  private var timerDeadline = Int64.max

  /// Monotonic time in nanoseconds, read once per turn.
  private(set) var now: Int64

  /// The read buffer of all streams of the loop, so that an idle stream has none.
  let input = InputBuffer(size: 65_536)
  /// The buffer for decrypted TLS data, one record at a time.
  let plaintext = InputBuffer(size: 16_384)
  /// Joins adjacent broadcast buffers of the loop's streams.
  let coalescing = CoalescingBuffer()

  private struct Registration {
    let handler: any DescriptorHandler
    let generation: UInt32
    var deadline = Int64.max
    /// The time of its heap entry; `.max` without one.
    var scheduled = Int64.max
  }

  init(
    polling: EventLoop.Polling, queue: DispatchQueue, waker: Waker, memory: MemoryBudget,
    clock: @escaping () -> Int64
  ) throws(SystemError) {
    self.queue = queue
    self.memory = LoopMemory(memory)
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
    turnEndHandlers = []
    turnHandlers = []
  }

  // MARK: Descriptors

  /// Watches a descriptor for all events until `remove`. `ready` is called once per change, and again only after a call
  /// on the descriptor returned EAGAIN and `await` was called.
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

  /// Requests the next readiness event, after a call on the descriptor returned EAGAIN.
  func await(_ readiness: Readiness, of descriptor: Int32) {
    poller.await(readiness, of: descriptor)
  }

  /// `generation` keeps an event of a closed descriptor from reaching a new one with the same number.
  func deliver(_ readiness: Readiness, to descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    guard registrations.indices.contains(Int(descriptor)), let registration = registrations[Int(descriptor)],
      registration.generation == generation
    else { return }
    registration.handler.ready(readiness, on: loop)
  }

  /// Handles an event of one of the poller's Dispatch sources.
  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    poller.fired(readiness, descriptor, generation: generation, on: loop)
  }

  // MARK: Turns

  func beginTurn() {
    now = clock()
    sendable = Self.bytesPerTurn
  }

  /// The bytes that all streams send per turn, beside the first `smallOutput` of each.
  private static let bytesPerTurn = 524_288
  private static let smallOutput = 16_384

  /// The bytes that a stream may send now. A few large responses do not delay the small ones of other connections.
  var allowance: Int { max(Self.smallOutput, min(Stream.bytesPerTurn, sendable)) }

  func didSend(_ bytes: Int) { sendable = max(0, sendable - bytes) }

  /// Calls `turnEnded` at the end of this turn.
  func atTurnEnd(_ handler: any DescriptorHandler) {
    turnEndHandlers.append(handler)
  }

  var hasTurnEndHandlers: Bool { !turnEndHandlers.isEmpty }

  func callTurnEndHandlers(on loop: isolated EventLoop) {
    var all = endingHandlers
    endingHandlers = []
    swap(&all, &turnEndHandlers)
    for handler in all { handler.turnEnded(on: loop) }
    all.removeAll(keepingCapacity: true)
    endingHandlers = all
  }

  /// Calls the handler's `repeated` in a later turn, after the descriptors that are ready now.
  func requestTurn(_ handler: any DescriptorHandler) {
    turnHandlers.append(handler)
    guard turnHandlers.count == 1, let loop else { return }
    loop.post { $0.reactor.repeatTurn(on: $0) }
  }

  private func repeatTurn(on loop: isolated EventLoop) {
    beginTurn()
    let handlers = turnHandlers
    turnHandlers = []
    for handler in handlers { handler.repeated(on: loop) }
    loop.endTurn()
  }

  // MARK: Deadlines

  /// Sets the deadline of a descriptor; `.max` for none. Postponing a deadline is free: its heap entry is checked again
  /// when it expires.
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
    guard let next = deadlines.first, next.at < timerDeadline else { return }
    timerDeadline = next.at
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

  /// Calls the handlers of expired deadlines. First delivers pending input and flushes output: this process may have
  /// been delayed, not the peer.
  func expire(on loop: isolated EventLoop) {
    beginTurn()
    timerDeadline = .max
    let due = removeDue()
    for entry in due {
      let readiness = Descriptor.readiness(of: entry.descriptor)
      // A connecting stream takes an empty readiness for a completed connection.
      if !readiness.isEmpty { deliver(readiness, to: entry.descriptor, generation: entry.generation, on: loop) }
    }
    loop.endTurn()
    beginTurn()
    for entry in due {
      let index = Int(entry.descriptor)
      guard registrations.indices.contains(index), let registration = registrations[index],
        registration.generation == entry.generation, registration.deadline <= now
      else { continue }
      registrations[index]?.deadline = .max
      registration.handler.expired(on: loop)
    }
    loop.endTurn()
    armTimer()
  }

  /// Removes the expired heap entries. Reschedules those with a postponed deadline and returns the others.
  private func removeDue() -> [DeadlineHeap.Entry] {
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

/// A binary heap of deadlines, the earliest first. Entries may be stale; the reactor checks them on removal.
struct DeadlineHeap {
  struct Entry {
    let at: Int64
    let descriptor: Int32
    let generation: UInt32
  }

  private var entries: [Entry] = []

  var first: Entry? { entries.first }

  mutating func push(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].at < entries[parent].at else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard let last = entries.popLast(), !entries.isEmpty else { return }
    entries[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < entries.count else { break }
      let right = left + 1
      let child = right < entries.count && entries[right].at < entries[left].at ? right : left
      guard entries[child].at < entries[parent].at else { break }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}

/// Read buffer memory, shared by all connections of a loop. It has a mapping of its own, so that it holds only the pages that
/// a read has filled.
@safe struct InputBuffer: ~Copyable {
  let bytes: UnsafeMutableRawBufferPointer

  init(size: Int) {
    let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    unsafe precondition(start != MAP_FAILED, "no memory for a read buffer")
    unsafe bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
  }

  deinit { unsafe munmap(bytes.baseAddress, bytes.count) }
}
