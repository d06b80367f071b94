import ParleyNetworking
import ParleyWire

/// The connections of one client, active and idle. Confined to the client's event loop.
final class ConnectionPool {
  let configuration: ClientConfiguration
  private let trust: TLSConfiguration.Trust
  private var tls: TLSContext?
  private var isClosed = false
  var exchanges: [Int: ClientExchange] = [:]
  var connections: [ObjectIdentifier: ClientConnection] = [:]
  var sockets: [Int: SocketConnection] = [:]
  private var idle: [Destination: [ClientConnection]] = [:]
  private let names = NameResolver(maxConcurrent: ClientLimits.maxLookups)

  init(_ trust: TLSConfiguration.Trust, _ configuration: ClientConfiguration) {
    self.trust = trust
    self.configuration = configuration
  }

  /// The TLS context, created on first use: loading the system's root certificates is slow.
  func context() throws(StreamError) -> TLSContext {
    if let tls { return tls }
    let context = try TLSContext(TLSConfiguration(role: .client(trust)))
    tls = context
    return context
  }

  /// Stores an idle connection. False: the pool is full or closed.
  func store(_ connection: ClientConnection) -> Bool {
    guard !isClosed, (idle[connection.destination]?.count ?? 0) < configuration.maxIdleConnections else { return false }
    idle[connection.destination, default: []].append(connection)
    return true
  }

  /// Removes and returns the most recently used idle connection. Connections that are closing are skipped.
  func takeIdle(_ destination: Destination) -> ClientConnection? {
    while let connection = idle[destination]?.popLast() {
      if idle[destination]?.isEmpty == true { idle[destination] = nil }
      if connection.isOpen { return connection }
    }
    return nil
  }

  func remove(_ connection: ClientConnection) {
    connections[ObjectIdentifier(connection)] = nil
    idle[connection.destination]?.removeAll { $0 === connection }
    if idle[connection.destination]?.isEmpty == true { idle[connection.destination] = nil }
  }

  /// Cancels an exchange.
  func abandon(_ number: Int) {
    guard let exchange = exchanges.removeValue(forKey: number) else { return }
    exchange.fail(.cancelled)
    exchange.connection?.abandon(exchange)
    if !exchange.hasHead { exchange.connection?.drop() }
  }

  func perform(
    _ request: ClientRequest, to destination: Destination, handshake: WebSocketClientHandshake?, number: Int,
    on loop: isolated EventLoop
  ) async -> Result<ClientExchange.Head, ClientError> {
    let exchange = ClientExchange(number, request, handshake, now: loop.now)
    exchanges[number] = exchange
    if Task.isCancelled || isClosed { exchange.fail(.cancelled) }
    let result = await result(of: exchange, destination, on: loop)
    if case .success(.answer) = result { return result }
    exchanges[number] = nil
    return result
  }

  private func result(
    of exchange: ClientExchange, _ destination: Destination, on loop: isolated EventLoop
  ) async -> Result<ClientExchange.Head, ClientError> {
    if let failure = exchange.failure { return .failure(failure) }
    if let result = await reuse(exchange, destination, on: loop) { return result }
    do throws(ClientError) {
      return await (try await connect(exchange, destination, on: loop)).perform(exchange, on: loop)
    } catch {
      return .failure(error)
    }
  }

  /// Sends the request over an idle connection. Nil: there is none, or the server had closed it and a retry is safe.
  private func reuse(
    _ exchange: ClientExchange, _ destination: Destination, on loop: isolated EventLoop
  ) async -> Result<ClientExchange.Head, ClientError>? {
    guard exchange.handshake == nil, let connection = takeIdle(destination) else { return nil }
    let result = await connection.perform(exchange, on: loop)
    guard case .failure = result, exchange.isRetryable else { return result }
    exchange.prepareRetry()
    return nil
  }

  private func resolve(
    _ name: String, port: UInt16, within nanoseconds: Int64
  ) async throws(ClientError) -> [SocketAddress] {
    // RFC 6761 §6.3: `localhost` is always the loopback address.
    if name == "localhost", let own = SocketAddress(host: "127.0.0.1", port: port) { return [own] }
    if let numeric = SocketAddress(host: name, port: port) { return [numeric] }
    do throws(NameResolver.Failure) {
      return try await names.addresses(of: name, port: port, within: nanoseconds)
    } catch {
      switch error {
      case .unknownHost: throw .unknownHost(name)
      case .timedOut: throw .unreachable("the lookup of \(name) timed out")
      case .busy: throw .unreachable("too many concurrent name lookups")
      }
    }
  }

  private func connect(
    _ exchange: ClientExchange, _ destination: Destination, on loop: isolated EventLoop
  ) async throws(ClientError) -> ClientConnection {
    var addresses = destination.addresses
    if addresses.isEmpty {
      let end = min(exchange.deadline, loop.now + configuration.connectNanoseconds)
      do throws(ClientError) {
        addresses = try await resolve(destination.name, port: destination.port, within: end - loop.now)
      } catch {
        throw loop.now < exchange.deadline ? error : .timedOut
      }
    }
    var failure = ClientError.unknownHost(destination.name)
    for address in addresses {
      if let failure = exchange.failure { throw failure }
      do throws(ClientError) {
        return try await ClientConnection.open(to: address, destination, self, for: exchange, on: loop)
      } catch {
        failure = exchange.failure ?? error
        guard case .unreachable = failure else { throw failure }
      }
    }
    throw failure
  }

  func close() {
    isClosed = true
    for exchange in exchanges.values { exchange.fail(.cancelled) }
    for connection in connections.values { connection.drop() }
    for socket in sockets.values { socket.drop() }
    exchanges = [:]
  }
}
