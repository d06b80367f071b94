import Dispatch
import Glibc
import Synchronization

@testable import ParleyNetworking

/// A thread-safe list of the events of streams and listeners.
final class Collected<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func add(_ element: Element) { list.withLock { $0.append(element) } }
  var all: [Element] { list.withLock { $0 } }
  var count: Int { list.withLock { $0.count } }
}

/// A stream handler that records its events and runs the actions of the test.
final class Recorder: StreamHandler {
  enum Event: Sendable, Equatable {
    case opened, ended, drained, resumed, expired
    case received([UInt8])
    case closed(isFailed: Bool)
  }

  var stream: ParleyNetworking.Stream?
  private let events: Collected<Event>
  private let react: @Sendable (Event, ParleyNetworking.Stream, isolated EventLoop) -> Void

  init(
    _ events: Collected<Event>,
    react: @escaping @Sendable (Event, ParleyNetworking.Stream, isolated EventLoop) -> Void = { _, _, _ in }
  ) {
    self.events = events
    self.react = react
  }

  private func record(_ event: Event, _ loop: isolated EventLoop) {
    events.add(event)
    if let stream { react(event, stream, loop) }
  }

  func opened(on loop: isolated EventLoop) { record(.opened, loop) }
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    record(.received(copy), loop)
  }
  func ended(on loop: isolated EventLoop) { record(.ended, loop) }
  func drained(on loop: isolated EventLoop) { record(.drained, loop) }
  func resumed(on loop: isolated EventLoop) { record(.resumed, loop) }
  func expired(on loop: isolated EventLoop) { record(.expired, loop) }
  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    record(.closed(isFailed: error != nil), loop)
    stream = nil
  }
}

extension EventLoop {
  /// Runs a loop during a test.
  static func running(
    _ polling: Polling, memory: MemoryBudget = MemoryBudget(), clock: @escaping @Sendable () -> Int64 = Clock.monotonic,
    _ body: @Sendable (EventLoop) async throws -> Void
  ) async throws {
    Signals.ignoreBrokenPipes()
    let loop = try EventLoop(polling: polling, memory: memory, clock: clock)
    await loop.start()
    do { try await body(loop) } catch {
      await loop.stop()
      throw error
    }
    await loop.stop()
  }

  /// Listens on a free port, with a recorder for each connection.
  func listen(
    at address: SocketAddress = .ipv4(0x7f00_0001, port: 0),
    _ react: @escaping @Sendable (Recorder.Event, ParleyNetworking.Stream, isolated EventLoop) -> Void = { _, _, _ in },
    events: Collected<Recorder.Event> = Collected()
  ) throws -> SocketAddress {
    let socket = try ListeningSocket(binding: address)
    let listener = try Listener.start(
      socket, loops: [self], on: self,
      serve: { descriptor, peer, loop in
        let recorder = Recorder(events, react: react)
        recorder.stream = try? ParleyNetworking.Stream.accept(
          descriptor, peer: peer, tls: nil, handler: recorder, on: loop)
      }, log: { _ in })
    resident(Kept.self) { Kept() }.listeners.append(listener)
    return socket.address
  }

  func connect(
    to address: SocketAddress, events: Collected<Recorder.Event>,
    _ react: @escaping @Sendable (Recorder.Event, ParleyNetworking.Stream, isolated EventLoop) -> Void = { _, _, _ in }
  ) throws {
    let recorder = Recorder(events, react: react)
    recorder.stream = try ParleyNetworking.Stream.connect(to: address, handler: recorder, on: self)
  }
}

private final class Kept {
  var listeners: [Listener] = []
}

/// Polls until the condition is true.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = Clock.monotonic() + 100_000_000_000
  while Clock.monotonic() < deadline {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return condition()
}
