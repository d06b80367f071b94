// The calls of one person at one place; any number of clients may be open at once. A call is sent, tried again by itself where
// that is safe, and its answer is read; what can go wrong is a `ClientFault`.

public import ParleyJSON
import Synchronization

public final class Client: Sendable {
  public let server: ServerAddress
  public let activity = Activity()
  let retrying: Retrying
  public let transport: any Transport
  private let signature: Mutex<String?>

  /// - Parameter token: who asks; nobody without one.
  public init(
    _ server: ServerAddress, over transport: any Transport, token: String? = nil, retrying: Retrying = Retrying()
  ) {
    self.server = server
    self.transport = transport
    self.retrying = retrying
    signature = Mutex(token)
  }

  /// Set by signing in, and whenever the app has kept one.
  public var token: String? {
    get { signature.withLock { $0 } }
    set { signature.withLock { $0 = newValue } }
  }

  /// Sends a request and reads its answer.
  ///
  /// - Parameter progress: bytes of a body that went out, and how many there are.
  @discardableResult
  public func send<Answer: Sendable>(
    _ request: Request<Answer>, progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Answer {
    try request.read(try await reply(to: request, progress))
  }

  /// The same with the answer told to a closure, for code that is not `async`. The task can be cancelled.
  @discardableResult
  public func send<Answer: Sendable>(
    _ request: Request<Answer>, then: @escaping @Sendable (Result<Answer, ClientFault>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do throws(ClientFault) {
        then(.success(try await send(request)))
      } catch {
        then(.failure(error))
      }
    }
  }

  /// Every page of a list, one after the other, as they are asked for.
  public func pages<Element>(of request: Request<Page<Element>>) -> Pages<Element> { Pages(self, request) }

  func reply<Answer>(
    to request: Request<Answer>, _ progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(ClientFault) -> Reply {
    activity.begin()
    defer { activity.end() }
    var tries = 0
    while true {
      tries += 1
      do throws(ClientFault) {
        return try await replyOnce(to: request, progress)
      } catch {
        guard let delay = retrying.delay(after: tries, of: error, isRepeatable: request.isRepeatable) else {
          throw error
        }
        do { try await retrying.pause(delay) } catch { throw .cancelled }
      }
    }
  }

  private func replyOnce<Answer>(
    to request: Request<Answer>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> Reply {
    let reply = try await whole(try await open(request, progress), limit: request.answerLimit)
    // An answer of ours is no page, unless that is what was asked for.
    guard reply.isSuccess && !reply.isOfPortal || request.takesPages && reply.status < 400 else { throw reply.fault }
    return reply
  }

  /// An answer whose body is taken as it comes, such as a file. What is no success is a fault here too. Whoever takes it
  /// tells `activity` when it begins and ends.
  func answer<Answer>(to request: Request<Answer>) async throws(ClientFault) -> ExchangeAnswer {
    let answer = try await open(request, nil)
    guard !(200...299).contains(answer.status) else { return answer }
    throw try await whole(answer, limit: Self.longestRefusal).fault
  }

  private static let longestRefusal = 65_536

  private func open<Answer>(
    _ request: Request<Answer>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> ExchangeAnswer {
    do throws(TransportFailure) {
      return try await transport.send(exchange(request, progress))
    } catch {
      throw ClientFault(error)
    }
  }

  private func whole(_ answer: ExchangeAnswer, limit: Int) async throws(ClientFault) -> Reply {
    do throws(TransportFailure) {
      return Reply(status: answer.status, fields: answer.fields, body: try await answer.body(limit: limit))
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

  private func exchange<Answer>(
    _ request: Request<Answer>, _ progress: (@Sendable (Int, Int) -> Void)?
  ) -> Exchange {
    var fields = request.fields + [Exchange.Field("Accept", "application/json, */*;q=0.1")]
    if request.isSigned, let token { fields.append(Exchange.Field("Authorization", "Bearer " + token)) }
    let body: ExchangeBody
    switch request.body {
    case .none: body = .none
    case .json(let json):
      fields.append(Exchange.Field("Content-Type", "application/json"))
      body = .bytes(json.bytes)
    case .bytes(let bytes, let type):
      fields.append(Exchange.Field("Content-Type", type))
      body = .bytes(bytes)
    case .file(let file, let range, let type):
      fields.append(Exchange.Field("Content-Type", type))
      body = .pieces(length: range.count, next: FilePieces(file, range, progress).next)
    }
    return Exchange(
      method: request.method.rawValue, origin: server.origin, target: request.target, fields: fields, body: body)
  }
}

/// Reads a file as the network takes it.
private final class FilePieces: Sendable {
  private let file: FileSource
  private let range: Range<Int>
  private let progress: (@Sendable (Int, Int) -> Void)?
  private let place: Mutex<Int>
  private static let piece = 65_536

  init(_ file: FileSource, _ range: Range<Int>, _ progress: (@Sendable (Int, Int) -> Void)?) {
    self.file = file
    self.range = range
    self.progress = progress
    place = Mutex(range.lowerBound)
  }

  @Sendable func next() async throws -> [UInt8] {
    let start = place.withLock { $0 }
    let piece = try await file.read(start, min(Self.piece, range.upperBound - start))
    place.withLock { $0 = start + piece.count }
    progress?(start + piece.count, file.size)
    return piece
  }
}

/// The pages of a list.
public struct Pages<Item: JSONReadable & Sendable>: AsyncSequence, Sendable {
  public typealias Failure = ClientFault
  private let client: Client
  private let first: Request<Page<Item>>

  init(_ client: Client, _ first: Request<Page<Item>>) {
    self.client = client
    self.first = first
  }

  public func makeAsyncIterator() -> Iterator { Iterator(client: client, request: first) }

  public struct Iterator: AsyncIteratorProtocol {
    let client: Client
    var request: Request<Page<Item>>?

    public mutating func next() async throws(ClientFault) -> Page<Item>? {
      try await next(isolation: #isolation)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientFault) -> Page<Item>? {
      guard let current = request else { return nil }
      let page = try await client.send(current)
      request = page.hasMore ? page.next.map { current.with("next", $0) } : nil
      return page
    }
  }
}
