import Foundation
import ParleyWire
import Synchronization
import Testing
import Web

@testable import ParleyNetworking
@testable import Serving

/// A server configuration.
struct Variant: Sendable, CaseIterable, CustomTestStringConvertible {
  var polling = EventLoop.Polling.nestedEpoll
  var loops = 1

  static let allCases = EventLoop.Polling.allCases.flatMap { polling in
    [1, 2].map { Variant(polling: polling, loops: $0) }
  }

  var testDescription: String { "\(polling.rawValue) × \(loops)" }
}

/// A server that runs during one test.
struct Running: Sendable {
  let server: Server
  let logLines: Collected<String>
  let clock: ManualClock?

  var address: SocketAddress { server.addresses[0] }

  func connect(tls: TLSConfiguration? = nil, receiveBuffer: Int32? = nil) throws -> RawClient {
    try RawClient(address, tls: tls, receiveBuffer: receiveBuffer)
  }

  /// Advances the server's clock at once.
  func advance(_ milliseconds: Int) async {
    clock?.advance(milliseconds: milliseconds)
    for loop in server.loops { await loop.expireDeadlines() }
  }

  /// Advances the clock in steps of 100 ms until the condition is true. Returns the number of steps: on a busy machine
  /// more than the limit, never fewer.
  func tenths(until isSo: () -> Bool) async -> Int {
    let end = Clock.monotonic() + timeout
    var count = 0
    while !isSo(), Clock.monotonic() < end {
      await advance(100)
      count += 1
    }
    return count
  }

  /// Whether a well-behaved client is served.
  func servesOthers(tls: TLSConfiguration? = nil) throws -> Bool {
    let client = try connect(tls: tls)
    try client.send(get("/hello"))
    return try client.answer().status == 200
  }
}

/// Runs a server, and the body on a separate thread, since it blocks. Then checks that no connection is left, stops the
/// server, and checks that its memory was freed.
func serving(
  _ site: Application, _ variant: Variant = Variant(), tls: TLSConfiguration? = nil, clock: ManualClock? = nil,
  _ body: @escaping @Sendable (Running) async throws -> Void
) async throws {
  Signals.ignoreBrokenPipes()
  await slots.enter()
  defer { slots.leave() }
  try await withTaskExecutorPreference(OwnThread()) {
    let witnesses = try await serve(site, variant, tls, clock, body)
    #expect(eventually { witnesses.allSatisfy(\.isGone) }, "something of the server stays in memory: \(witnesses)")
  }
}

private func serve(
  _ site: Application, _ variant: Variant, _ tls: TLSConfiguration?, _ clock: ManualClock?,
  _ body: @Sendable (Running) async throws -> Void
) async throws -> [Witness] {
  let logLines = Collected<String>()
  let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
  let server = try Server(
    .init(endpoints: [.init(socket, tls: tls)], loops: variant.loops, polling: variant.polling), application: site,
    clock: clock?.read ?? Clock.monotonic, log: { logLines.add($0) })
  try await server.start()
  var witnesses: [Witness] = []
  for loop in server.loops { witnesses.append(await witness(loop)) }
  do {
    try await body(Running(server: server, logLines: logLines, clock: clock))
  } catch {
    await server.stop(within: 0)
    throw error
  }
  #expect(eventually { server.connectionCount == 0 }, "\(server.connectionCount) connections are left")
  #expect(await server.stop(within: 100))
  return witnesses
}

/// Weak references to a loop and its objects. Every connection retains its shard, every stream its reactor.
private final class Witness: Sendable, CustomStringConvertible {
  nonisolated(unsafe) private weak var loop: EventLoop?
  nonisolated(unsafe) private weak var reactor: Reactor?
  nonisolated(unsafe) private weak var shard: Shard?

  init(_ loop: isolated EventLoop) {
    self.loop = loop
    reactor = loop.reactor
    shard = loop.resident(Shard.self)
  }

  var isGone: Bool { loop == nil && reactor == nil && shard == nil }
  var description: String { "loop \(loop != nil), reactor \(reactor != nil), shard \(shard != nil)" }
}

private func witness(_ loop: isolated EventLoop) -> Witness { Witness(loop) }

/// Timeout for operations that are immediate on an idle machine.
private let timeout: Int64 = 100_000_000_000

/// Polls until the condition is true.
func eventually(_ condition: () -> Bool) -> Bool {
  let deadline = Clock.monotonic() + timeout
  while Clock.monotonic() < deadline {
    if condition() { return true }
    usleep(500)
  }
  return condition()
}

/// Blocks the thread, in a handler the event loop, until the condition is true.
func block(until condition: () -> Bool) { _ = eventually(condition) }

func eventually(_ condition: () async -> Bool) async -> Bool {
  let deadline = Clock.monotonic() + timeout
  while Clock.monotonic() < deadline {
    if await condition() { return true }
    usleep(500)
  }
  return await condition()
}

/// Runs a blocking test on its own thread: Dispatch has few threads, and the servers' loops run on them.
private final class OwnThread: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Limits the number of concurrent tests.
private let slots = TestSlots(8)

final class TestSlots: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  func enter() async {
    await withCheckedContinuation { continuation in
      let mayEnter = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if mayEnter { continuation.resume() }
    }
  }

  func leave() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }?.resume()
  }
}

/// Values collected by handlers for the test.
final class Collected<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func add(_ element: Element) { list.withLock { $0.append(element) } }
  var all: [Element] { list.withLock { $0 } }
  var count: Int { list.withLock { $0.count } }
}

/// Blocks handlers until the test opens it.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrived = 0
  }

  private let state = Mutex(State())

  var arrived: Int { state.withLock { $0.arrived } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrived += 1
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Resumes the handler that has waited longest.
  func releaseOne() {
    _ = eventually { state.withLock { !$0.waiting.isEmpty } }
    state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.resume()
  }
}

// MARK: Requests and applications

func get(_ path: String, _ fields: String...) -> String {
  "GET \(path) HTTP/1.1\r\nHost: garden.example\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n"
}

func post(_ path: String, _ body: String, _ fields: String...) -> String {
  "POST \(path) HTTP/1.1\r\nHost: garden.example\r\nContent-Length: \(body.utf8.count)\r\n"
    + "\(fields.map { $0 + "\r\n" }.joined())\r\n\(body)"
}

func chunked(_ path: String, _ chunks: [String], trailers: String = "", _ fields: String...) -> String {
  "POST \(path) HTTP/1.1\r\nHost: garden.example\r\nTransfer-Encoding: chunked\r\n"
    + "\(fields.map { $0 + "\r\n" }.joined())\r\n"
    + chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\(trailers)\r\n"
}

/// An application with the common routes and those of the test.
func garden(
  limits: Limits = Limits(), calls: Collected<String> = Collected(), _ more: (inout Router.Builder) -> Void = { _ in }
) -> Application {
  let router = Router { routes in
    routes.on(.get, "/hello") { request, _ in
      calls.add(request.head.target.query ?? "hello")
      return .text("hello \(request.head.target.query ?? "")")
    }
    routes.on(.post, "/echo", bodyLimit: 64 << 20) { request, _ throws(Problem) in
      calls.add("echo")
      return Response(.ok, try await request.body.collect(), type: .bytes)
    }
    routes.on(.post, "/ignore", bodyLimit: 64 << 20) { _, _ in
      calls.add("ignore")
      return .text("ignored")
    }
    more(&routes)
  }
  return Application(router: router, limits: limits, commonFields: [:])
}
