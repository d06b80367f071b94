// One epoll descriptor per loop, itself watched by one Dispatch source (an epoll descriptor is readable when something
// in it is ready). Descriptors are added once, edge-triggered, and never changed: no system call per request but the
// read and the write. Against one Dispatch source per socket this is twice the throughput.

import CLinux
import Dispatch
import Glibc

final class EpollPoller: Poller {
  private let epoll: Descriptor
  let reportsEnd = true
  private var source: (any DispatchSourceRead)?

  /// How many events one call takes, and how many calls one turn makes before other work of the queue gets its turn.
  private static let batch = 256
  private static let rounds = 32

  init() throws(SystemError) {
    epoll = try Descriptor(checking: epoll_create1(Int32(EPOLL_CLOEXEC)), "epoll_create1")
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
        let count = unsafe epoll_wait(epoll.number, events.baseAddress, Int32(Self.batch), 0)
        guard count > 0 else { return }
        loop.reactor.beginTurn()
        for index in 0..<Int(count) {
          let event = unsafe events[index]
          let data = unsafe event.data.u64
          loop.reactor.deliver(
            unsafe Readiness(epoll: event.events), to: Int32(truncatingIfNeeded: data), generation: UInt32(data >> 32),
            on: loop)
        }
        loop.endTurn()
      }
    }
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
