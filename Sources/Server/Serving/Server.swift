// The server: listens, distributes connections over the loops and shuts down gracefully. `HTTPConnection` implements
// the protocol, the application the responses.

public import ParleyNetworking
import ParleyWire
import Synchronization
public import Web

public final class Server: Sendable {
  public struct Configuration: Sendable {
    public struct Endpoint: Sendable {
      public var socket: ListeningSocket
      /// Connections use TLS if this is set.
      public var tls: TLSConfiguration?

      public init(_ socket: ListeningSocket, tls: TLSConfiguration? = nil) {
        self.socket = socket
        self.tls = tls
      }
    }

    public var endpoints: [Endpoint]
    public var loops: Int
    public var polling: EventLoop.Polling

    public init(endpoints: [Endpoint], loops: Int, polling: EventLoop.Polling = .nestedEpoll) {
      self.endpoints = endpoints
      self.loops = loops
      self.polling = polling
    }
  }

  private let configuration: Configuration
  private let application: Application
  private let accessLog: AccessLog?
  private let log: @Sendable (String) -> Void
  public let loops: [EventLoop]
  private let counter: ConnectionCounter
  public var limits: Limits { counter.limits }
  /// The buffers of all connections.
  public let memory: MemoryBudget
  private let freedMemory = FreedMemory()
  /// The approximate memory of a connection without its buffers.
  private static let connectionSize = 8_192

  /// The listeners stay on the first loop.
  private final class Listeners {
    var all: [Listener] = []
  }

  /// - Parameter clock: the clock of the loops.
  public init(
    _ configuration: Configuration, application: Application, accessLog: AccessLog? = nil,
    clock: @escaping @Sendable () -> Int64 = Clock.monotonic,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    self.configuration = configuration
    self.application = application
    self.accessLog = accessLog
    self.log = log
    counter = ConnectionCounter(limits: application.limits, addresses: application.addresses)
    memory = MemoryBudget(limit: application.limits.memory)
    var loops: [EventLoop] = []
    for index in 0..<max(1, configuration.loops) {
      loops.append(
        try EventLoop(
          label: "parley.loop.\(index)", polling: configuration.polling, memory: memory, clock: clock))
    }
    self.loops = loops
  }

  public var addresses: [SocketAddress] { configuration.endpoints.map(\.socket.address) }

  /// The number of open connections.
  public var connectionCount: Int { counter.total }

  /// The counts of all loops. Each is read on its loop.
  public func counts() async -> ServingCounts {
    var counts = ServingCounts()
    for loop in loops { await add(loop, to: &counts) }
    return counts
  }

  private func add(_ loop: isolated EventLoop, to counts: inout ServingCounts) {
    guard let shard = loop.shard else { return }
    let connections = shard.connectionCounts
    counts.requests.add(shard.counts)
    counts.httpConnections += connections.http
    counts.webSockets += connections.webSocket
  }

  // MARK: Starting

  public func start() async throws {
    let process = UInt32.random(in: .min ... .max)
    for (index, loop) in loops.enumerated() {
      try await prepare(loop, process: process, index: index)
    }
    guard let first = loops.first else { return }
    for (index, endpoint) in configuration.endpoints.enumerated() {
      try await listen(endpoint, index, on: first)
    }
  }

  private func prepare(_ loop: isolated EventLoop, process: UInt32, index: Int) throws {
    loop.start()
    let counter = self.counter
    let locals = loop.resident(Locals.self) { Locals() }
    let shard = loop.resident(Shard.self) {
      Shard(
        application: application, limits: counter.limits, accessLog: accessLog, locals: locals, process: process,
        index: index, of: loops.count,
        log: log,
        release: { counter.release($0) })
    }
    for (index, endpoint) in configuration.endpoints.enumerated() {
      if let tls = endpoint.tls { try shard.use(tls, for: index) }
    }
  }

  private func listen(_ endpoint: Configuration.Endpoint, _ index: Int, on loop: isolated EventLoop) throws {
    let counter = self.counter
    let log = self.log
    let tls = endpoint.tls == nil ? nil : index
    let listener = try Listener.start(
      endpoint.socket, loops: loops, on: loop,
      serve: { descriptor, peer, loop in
        guard counter.acquire(peer) else {
          if tls == nil { Self.reject(descriptor) }
          return
        }
        loop.shard?.serve(descriptor, peer: peer, tls: tls, on: loop)
      },
      log: { log("\($0)") })
    loop.resident(Listeners.self) { Listeners() }.all.append(listener)
  }

  /// Closes a connection over the limit, after a 503 response if it can be written without blocking.
  private static func reject(_ descriptor: Descriptor) {
    descriptor.tryWrite(
      Array(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
  }

  // MARK: Changing while running

  /// Replaces the certificate of an endpoint for new connections. Open ones keep theirs.
  public func use(_ tls: TLSConfiguration, forEndpoint index: Int) async throws {
    for loop in loops { try await use(tls, index, on: loop) }
  }

  /// Replaces the limits for new connections and requests.
  public func use(_ limits: Limits) async {
    counter.use(limits)
    memory.use(limit: limits.memory)
    for loop in loops { await use(limits, on: loop) }
  }

  private func use(_ limits: Limits, on loop: isolated EventLoop) { loop.shard?.limits = limits }

  private func use(_ tls: TLSConfiguration, _ index: Int, on loop: isolated EventLoop) throws {
    try loop.shard?.use(tls, for: index)
  }

  // MARK: Memory

  /// Aborts the connections with the largest buffers if the budget refuses growth, and returns freed memory to the
  /// system. Called about once a second. The budget refuses growth at once; this call frees the memory of connections
  /// that hold it without growing.
  public func shedMemory() async {
    if freedMemory.hasFallen(to: memory.used + counter.total * Self.connectionSize) { Allocator.trim() }
    guard memory.takeRefusals() > 0 || memory.used > memory.limit - memory.limit / 8 else { return }
    var footprints: [Int] = []
    for loop in loops { footprints += await self.footprints(on: loop) }
    footprints.sort(by: >)
    // Frees a quarter, so that the next call does not abort connections again.
    var rest = memory.used
    var threshold = Int.max
    for bytes in footprints where rest > memory.limit / 4 * 3 {
      rest -= bytes
      threshold = bytes
    }
    guard threshold < .max else { return }
    log("Connections buffer \(memory.used) bytes, near --limit-memory: those with the largest buffers are aborted.")
    for loop in loops { await abortConnections(holding: threshold, on: loop) }
  }

  /// Returns after each event loop has run a task.
  public func waitForLoops() async {
    for loop in loops { _ = await footprints(on: loop) }
  }

  private func footprints(on loop: isolated EventLoop) -> [Int] { loop.shard?.footprints ?? [] }

  private func abortConnections(holding bytes: Int, on loop: isolated EventLoop) {
    loop.shard?.abortConnections(holding: bytes)
  }

  // MARK: Stopping

  /// Closes the listeners, lets running requests finish, closes WebSockets with 1001, and aborts the remaining
  /// connections at the timeout. Returns true if no connection was aborted.
  @discardableResult
  public func stop(within seconds: Int? = nil) async -> Bool {
    let deadline = Clock.monotonic() + Int64(seconds ?? counter.limits.drainTime) * 1_000_000_000
    if let first = loops.first { await closeListeners(on: first) }
    for loop in loops { await drain(loop) }
    while counter.total > 0, Clock.monotonic() < deadline { try? await Task.sleep(for: .milliseconds(5)) }
    let isClean = counter.total == 0
    // Aborted connections are closed at the end of a turn, so the loops stop after that.
    for loop in loops { await abort(loop) }
    for loop in loops { await loop.stop() }
    accessLog?.finish()
    return isClean
  }

  private func closeListeners(on loop: isolated EventLoop) {
    let listeners = loop.resident(Listeners.self) { Listeners() }
    for listener in listeners.all { listener.close(on: loop) }
    listeners.all = []
  }

  private func drain(_ loop: isolated EventLoop) {
    loop.shard?.drain()
  }

  private func abort(_ loop: isolated EventLoop) {
    loop.shard?.abortAll()
  }
}

extension EventLoop {
  fileprivate var shard: Shard? { resident(Shard.self) }
}

/// Detects that much memory was freed.
private final class FreedMemory: Sendable {
  /// The highest use since the last trim.
  private let peak = Atomic(0)
  /// Less is not worth a trim.
  private static let least = 16 << 20

  func hasFallen(to size: Int) -> Bool {
    let peak = self.peak.max(size, ordering: .relaxed).newValue
    guard peak - size >= Self.least, size < peak / 2 else { return false }
    self.peak.store(size, ordering: .relaxed)
    return true
  }
}

/// Counts connections in total and per address. Takes one lock per accepted and one per closed connection.
final class ConnectionCounter: Sendable {
  private struct State {
    var limits: Limits
    var total = 0
    var byAddress: [IPAddress: Int] = [:]
  }

  private let addresses: Addresses
  private let state: Mutex<State>

  init(limits: Limits, addresses: Addresses) {
    self.addresses = addresses
    state = Mutex(State(limits: limits))
  }

  var limits: Limits { state.withLock { $0.limits } }

  func use(_ limits: Limits) { state.withLock { $0.limits = limits } }

  var total: Int { state.withLock { $0.total } }

  /// Returns false at a limit.
  func acquire(_ peer: SocketAddress) -> Bool {
    let key = Self.key(peer)
    let isTrusted = addresses.trusts(IPAddress(peer))
    return state.withLock { state in
      guard state.total < state.limits.connections else { return false }
      if let key {
        let count = state.byAddress[key, default: 0]
        guard isTrusted || count < state.limits.connectionsPerAddress else { return false }
        state.byAddress[key] = count + 1
      }
      state.total += 1
      return true
    }
  }

  func release(_ peer: SocketAddress) {
    let key = Self.key(peer)
    state.withLock { state in
      state.total -= 1
      guard let key, let count = state.byAddress[key] else { return }
      state.byAddress[key] = count > 1 ? count - 1 : nil
    }
  }

  /// The address to count by. An IPv6 subscriber has a whole /64 (RFC 6177).
  private static func key(_ peer: SocketAddress) -> IPAddress? {
    guard let address = IPAddress(peer) else { return nil }
    return address.ipv4 == nil ? IPAddress(high: address.high, low: 0) : address
  }
}
