import ParleyNetworking
import ParleyWire
import Web

/// The state of one loop: its connections, its TLS contexts and the objects that the connections share to stay small.
final class Shard {
  let application: Application
  /// For new connections and requests.
  var limits: Limits
  let accessLog: AccessLog?
  let log: @Sendable (String) -> Void
  let emptyBody = RequestBody()
  let deflateStreams = DeflateStreams()
  let clock = LoopClock()
  let locals: Locals
  var counts = RequestCounts()
  private let release: @Sendable (SocketAddress) -> Void
  private let process: UInt32
  private var count: UInt64
  private let stride: UInt64
  private(set) var isDraining = false
  private var connections: [ObjectIdentifier: Member] = [:]
  private var contexts: [Int: TLSContext] = [:]

  private struct Member {
    let connection: Connection
    let peer: SocketAddress
  }

  private enum Connection {
    case http(HTTPConnection)
    case webSocket(WebSocketConnection)

    var footprint: Int {
      switch self {
      case .http(let connection): connection.footprint
      case .webSocket(let connection): connection.footprint
      }
    }

    func drain() {
      switch self {
      case .http(let connection): connection.drain()
      case .webSocket(let connection): connection.drain()
      }
    }

    func abort() {
      switch self {
      case .http(let connection): connection.abort()
      case .webSocket(let connection): connection.abort()
      }
    }
  }

  init(
    application: Application, limits: Limits, accessLog: AccessLog?, locals: Locals, process: UInt32, index: Int,
    of total: Int,
    log: @escaping @Sendable (String) -> Void, release: @escaping @Sendable (SocketAddress) -> Void
  ) {
    self.application = application
    self.limits = limits
    self.accessLog = accessLog
    self.locals = locals
    self.process = process
    self.log = log
    self.release = release
    count = UInt64(index)
    stride = UInt64(total)
  }

  /// A request id, unique in the process without synchronization between loops: they number with a common stride.
  func nextID() -> RequestID {
    count += stride
    return RequestID(process: process, number: count)
  }

  // MARK: Connections

  func serve(_ descriptor: Descriptor, peer: SocketAddress, tls listener: Int?, on loop: isolated EventLoop) {
    guard !isDraining else { return release(peer) }
    let context = listener.flatMap { contexts[$0] }
    let connection = HTTPConnection(
      shard: self, peer: IPAddress(peer), isEncrypted: context != nil)
    do {
      let stream = try ParleyNetworking.Stream.accept(
        descriptor, peer: peer, tls: context, handler: connection, on: loop)
      connections[ObjectIdentifier(connection)] = Member(connection: .http(connection), peer: peer)
      connection.attach(stream, on: loop)
    } catch {
      log("A connection can't be set up: \(error)")
      release(peer)
    }
  }

  /// Replaces a connection after its upgrade to WebSocket.
  func replace(_ old: HTTPConnection, with new: WebSocketConnection) {
    guard let member = connections.removeValue(forKey: ObjectIdentifier(old)) else { return }
    connections[ObjectIdentifier(new)] = Member(connection: .webSocket(new), peer: member.peer)
  }

  func remove(_ connection: AnyObject) {
    guard let member = connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    release(member.peer)
  }

  // MARK: Changes while running

  func use(_ configuration: TLSConfiguration, for listener: Int) throws(StreamError) {
    contexts[listener] = try TLSContext(configuration)
  }

  func drain() {
    isDraining = true
    for member in Array(connections.values) { member.connection.drain() }
  }

  func abortAll() {
    for member in Array(connections.values) { member.connection.abort() }
  }

  /// The numbers of open connections.
  var connectionCounts: (http: Int, webSocket: Int) {
    var webSockets = 0
    for member in connections.values { if case .webSocket = member.connection { webSockets += 1 } }
    return (connections.count - webSockets, webSockets)
  }

  // MARK: Memory

  /// The sizes of the non-empty buffers of connections.
  var footprints: [Int] { connections.values.map(\.connection.footprint).filter { $0 > 0 } }

  /// Aborts the connections with buffers of at least `bytes`.
  func abortConnections(holding bytes: Int) {
    for member in Array(connections.values) where member.connection.footprint >= bytes { member.connection.abort() }
  }
}

extension IPAddress {
  /// The peer's address; nil for the Unix domain.
  init?(_ address: SocketAddress) {
    switch address {
    case .ipv4(let number, _): self.init(ipv4: number)
    case .ipv6(let high, let low, _, _): self.init(high: high, low: low)
    case .unix: return nil
    }
  }
}

/// The wall-clock time, derived from the loop's monotonic clock and synchronized once a second, and its cached `Date`
/// field.
final class LoopClock {
  private var offset: Int64 = 0
  private var refreshedAt = Int64.min
  private var dateLine: [UInt8] = []

  /// Milliseconds since 1970.
  func milliseconds(_ now: Int64) -> Int64 {
    refresh(now)
    return (now + offset) / 1_000_000
  }

  /// The Date field with its line end (RFC 9110 §6.6.1).
  func appendDate(_ now: Int64, to output: inout [UInt8]) {
    refresh(now)
    output.append(contentsOf: dateLine)
  }

  private func refresh(_ now: Int64) {
    guard refreshedAt == .min || now - refreshedAt >= 1_000_000_000 else { return }
    let wall = ParleyNetworking.Clock.wall()
    offset = wall - ParleyNetworking.Clock.monotonic()
    // The field has whole seconds: refreshes at the next full second.
    refreshedAt = now - wall % 1_000_000_000
    dateLine = Array("Date: \(HTTPDate.format(Int(wall / 1_000_000_000)))\r\n".utf8)
  }
}
