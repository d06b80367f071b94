// One epoll descriptor per loop, itself watched by one Dispatch source (an epoll descriptor is readable when something
// in it is ready). Descriptors are added once, edge-triggered, and never changed: no system call per request but the
// read and the write. Against Dispatch sources for each socket this is twice the throughput.
//
// Dispatch arms the source anew after each turn, which wakes two more threads. So a loop that had something to do waits
// a moment for more in `epoll_wait` itself, and only then goes back to Dispatch; work that is posted to its queue
// meanwhile wakes it.

import CParleyLinux
import Dispatch
import Glibc

final class EpollPoller: Poller {
  private let epoll: Descriptor
  private let waker: Waker
  let reportsEnd = true
  private var source: (any DispatchSourceRead)?

  /// How many events one call takes, and how many calls one turn makes before other work of the queue gets its turn.
  private static let batch = 256
  private static let rounds = 32
  /// How many milliseconds a loop waits for more before it goes back to Dispatch. Timers of the queue wait as long.
  private static let patience: Int32 = 2

  init(waker: Waker) throws(SystemError) {
    self.waker = waker
    epoll = try Descriptor(checking: epoll_create1(Int32(EPOLL_CLOEXEC)), "epoll_create1")
    try add(waker.event, generation: 0)
  }

  func start(on loop: isolated EventLoop) {
    let source = DispatchSource.makeReadSource(fileDescriptor: epoll.number, queue: loop.queue)
    let epoll = self.epoll
    let number = epoll.number
    source.setEventHandler { [weak loop] in
      loop?.assumeIsolated { $0.reactor.fired(.readable, number, generation: 0, on: $0) }
    }
    // Dispatch may look at the descriptor until it has seen the cancellation.
    source.setCancelHandler { withExtendedLifetime(epoll) {} }
    source.activate()
    self.source = source
  }

  func stop() {
    source?.cancel()
    source = nil
  }

  func add(_ descriptor: Descriptor, generation: UInt32) throws(SystemError) {
    let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | (1 << 31)  // EPOLLET
    var event = unsafe epoll_event(
      events: interest,
      data: epoll_data_t(u64: UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor.number))))
    guard unsafe epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor.number, &event) == 0 else {
      throw SystemError("epoll_ctl")
    }
  }

  func remove(_ descriptor: Int32) {
    _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, descriptor, nil)
  }

  /// Nothing to do: an edge comes by itself once a call would have blocked.
  func await(_ readiness: Readiness, of descriptor: Int32) {}

  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.batch) { events in
      for _ in 0..<Self.rounds {
        let count = unsafe wait(events)
        guard count > 0 else { return }
        loop.reactor.beginTurn()
        for index in 0..<count {
          let event = unsafe events[index]
          let data = unsafe event.data.u64
          loop.reactor.deliver(
            unsafe Readiness(epoll: event.events), to: Int32(truncatingIfNeeded: data), generation: UInt32(data >> 32),
            on: loop)
        }
        loop.endTurn()
        if waker.hasWork { return }
      }
    }
  }

  /// How many events there are: now, or after a moment. None when there is work on the queue.
  private func wait(_ events: UnsafeMutableBufferPointer<epoll_event>) -> Int {
    let count = unsafe epoll_wait(epoll.number, events.baseAddress, Int32(Self.batch), 0)
    guard count == 0, waker.fallAsleep() else { return Int(count) }
    defer { waker.wakeUp() }
    return Int(unsafe epoll_wait(epoll.number, events.baseAddress, Int32(Self.batch), Self.patience))
  }
}

extension Readiness {
  fileprivate init(epoll events: UInt32) {
    var readiness: Readiness = []
    if events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
    if events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      readiness.formUnion([.readable, .writable, .ended])
    }
    self = readiness
  }
}
