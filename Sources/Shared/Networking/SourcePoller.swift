// Two Dispatch sources per descriptor, for systems without epoll. A source repeats itself for as long as its
// descriptor is ready, so it is suspended when it fires and resumed when a call would have blocked.

import Dispatch

final class SourcePoller: Poller {
  private final class Watch {
    let read: any DispatchSourceRead
    let write: any DispatchSourceWrite
    var isReadSuspended = false
    var isWriteSuspended = false

    init(read: any DispatchSourceRead, write: any DispatchSourceWrite) {
      self.read = read
      self.write = write
    }
  }

  /// Dispatch tells of a hang-up once and then never fires again, so whoever reads must read until nothing is left.
  let reportsEnd = false
  private weak var loop: EventLoop?
  private var watches: [Int32: Watch] = [:]

  func start(on loop: isolated EventLoop) {
    self.loop = loop
  }

  func stop() {
    for descriptor in Array(watches.keys) { remove(descriptor) }
  }

  func add(_ descriptor: Descriptor, generation: UInt32) throws(SystemError) {
    guard let loop else { throw SystemError("add before start", code: 0) }
    let number = descriptor.number
    let read = DispatchSource.makeReadSource(fileDescriptor: number, queue: loop.queue)
    let write = DispatchSource.makeWriteSource(fileDescriptor: number, queue: loop.queue)
    read.setEventHandler { [weak loop] in
      loop?.assumeIsolated { $0.reactor.fired(.readable, number, generation: generation, on: $0) }
    }
    write.setEventHandler { [weak loop] in
      loop?.assumeIsolated { $0.reactor.fired(.writable, number, generation: generation, on: $0) }
    }
    // The number may not go to the next connection before Dispatch has let go of it.
    read.setCancelHandler { withExtendedLifetime(descriptor) {} }
    write.setCancelHandler { withExtendedLifetime(descriptor) {} }
    watches[number] = Watch(read: read, write: write)
    read.activate()
    write.activate()
  }

  func remove(_ descriptor: Int32) {
    guard let watch = watches.removeValue(forKey: descriptor) else { return }
    // A source may not be freed while suspended.
    if watch.isReadSuspended { watch.read.resume() }
    if watch.isWriteSuspended { watch.write.resume() }
    watch.read.cancel()
    watch.write.cancel()
  }

  private func suspend(_ readiness: Readiness, of descriptor: Int32) {
    guard let watch = watches[descriptor] else { return }
    if readiness.contains(.readable), !watch.isReadSuspended {
      watch.isReadSuspended = true
      watch.read.suspend()
    }
    if readiness.contains(.writable), !watch.isWriteSuspended {
      watch.isWriteSuspended = true
      watch.write.suspend()
    }
  }

  func await(_ readiness: Readiness, of descriptor: Int32) {
    guard let watch = watches[descriptor] else { return }
    if readiness.contains(.readable), watch.isReadSuspended {
      watch.isReadSuspended = false
      watch.read.resume()
    }
    if readiness.contains(.writable), watch.isWriteSuspended {
      watch.isWriteSuspended = false
      watch.write.resume()
    }
  }

  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop) {
    loop.reactor.beginTurn()
    suspend(readiness, of: descriptor)
    loop.reactor.deliver(readiness, to: descriptor, generation: generation, on: loop)
    loop.endTurn()
  }
}
