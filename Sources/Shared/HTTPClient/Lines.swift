import ParleyNetworking
import ParleyWire

/// The connections of one client, on its loop: which are under way, and which rest.
final class Lines {
  let patience: Patience
  private let trust: TLSConfiguration.Trust
  private var tls: TLSContext?
  private var isClosed = false
  var exchanges: [Int: ExchangeInProgress] = [:]
  var connections: [ObjectIdentifier: ClientConnection] = [:]
  var sockets: [Int: SocketConnection] = [:]
  private var resting: [Destination: [ClientConnection]] = [:]
  private let names = NameLookup(most: CallLimits.lookups)

  init(_ trust: TLSConfiguration.Trust, _ patience: Patience) {
    self.trust = trust
    self.patience = patience
  }

  /// Made when it is first needed: to read the system's roots takes a moment.
  func context() throws(StreamError) -> TLSContext {
    if let tls { return tls }
    let context = try TLSContext(TLSConfiguration(role: .client(trust)))
    tls = context
    return context
  }

  /// Whether the connection may wait for another request.
  func keep(_ connection: ClientConnection) -> Bool {
    guard !isClosed, (resting[connection.destination]?.count ?? 0) < patience.restingConnections else { return false }
    resting[connection.destination, default: []].append(connection)
    return true
  }

  /// The one that rests for the shortest time. Those that are just ending, from whichever side, carry nothing more.
  func take(_ destination: Destination) -> ClientConnection? {
    while let connection = resting[destination]?.popLast() {
      if resting[destination]?.isEmpty == true { resting[destination] = nil }
      if connection.isOpen { return connection }
    }
    return nil
  }

  func forget(_ connection: ClientConnection) {
    connections[ObjectIdentifier(connection)] = nil
    resting[connection.destination]?.removeAll { $0 === connection }
    if resting[connection.destination]?.isEmpty == true { resting[connection.destination] = nil }
  }

  /// Nobody wants this answer any longer.
  func abandon(_ number: Int) {
    guard let exchange = exchanges.removeValue(forKey: number) else { return }
    exchange.fail(.cancelled)
    exchange.connection?.abandon(exchange)
    if !exchange.hasHead { exchange.connection?.drop() }
  }

  func perform(
    _ call: Call, to destination: Destination, handshake: WebSocketClientHandshake?, number: Int,
    on loop: isolated EventLoop
  ) async -> Result<ExchangeInProgress.Head, CallFailure> {
    let exchange = ExchangeInProgress(number, call, handshake, now: loop.now)
    exchanges[number] = exchange
    if Task.isCancelled || isClosed { exchange.fail(.cancelled) }
    let result = await result(of: exchange, destination, on: loop)
    if case .success(.answer) = result { return result }
    exchanges[number] = nil
    return result
  }

  private func result(
    of exchange: ExchangeInProgress, _ destination: Destination, on loop: isolated EventLoop
  ) async -> Result<ExchangeInProgress.Head, CallFailure> {
    if let failure = exchange.failure { return .failure(failure) }
    if let result = await overRested(exchange, destination, on: loop) { return result }
    do throws(CallFailure) {
      return await (try await connect(exchange, destination, on: loop)).perform(exchange, on: loop)
    } catch {
      return .failure(error)
    }
  }

  /// Nil where there is no such connection, or it was closed in the meantime.
  private func overRested(
    _ exchange: ExchangeInProgress, _ destination: Destination, on loop: isolated EventLoop
  ) async -> Result<ExchangeInProgress.Head, CallFailure>? {
    guard exchange.handshake == nil, let connection = take(destination) else { return nil }
    let result = await connection.perform(exchange, on: loop)
    guard case .failure = result, exchange.mayRepeat else { return result }
    exchange.repeatLater()
    return nil
  }

  private func lookUp(
    _ name: String, port: UInt16, within nanoseconds: Int64
  ) async throws(CallFailure) -> [SocketAddress] {
    // RFC 6761 §6.3: this name never leaves the machine.
    if name == "localhost", let own = SocketAddress(host: "127.0.0.1", port: port) { return [own] }
    if let numeric = SocketAddress(host: name, port: port) { return [numeric] }
    do throws(NameLookup.Failure) {
      return try await names.addresses(of: name, port: port, within: nanoseconds)
    } catch {
      switch error {
      case .unknownHost: throw .unknownHost(name)
      case .tooSlow: throw .unreachable("nobody says where \(name) is")
      case .busy: throw .unreachable("too many names are looked up at once")
      }
    }
  }

  private func connect(
    _ exchange: ExchangeInProgress, _ destination: Destination, on loop: isolated EventLoop
  ) async throws(CallFailure) -> ClientConnection {
    var addresses = destination.addresses
    if addresses.isEmpty {
      let end = min(exchange.endBy, loop.now + patience.toConnect)
      do throws(CallFailure) {
        addresses = try await lookUp(destination.name, port: destination.port, within: end - loop.now)
      } catch {
        throw loop.now < exchange.endBy ? error : .timedOut
      }
    }
    var failure = CallFailure.unknownHost(destination.name)
    for address in addresses {
      if let failure = exchange.failure { throw failure }
      do throws(CallFailure) {
        return try await ClientConnection.open(to: address, destination, self, for: exchange, on: loop)
      } catch {
        failure = exchange.failure ?? error
        guard case .unreachable = failure else { throw failure }
      }
    }
    throw failure
  }

  /// Ends all that is under way.
  func close() {
    isClosed = true
    for exchange in exchanges.values { exchange.fail(.cancelled) }
    for connection in connections.values { connection.drop() }
    for socket in sockets.values { socket.drop() }
    exchanges = [:]
  }
}
