// An HTTP/1.1 and WebSocket client with a connection pool, on an event loop of its own. It follows no redirects and stores no
// cookies. It retries in one case: the server closed a pooled connection before the response, and the request is idempotent.

public import ParleyNetworking
public import ParleyWire
import Synchronization

public final class HTTPClient: Sendable {
  private let loop: EventLoop
  private let numbers = Atomic<Int>(0)

  /// - Parameter trust: the root certificates for TLS.
  public init(trust: TLSConfiguration.Trust = .system, configuration: ClientConfiguration = ClientConfiguration())
    throws(SystemError)
  {
    loop = try EventLoop(label: "parley.client")
    loop.run { loop in
      loop.start()
      _ = loop.resident(ConnectionPool.self) { ConnectionPool(trust, configuration) }
    }
  }

  deinit { Self.end(loop) }

  /// Cancels all requests and closes all connections.
  public func close() {
    loop.run { $0.resident(ConnectionPool.self)?.close() }
  }

  private static func end(_ loop: EventLoop) {
    loop.run { $0.resident(ConnectionPool.self)?.close() }
    Task { await loop.stop() }
  }

  /// Sends a request. Returns after the head of the response.
  public func send(_ request: ClientRequest, to destination: Destination) async throws(ClientError) -> ClientResponse {
    let number = numbers.add(1, ordering: .relaxed).newValue
    switch await perform(request, to: destination, nil, number) {
    case .success(.answer(let head)): return ClientResponse(head, ResponseReader(self, loop, number))
    case .success(.socket): throw .malformed("unrequested protocol upgrade")
    case .failure(let failure): throw failure
    }
  }

  /// The result of a WebSocket handshake.
  public enum Opening: Sendable {
    /// The selected subprotocol, if any, is one of the offered ones.
    case socket(ClientSocket)
    /// An ordinary HTTP response.
    case refused(ClientResponse)
  }

  /// Opens a WebSocket.
  public func open(
    _ request: ClientRequest, to destination: Destination, subprotocols: [String] = []
  ) async throws(ClientError) -> Opening {
    let number = numbers.add(1, ordering: .relaxed).newValue
    let handshake = WebSocketClientHandshake(
      nonce: (0..<16).map { _ in UInt8.random(in: .min ... .max) }, subprotocols: subprotocols,
      deflate: PerMessageDeflate.Policy())
    switch await perform(request, to: destination, handshake, number) {
    case .success(.answer(let head)): return .refused(ClientResponse(head, ResponseReader(self, loop, number)))
    case .success(.socket(let number)): return .socket(ClientSocket(self, loop, number))
    case .failure(let failure): throw failure
    }
  }

  private func perform(
    _ request: ClientRequest, to destination: Destination, _ handshake: WebSocketClientHandshake?, _ number: Int
  ) async -> Result<ClientExchange.Head, ClientError> {
    let loop = self.loop
    return await withTaskCancellationHandler {
      await Self.perform(request, to: destination, handshake, number, on: loop)
    } onCancel: {
      loop.run { $0.resident(ConnectionPool.self)?.abandon(number) }
    }
  }

  private static func perform(
    _ request: ClientRequest, to destination: Destination, _ handshake: WebSocketClientHandshake?, _ number: Int,
    on loop: isolated EventLoop
  ) async -> Result<ClientExchange.Head, ClientError> {
    guard let pool = loop.resident(ConnectionPool.self) else { return .failure(.cancelled) }
    return await pool.perform(request, to: destination, handshake: handshake, number: number, on: loop)
  }
}

/// A response: its head, and its body as a stream of chunks.
public struct ClientResponse: Sendable {
  public let status: Status
  public let fields: Fields
  private let reader: ResponseReader

  init(_ head: ReceivedResponse, _ reader: ResponseReader) {
    status = head.status
    fields = head.fields
    self.reader = reader
  }

  /// The next chunk of the body; nil at its end. Releasing the response earlier closes the connection.
  public func next() async throws(ClientError) -> [UInt8]? { try await reader.next() }

  /// Reads the whole body.
  public func body() async throws(ClientError) -> [UInt8] {
    var body: [UInt8] = []
    while let piece = try await next() {
      if body.isEmpty { body = piece } else { body += piece }
    }
    return body
  }
}

/// Reads the body of one response. Its deinitializer cancels the exchange.
final class ResponseReader: Sendable {
  private let loop: EventLoop
  private let number: Int
  /// Retained because the client owns the event loop.
  private let client: HTTPClient

  init(_ client: HTTPClient, _ loop: EventLoop, _ number: Int) {
    self.client = client
    self.loop = loop
    self.number = number
  }

  deinit {
    let number = self.number
    loop.run { $0.resident(ConnectionPool.self)?.abandon(number) }
  }

  func next() async throws(ClientError) -> [UInt8]? {
    let (loop, number) = (self.loop, self.number)
    let result = await withTaskCancellationHandler {
      await Self.next(number, on: loop)
    } onCancel: {
      loop.run { $0.resident(ConnectionPool.self)?.abandon(number) }
    }
    return try result.get()
  }

  private static func next(_ number: Int, on loop: isolated EventLoop) async -> Result<[UInt8]?, ClientError> {
    guard !Task.isCancelled, let exchange = loop.resident(ConnectionPool.self)?.exchanges[number] else {
      return .failure(.cancelled)
    }
    return await exchange.next(isolation: loop)
  }
}
