// Two Dispatch sources per descriptor, for systems without epoll. Sources are level-triggered, so a source is suspended
// when it fires and resumed after EAGAIN.

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

  /// Dispatch reports a hang-up once and never fires again, so a stream must read until EAGAIN or the end.
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
    // Keep the descriptor open until Dispatch has released it, so that its number is not reused.
    read.setCancelHandler { withExtendedLifetime(descriptor) {} }
    write.setCancelHandler { withExtendedLifetime(descriptor) {} }
    watches[number] = Watch(read: read, write: write)
    read.activate()
    write.activate()
  }

  func remove(_ descriptor: Int32) {
    guard let watch = watches.removeValue(forKey: descriptor) else { return }
    // A suspended source must not be released.
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
