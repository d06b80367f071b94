// One epoll descriptor per loop, itself watched by one Dispatch source (an epoll descriptor is readable if one of its
// descriptors is ready). Descriptors are added once, edge-triggered, and never modified, so a request costs only the
// system calls for read and write. Throughput is twice that of one Dispatch source per socket.
//
// Dispatch rearms the source after each turn, which wakes two more threads. So a loop that had work first waits in
// `epoll_wait` for up to 2 ms and only then returns to Dispatch. Work posted to its queue wakes it.

import CParleyLinux
import Dispatch
import Glibc

final class EpollPoller: Poller {
  private let epoll: Descriptor
  private let waker: Waker
  let reportsEnd = true
  private var source: (any DispatchSourceRead)?

  /// Events per `epoll_wait`, and calls per turn before the queue runs other work.
  private static let batch = 256
  private static let rounds = 32
  /// Milliseconds to wait for events before returning to Dispatch. It delays timers of the queue by as much.
  private static let pollTimeout: Int32 = 2

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
    // Dispatch may use the descriptor until the cancel handler runs.
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

  /// No-op: edge-triggered epoll reports the next change by itself.
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

  /// Polls, then waits up to `pollTimeout` unless work is queued. Returns the number of events.
  private func wait(_ events: UnsafeMutableBufferPointer<epoll_event>) -> Int {
    let count = unsafe epoll_wait(epoll.number, events.baseAddress, Int32(Self.batch), 0)
    guard count == 0, waker.fallAsleep() else { return Int(count) }
    defer { waker.wakeUp() }
    return Int(unsafe epoll_wait(epoll.number, events.baseAddress, Int32(Self.batch), Self.pollTimeout))
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
