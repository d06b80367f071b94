// A client sends requests with one user's token to one server, retries them where that is safe, and decodes the responses.
// All failures are `ClientFault`s. A process may have any number of clients.

public import ParleyJSON
public import ParleyModel
import Synchronization

/// Requests to one server with one credential. An app may have any number of clients.
public final class Client: Sendable {
  /// The server of the requests.
  public let server: ServerAddress
  /// The requests under way, for an indicator.
  public let activity = Activity()
  let retryPolicy: RetryPolicy
  /// The connections to the server.
  public let transport: any Transport
  private let storedToken: Mutex<String?>

  /// - Parameter token: the session's token; nil for a visitor.
  public init(
    _ server: ServerAddress, over transport: any Transport, token: String? = nil,
    retryPolicy: RetryPolicy = RetryPolicy()
  ) {
    self.server = server
    self.transport = transport
    self.retryPolicy = retryPolicy
    storedToken = Mutex(token)
  }

  /// The session's token. Set by signing in, or by the app from its own storage.
  public var token: String? {
    get { storedToken.withLock { $0 } }
    set { storedToken.withLock { $0 = newValue } }
  }

  /// Sends a request and decodes its response.
  ///
  /// - Parameter progress: receives the sent and total bytes of the body.
  @discardableResult
  public func send<Response: Sendable>(
    _ request: Request<Response>, progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Response {
    try request.read(try await reply(to: request, progress))
  }

  /// Sends a request and passes the result to a closure, for code that is not `async`. The task can be cancelled.
  @discardableResult
  public func send<Response: Sendable>(
    _ request: Request<Response>, then: @escaping @Sendable (Result<Response, ClientFault>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do throws(ClientFault) {
        then(.success(try await send(request)))
      } catch {
        then(.failure(error))
      }
    }
  }

  /// The pages of a list, requested one by one.
  ///
  /// - Parameter direction: `.previous` walks against the order of the list, for example up from the page around a
  ///   message.
  public func pages<Element>(
    of request: Request<Page<Element>>, _ direction: PageDirection = .next
  ) -> Pages<Element> {
    Pages(self, request, direction)
  }

  func reply<Response>(
    to request: Request<Response>, _ progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(ClientFault) -> RawResponse {
    activity.begin()
    defer { activity.end() }
    var tries = 0
    while true {
      tries += 1
      do throws(ClientFault) {
        return try await replyOnce(to: request, progress)
      } catch {
        guard let delay = retryPolicy.delay(after: tries, of: error, isRepeatable: request.isRepeatable) else {
          throw error
        }
        do { try await retryPolicy.sleep(delay) } catch { throw .cancelled }
      }
    }
  }

  private func replyOnce<Response>(
    to request: Request<Response>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> RawResponse {
    let reply = try await collect(try await open(request, progress), limit: request.maxResponseBytes)
    // The server never responds with HTML, except with the content of a file.
    guard reply.isSuccess && !reply.isCaptivePortal || request.acceptsHTML && reply.status < 400 else {
      throw reply.fault
    }
    return reply
  }

  /// Opens a streaming response, such as a file. Throws if the status is not 2xx. The caller calls `activity.begin` and
  /// `activity.end`.
  func openResponse<Response>(to request: Request<Response>) async throws(ClientFault) -> TransportResponse {
    let response = try await open(request, nil)
    guard !(200...299).contains(response.status) else { return response }
    throw try await collect(response, limit: Self.maxErrorBytes).fault
  }

  private static let maxErrorBytes = 65_536

  private func open<Response>(
    _ request: Request<Response>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> TransportResponse {
    do throws(TransportFailure) {
      return try await transport.send(exchange(request, progress))
    } catch {
      throw ClientFault(error)
    }
  }

  private func collect(_ response: TransportResponse, limit: Int) async throws(ClientFault) -> RawResponse {
    do throws(TransportFailure) {
      return RawResponse(status: response.status, fields: response.fields, body: try await response.body(limit: limit))
    } catch {
      throw ClientFault(error)
    }
  }

  /// Opens the WebSocket.
  func connect(_ request: Request<Void>) async throws(ClientFault) -> LiveSocket {
    do throws(TransportFailure) {
      return try await transport.connect(exchange(request, nil), subprotocols: ["parley.v1"])
    } catch {
      throw ClientFault(error)
    }
  }

  private func exchange<Response>(
    _ request: Request<Response>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) -> TransportRequest {
    var fields = request.fields + [TransportRequest.Field("Accept", "application/json, */*;q=0.1")]
    if request.isAuthenticated, let token { fields.append(TransportRequest.Field("Authorization", "Bearer " + token)) }
    let body: TransportBody
    switch request.body {
    case .none: body = .none
    case .json(let json):
      fields.append(TransportRequest.Field("Content-Type", "application/json"))
      body = .bytes(json.bytes)
    case .bytes(let bytes, let type):
      fields.append(TransportRequest.Field("Content-Type", type))
      body = .bytes(bytes)
    case .file(let file, let range, let type):
      fields.append(TransportRequest.Field("Content-Type", type))
      body = .stream(length: range.count, next: FileChunks(file, range, progress).next)
    }
    return TransportRequest(
      method: request.method.rawValue, origin: server.origin, target: request.target, fields: fields, body: body)
  }
}

/// Reads a file in chunks as the connection accepts them.
private final class FileChunks: Sendable {
  private let file: FileSource
  private let range: Range<Int>
  private let progress: (@Sendable (Int, Int) -> Void)?
  private let offset: Mutex<Int>
  private static let chunk = 65_536

  init(_ file: FileSource, _ range: Range<Int>, _ progress: (@Sendable (Int, Int) -> Void)?) {
    self.file = file
    self.range = range
    self.progress = progress
    offset = Mutex(range.lowerBound)
  }

  @Sendable func next() async throws -> [UInt8] {
    let start = offset.withLock { $0 }
    let chunk = try await file.read(start, min(Self.chunk, range.upperBound - start))
    offset.withLock { $0 = start + chunk.count }
    progress?(start + chunk.count, file.size)
    return chunk
  }
}

/// The pages of a list.
public struct Pages<Item: JSONReadable & Sendable>: AsyncSequence, Sendable {
  public typealias Failure = ClientFault
  private let client: Client
  private let first: Request<Page<Item>>
  private let direction: PageDirection

  init(_ client: Client, _ first: Request<Page<Item>>, _ direction: PageDirection) {
    self.client = client
    self.first = first
    self.direction = direction
  }

  public func makeAsyncIterator() -> Iterator { Iterator(client: client, request: first, direction: direction) }

  public struct Iterator: AsyncIteratorProtocol {
    let client: Client
    var request: Request<Page<Item>>?
    let direction: PageDirection

    public mutating func next() async throws(ClientFault) -> Page<Item>? {
      try await next(isolation: #isolation)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientFault) -> Page<Item>? {
      guard let current = request else { return nil }
      let page = try await client.send(current)
      request = current.following(page, direction)
      return page
    }
  }
}
